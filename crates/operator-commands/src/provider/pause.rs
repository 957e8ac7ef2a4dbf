//! `vendctl provider pause` and `resume`: the sales of a provider stop and go on, and open purchases are settled meanwhile.

use catalogue::{ListedPause, NewPause, Resumed};
use clap::Args;
use database::DatabaseError;
use serde::Serialize;
use vend::Product;

use crate::{
    arguments::Why,
    care::Care,
    error::VendctlError,
    moment::Moment,
    parse,
    report::{Report, Row, in_local_time, instant, or_dash},
    session::Session,
    words,
};

#[derive(Debug, Args)]
pub(crate) struct Pause {
    /// Its code
    #[arg(value_parser = parse::provider_code)]
    code: String,
    /// Only this product; without it every product of the provider
    #[arg(long, value_parser = words::product())]
    product: Option<Product>,
    /// When the pause begins; without it at once
    #[arg(long, value_name = "MOMENT", value_parser = Moment::parse)]
    from: Option<Moment>,
    /// When the pause ends by itself; without it the sales stay paused until `provider resume`
    #[arg(long, value_name = "MOMENT", value_parser = Moment::parse)]
    until: Option<Moment>,
    /// A sentence for integrators, shown in their list of products; --reason is shown to operators only
    #[arg(long, value_name = "TEXT", value_parser = parse::sentence)]
    notice: Option<String>,
    #[command(flatten)]
    care: Care,
    #[command(flatten)]
    why: Why,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// Its code
    #[arg(value_parser = parse::provider_code)]
    code: String,
    /// Only the pause of this number, which may still be to come; without it every pause in force
    #[arg(long, value_name = "NUMBER")]
    pause: Option<i64>,
    #[command(flatten)]
    care: Care,
    #[command(flatten)]
    why: Why,
}

/// A server uses a catalogue again for this time, counted from before it was read (`vending.catalogue_reuse_ms`, 5,000 unless set).
const SOLD_AGAIN: &str = "A server sells again once it has read the end of the pause: within 5 seconds, or the vending.catalogue_reuse_ms of \
                          its settings. Until then it answers 502 provider_unavailable.";

/// A pause that is in force or still to come.
#[derive(Serialize)]
pub(super) struct View {
    /// `None` in a rehearsal.
    id: Option<i64>,
    product: Option<&'static str>,
    starts_at: String,
    ends_at: Option<String>,
    is_in_force: bool,
    by_breaker: bool,
    notice: Option<String>,
}

/// What would be paused, or go on.
#[derive(Serialize)]
struct Rehearsed {
    code: String,
    would_pause: Option<View>,
    would_end: Vec<View>,
}

const REHEARSED: &str = "This was a rehearsal. The sales are as before.";

impl Pause {
    pub(super) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        let pause = NewPause {
            product: self.product,
            starts_at: session.optional_moment(self.from)?,
            ends_at: session.optional_moment(self.until)?,
            notice: self.notice.clone(),
        };
        let pause = |is_rehearsal| {
            let (code, act) = (self.code.clone(), session.act(&self.why));
            catalogue::pause_provider(session.database(), code, pause.clone(), is_rehearsal, act)
        };
        let refused = |error| VendctlError::NoProvider(self.code.clone()).if_absent(error);
        self.refuse_unless_sold(session).await?;
        if self.care.foretells() {
            let view = View { id: None, ..View::from(&pause(true).await.map_err(refused)?) };
            if self.care.dry_run {
                let (code, would_pause) = (self.code.clone(), Some(view));
                return Ok(Report::one(&Rehearsed { code, would_pause, would_end: vec![] }).noting(REHEARSED));
            }
            let what = in_local_time(&view.phrase(), session.zone());
            self.care.ask(&format!("The sales of {} are paused: {what}.", self.code))?;
        }
        pause(false).await.map_err(refused)?;
        super::show(session, &self.code).await
    }

    /// A pause of a product that the provider does not sell stops nothing, and looks as if it did.
    async fn refuse_unless_sold(&self, session: &Session) -> Result<(), VendctlError> {
        let Some(product) = self.product else { return Ok(()) };
        super::find(session, &self.code).await?;
        if catalogue::is_offered(session.database(), product, self.code.clone()).await? {
            return Ok(());
        }
        Err(VendctlError::NotSold { provider: self.code.clone(), product })
    }
}

