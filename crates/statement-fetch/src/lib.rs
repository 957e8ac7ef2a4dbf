//! The command `vendctl fetch-statement`: it writes a provider's list of our orders to a file, which is reconciled and kept as evidence.

mod source;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use chrono::{DateTime, TimeDelta, Utc};
use clap::Args;
use clock::{Clock as _, SharedClock, SystemClock};
use provider::Provider;
use provider_registry::ProviderSettings;
use purchase::Timing;
use serde::{Deserialize, Serialize};

use operator_reports::{
    error::{FetchError, VendctlError},
    parse,
    report::{Outcome, Report, instant, local},
    settings,
    statement::StatementDays,
};

use source::{Fetched, Source};

/// How long to wait before a page is asked for again.
const BETWEEN_TRIES: Duration = Duration::from_secs(1);

/// The arguments of the command.
#[derive(Debug, Args)]
pub struct FetchStatement {
    /// The provider's code
    #[arg(value_parser = parse::provider_code)]
    provider: String,
    /// The file to write. It must not exist
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    days: StatementDays,
    /// How far the provider's list may lag behind sales: the period must have ended so long ago
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = humantime::parse_duration)]
    lag: Duration,
}

/// What the command needs of the settings.
#[derive(Debug, Deserialize)]
struct FetchSettings {
    #[serde(default)]
    operator: OperatorZone,
    /// The sections of providers by their codes in lower case: that of the one provider, or none.
    #[serde(default)]
    providers: BTreeMap<String, ProviderSettings>,
}

#[derive(Debug, Default, Deserialize)]
struct OperatorZone {
    time_zone: Option<String>,
}

#[derive(Serialize)]
struct FetchedView<'a> {
    provider: &'a str,
    from: String,
    until: String,
    file: String,
    #[serde(flatten)]
    fetched: &'a Fetched,
}

impl FetchStatement {
    /// Fetches the statement. The settings are read from the file, if there is one, and from the environment.
    ///
    /// # Errors
    /// Says what is wrong and what to do. There is no file then.
    pub async fn run(&self, settings: Option<&Path>) -> Result<Report, VendctlError> {
        let section = self.provider.to_lowercase();
        let kept = ["operator.time_zone", &format!("providers.{section}")];
        let settings: FetchSettings = boot::load_parts(settings, &kept)?;
        let zone = settings::zone_named(settings.operator.time_zone.as_deref())?;
        let now = SystemClock.now();
        let (from, until) = self.days.bounds(zone, now)?;
        let lag = TimeDelta::from_std(self.lag).unwrap_or(TimeDelta::MAX);
        if now.signed_duration_since(until) < lag {
            let after = local(until.checked_add_signed(lag).unwrap_or(until), zone);
            return Err(FetchError::TooEarly { after, zone }.into());
        }
        let provider = self.connect(&settings.providers)?;
        let source = Source { code: &self.provider, provider: &*provider, between_tries: BETWEEN_TRIES };
        let fetched = source.fetch((from, until), &self.file).await?;
        Ok(self.report(&fetched, (from, until)))
    }

    fn connect(
        &self,
        providers: &BTreeMap<String, ProviderSettings>,
    ) -> Result<Arc<dyn Provider>, FetchError> {
        let provider = || self.provider.clone();
        provider_registry::use_ring_for_tls();
        let clock: SharedClock = Arc::new(SystemClock);
        let connected = provider_registry::connect(providers, Timing::default().provider_timeout, &clock);
        let mut connections = connected
            .map_err(|error| FetchError::Unusable { provider: provider(), source: Box::new(error) })?;
        connections.remove(&self.provider).ok_or_else(|| FetchError::NoSettings { provider: provider() })
    }

    fn report(&self, fetched: &Fetched, (from, until): (DateTime<Utc>, DateTime<Utc>)) -> Report {
        let file = self.file.display().to_string();
        let text = sentence(fetched, &file);
        let view = FetchedView {
            provider: &self.provider,
            from: instant(from),
            until: instant(until),
            file,
            fetched,
        };
        let report = Report::text_and_data(&view, text);
        let is_final = fetched.still_open.is_empty();
        report.with_outcome(if is_final { Outcome::Done } else { Outcome::Differs })
    }
}

fn sentence(fetched: &Fetched, file: &str) -> String {
    let Fetched { vended, not_vended, outside_period, still_open } = fetched;
    let told = format!(
        "The provider listed {vended} vended, {not_vended} not vended, {} still open and {outside_period} outside the period.",
        still_open.len()
    );
    let told = if *vended == 0 {
        format!("{told} {file} has no line. If there were sales, ask whether report_time_zone is right.\n")
    } else {
        format!("{told} What was vended is in {file}.\n")
    };
    if still_open.is_empty() {
        return told;
    }
    format!(
        "{told}Still open: {}. When none is open any more, fetch the statement again, into another file, and reconcile that one.\n",
        still_open.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_with_orders_that_are_still_open_is_not_final() {
        let fetch = FetchStatement {
            provider: "AIRTIME".to_owned(),
            file: PathBuf::from("airtime.csv"),
            days: StatementDays::default(),
            lag: Duration::ZERO,
        };
        let period = (DateTime::UNIX_EPOCH, DateTime::UNIX_EPOCH + TimeDelta::days(1));
        let mut fetched = Fetched { vended: 2, not_vended: 1, ..Fetched::default() };
        assert_eq!(fetch.report(&fetched, period).outcome(), Outcome::Done);
        fetched.still_open = vec!["77120".to_owned(), "77121".to_owned()];
        let report = fetch.report(&fetched, period);
        assert_eq!(report.outcome(), Outcome::Differs);
        assert!(
            report.text().contains("Still open: 77120, 77121. When none is open any more"),
            "{}",
            report.text()
        );
        assert_eq!(report.data()["still_open"], serde_json::json!(["77120", "77121"]));
    }
}