impl Resume {
    pub(super) async fn run(&self, session: &Session) -> Result<Report, VendctlError> {
        super::find(session, &self.code).await?;
        let resumed = self.pause.map_or(Resumed::InForce, Resumed::One);
        let end = |is_rehearsal| {
            let (code, act) = (self.code.clone(), session.act(&self.why));
            catalogue::resume_provider(session.database(), code, resumed, is_rehearsal, act)
        };
        if self.care.foretells() {
            let would_end = end(true).await.map_err(|error| self.refused(error))?;
            let would_end: Vec<View> = would_end.iter().map(View::from).collect();
            if self.care.dry_run {
                let code = self.code.clone();
                return Ok(Report::one(&Rehearsed { code, would_pause: None, would_end }).noting(REHEARSED));
            }
            let what = in_local_time(&cell(&would_end), session.zone());
            self.care.ask(&format!("The sales of {} go on. This ends: {what}.", self.code))?;
        }
        end(false).await.map_err(|error| self.refused(error))?;
        Ok(super::show(session, &self.code).await?.noting(SOLD_AGAIN))
    }

    fn refused(&self, error: DatabaseError) -> VendctlError {
        let provider = self.code.clone();
        match self.pause {
            Some(pause) => VendctlError::NoPause { provider, pause },
            None => VendctlError::NotPaused(provider),
        }
        .if_absent(error)
    }
}

impl Row for Rehearsed {
    const COLUMNS: &'static [&'static str] = &["code", "would pause", "notice", "would end"];
    const MOMENTS: &'static [&'static str] = &["would pause", "would end"];

    fn cells(&self) -> Vec<String> {
        let pause = self.would_pause.as_ref();
        let would_end = Some(&self.would_end).filter(|ended| !ended.is_empty());
        vec![
            self.code.clone(),
            or_dash(pause.map(View::phrase).as_deref()),
            or_dash(pause.and_then(|pause| pause.notice.as_deref())),
            or_dash(would_end.map(|ended| cell(ended)).as_deref()),
        ]
    }
}

/// The pauses of a provider.
pub(super) fn of(pauses: &[ListedPause], code: &str) -> Vec<View> {
    pauses.iter().filter(|pause| pause.provider_code == code).map(View::from).collect()
}

/// The pauses in one cell of a table.
pub(super) fn cell(pauses: &[View]) -> String {
    if pauses.is_empty() {
        return "no".to_owned();
    }
    pauses.iter().map(View::phrase).collect::<Vec<_>>().join("; ")
}

impl View {
    /// Its notice, with its number. The pause of the breaker has that of the breaker. No integrator reads it before the pause begins.
    pub(super) fn told(&self) -> Option<String> {
        let notice = self.notice.as_ref().filter(|_notice| !self.by_breaker);
        let when = if self.is_in_force { "" } else { " (to come)" };
        let id = self.id.map(|id| format!(" {id}")).unwrap_or_default();
        notice.map(|notice| format!("pause{id}{when}: {notice}"))
    }

    fn phrase(&self) -> String {
        let what = self.product.unwrap_or("everything");
        let from = if self.is_in_force { "now".to_owned() } else { format!("from {}", self.starts_at) };
        let until =
            self.ends_at.as_ref().map_or_else(|| "until resumed".to_owned(), |at| format!("until {at}"));
        let by = if self.by_breaker { ", by the breaker" } else { "" };
        let name = self.id.map(|id| format!(" (pause {id}{by})")).unwrap_or_default();
        format!("{what} {from} {until}{name}")
    }
}

impl From<&ListedPause> for View {
    fn from(listed: &ListedPause) -> Self {
        Self {
            id: Some(listed.id),
            product: listed.product.map(Product::as_str),
            starts_at: instant(listed.starts_at),
            ends_at: listed.ends_at.map(instant),
            is_in_force: listed.is_in_force,
            by_breaker: listed.by_breaker,
            notice: listed.notice.clone(),
        }
    }
}
