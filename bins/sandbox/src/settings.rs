//! The settings files of the parts of a sandbox, as an operator would write them.

use std::path::{Path, PathBuf};

use crate::{
    Pace,
    seed::{AIRTIME, ELECTRICITY, WATER},
};

/// The settings of both servers.
pub(crate) struct Shared<'a> {
    /// With the server's own login.
    pub(crate) database_url: &'a str,
    pub(crate) simulator_url: &'a str,
    pub(crate) sealing_key: &'a str,
    pub(crate) pace: Pace,
    pub(crate) observe_port: u16,
    /// Whether the servers refuse a cluster that acknowledges commits without a standby.
    pub(crate) requires_standby: bool,
    pub(crate) webhooks_stay_here: bool,
}

/// The settings of the API server.
pub(crate) struct ApiServerSettings<'a> {
    pub(crate) shared: Shared<'a>,
    pub(crate) port: u16,
    /// `STAGING` or `PRODUCTION`.
    pub(crate) environment: &'static str,
    pub(crate) refresh_key: &'a str,
    /// The key that signs certificates, if the server has one.
    pub(crate) certificate_key: Option<&'a str>,
}

/// The settings of the worker.
pub(crate) struct WorkerSettings<'a> {
    pub(crate) shared: Shared<'a>,
    pub(crate) smtp_address: &'a str,
}

impl ApiServerSettings<'_> {
    /// The settings as TOML. No value needs escaping.
    pub(crate) fn to_toml(&self) -> String {
        let Self { shared, port, environment, refresh_key, certificate_key } = self;
        let (limits, shared) = (limits(shared.pace), shared.to_toml(""));
        let certificates =
            certificate_key.map(|key| format!("[certificates]\nkey = \"{key}\"\n")).unwrap_or_default();
        format!(
            r#"[http]
listen = "127.0.0.1:{port}"

[web]
public_url = "http://127.0.0.1:{port}"
{limits}
[identity]
environment = "{environment}"
refresh_key = "{refresh_key}"

{certificates}
{shared}"#
        )
    }
}

impl WorkerSettings<'_> {
    /// The settings as TOML. No value needs escaping.
    pub(crate) fn to_toml(&self) -> String {
        let Self { shared, smtp_address } = self;
        let pool = worker_pool(shared.pace);
        let (simulator_url, pauses) = (shared.simulator_url, pauses(shared.pace));
        let deliveries = deliveries(shared.pace);
        let timeout = gateway_timeout(shared.pace);
        let (smtp_host, smtp_port) = smtp_address.rsplit_once(':').unwrap_or_default();
        let shared = shared.to_toml(pool);
        format!(
            r#"{shared}
[notify]
{pauses}
[notify.sms]
url = "{simulator_url}/cgi-bin/sendsms"
username = "vendgate-messages"
password = "sandbox-messages-secret"
from = "Vendgate"
number_prefix = ""
{timeout}
[notify.email]
host = "{smtp_host}"
port = {smtp_port}
security = "none"
from = "Vendgate <receipts@vendgate.example>"
{timeout}
{deliveries}"#
        )
    }
}

const WEBHOOKS_STAY_HERE: &str = r#"[webhooks]
allow_http = true
allow_networks = ["127.0.0.0/8"]
"#;

impl Shared<'_> {
    fn to_toml(&self, pool: &str) -> String {
        let Self { database_url, simulator_url, sealing_key, observe_port, requires_standby, .. } = self;
        let (vending, window) = (vending(self.pace), window(self.pace));
        let questions = question_timeouts(self.pace);
        let webhooks = if self.webhooks_stay_here { WEBHOOKS_STAY_HERE } else { "" };
        // In lower case, so that environment variables can override the file.
        let [electricity, water] = [&ELECTRICITY, &WATER].map(|offering| offering.provider.to_lowercase());
        let airtime = airtime_toml(simulator_url, questions);
        format!(
            r#"[observe]
listen = "127.0.0.1:{observe_port}"

[store]
database_url = "{database_url}"
require_synchronous_standby = {requires_standby}
{pool}
[sealing.current]
id = 1
key = "{sealing_key}"

[vending]
{vending}{window}
{webhooks}
[providers.{electricity}.xmlvend]
endpoint = "{simulator_url}/xmlvend"
currency = "BWP"
client = {{ ean = "2670000000015" }}
terminal = {{ id = "sandbox" }}
credentials = {{ op_name = "vendgate", password = "sandbox1" }}
lines = {{ levy = ["Electrification levy"], regulatory_fee = ["Regulatory fee"] }}
{questions}
[providers.{water}.xmlvend]
endpoint = "{simulator_url}/xmlvend"
currency = "BWP"
client = {{ ean = "2670000000022" }}
terminal = {{ id = "sandbox" }}
credentials = {{ op_name = "vendgate", password = "sandbox1" }}
{questions}
{airtime}"#
        )
    }
}

/// The section of the provider of airtime, which `vendctl` has, too: it fetches that provider's statement.
fn airtime_toml(simulator_url: &str, further: &str) -> String {
    let airtime = AIRTIME.provider.to_lowercase();
    format!(
        r#"[providers.{airtime}.reloadly]
auth_url = "{simulator_url}/reloadly/auth"
topups_url = "{simulator_url}/reloadly/topups"
client_id = "vendgate-airtime"
client_secret = "sandbox-airtime-secret"
country = "BW"
currency = "BWP"
{further}"#
    )
}

/// The settings of `api-server migrate`. The server does not have them.
pub(crate) fn migrate_toml(owner_url: &str) -> String {
    format!("[migrate]\ndatabase_url = \"{owner_url}\"\n")
}

/// The simulated vendor writes the local time of Gaborone. Only `vendctl` reads its list, and a server of the release before, which an
/// upgrade is rehearsed from, does not know the setting.
const REPORT_TIME_ZONE: &str = "report_time_zone = \"Africa/Gaborone\"\n";

/// The settings of `vendctl`. The key is for an operator who enters a token by hand.
pub(crate) fn vendctl_toml(operator_url: &str, console_url: Option<&str>, sealing_key: &str) -> String {
    let console = console_url.map(|url| format!("console_url = \"{url}\"\n")).unwrap_or_default();
    format!(
        "[operator]\ndatabase_url = \"{operator_url}\"\nactor = \"sandbox\"\n{console}\n\
         [sealing.current]\nid = 1\nkey = \"{sealing_key}\"\n"
    )
}

/// The section with which `vendctl` fetches the statement of the provider of airtime.
pub(crate) fn vendctl_airtime_toml(simulator_url: &str) -> String {
    format!("\n{}", airtime_toml(simulator_url, REPORT_TIME_ZONE))
}

/// The settings of the console. The key is for approvals of vends that have a token.
pub(crate) fn console_toml(console_database_url: &str, port: u16, sealing_key: &str) -> String {
    format!(
        "[console]\ndatabase_url = \"{console_database_url}\"\nlisten = \"127.0.0.1:{port}\"\n\
         public_url = \"http://127.0.0.1:{port}\"\n\n\
         [sealing.current]\nid = 1\nkey = \"{sealing_key}\"\n"
    )
}

/// The settings of the simulated utility.
pub(crate) fn utility_sim_toml(pace: Pace, population: u32, ports: [u16; 2], directory: &Path) -> String {
    let [http_port, smtp_port] = ports;
    let (delayed_ms, processing_ms, report_lag_ms) = match pace {
        Pace::Production | Pace::Real | Pace::Practice => (95_000, 30_000, 2_000),
        Pace::Brisk | Pace::Breathless => (3_000, 2_000, 500),
    };
    let vend_log = vend_log(directory).display().to_string();
    let event_log = directory.join("utility-sim.events").display().to_string();
    format!(
        "[simulator]\nlisten = \"127.0.0.1:{http_port}\"\ndelayed_ms = {delayed_ms}\npopulation = {population}\n\
         vend_log = {vend_log:?}\nevent_log = {event_log:?}\n\n\
         [simulator.airtime]\nprocessing_ms = {processing_ms}\nreport_lag_ms = {report_lag_ms}\n\n\
         [simulator.messages]\nsmtp_listen = \"127.0.0.1:{smtp_port}\"\n"
    )
}

/// The path of the simulated utility's vend log.
pub(crate) fn vend_log(directory: &Path) -> PathBuf {
    directory.join("vends.log")
}

/// All clients of a test have the same address, so the limits per address are raised.
const fn limits(pace: Pace) -> &'static str {
    match pace {
        Pace::Production | Pace::Real | Pace::Practice => "",
        Pace::Brisk | Pace::Breathless => {
            "limits.login = { per_second = 1000, burst = 1000 }\n\
             limits.refresh = { per_second = 1000, burst = 1000 }\n\
             limits.unknown_token = { per_second = 1000, burst = 1000 }\n\
             limits.malformed = { per_second = 1000, burst = 1000 }\n"
        }
    }
}

/// How long a provider may take to answer an enquiry: no longer than a vend.
const fn question_timeouts(pace: Pace) -> &'static str {
    match pace {
        Pace::Production | Pace::Real | Pace::Practice | Pace::Brisk => "",
        Pace::Breathless => "enquiry_timeout_ms = 900\nconnect_timeout_ms = 500\n",
    }
}

/// A worker opens one connection for each periodic task when it starts. Tests start hundreds of workers, and a new connection costs
/// Postgres more than what is done over it.
const fn worker_pool(pace: Pace) -> &'static str {
    match pace {
        Pace::Production | Pace::Real | Pace::Practice => "",
        Pace::Brisk | Pace::Breathless => "pool_size = 5\n",
    }
}

/// The pauses before a message is sent and sent again.
const fn pauses(pace: Pace) -> &'static str {
    match pace {
        Pace::Production | Pace::Real | Pace::Practice => "",
        Pace::Brisk => "poll_ms = 250\nfirst_pause_ms = 200\nlease_ms = 5000\n",
        Pace::Breathless => "poll_ms = 300\nfirst_pause_ms = 200\nlease_ms = 2500\n",
    }
}

/// How long a message gateway may take: less than half of a message's lease.
const fn gateway_timeout(pace: Pace) -> &'static str {
    match pace {
        Pace::Production | Pace::Real | Pace::Practice => "",
        Pace::Brisk => "timeout_ms = 2000\n",
        Pace::Breathless => "timeout_ms = 1000\n",
    }
}

/// How long a worker that was killed keeps a webhook endpoint from the others.
const fn deliveries(pace: Pace) -> &'static str {
    match pace {
        Pace::Production | Pace::Real | Pace::Practice | Pace::Brisk => "",
        Pace::Breathless => {
            "[webhook_delivery]\npoll_ms = 300\nconnect_timeout_ms = 500\ntimeout_ms = 500\nround_ms = 400\n\
             lease_ms = 2000\nlongest_rest_ms = 500\n"
        }
    }
}

/// In `Real` and `Practice`, doubt ends within a minute, so that a user sees it. In `Brisk`, all limits are in seconds. Its
/// gate is longer than the default, so that many concurrent requests pass it on a busy machine.
const fn vending(pace: Pace) -> &'static str {
    match pace {
        Pace::Production => "",
        Pace::Real | Pace::Practice => {
            "not_found_gap_ms = 5000\nfirst_look_ms = 2000\nrepeats_ms = [2000, 4000, 7000, 11000, 15000]\n\
             repeats_end_ms = 20000\nattempts_ms = [2000, 6000, 12000, 18000, 25000]\n"
        }
        Pace::Breathless => {
            "gate_ms = 700\nintake_ms = 1000\nprovider_timeout_ms = 1200\nlease_ms = 1500\nenquiry_gap_ms = 200\n\
             not_found_gap_ms = 300\nreference_rest_ms = 1000\nwindow_ms = 6000\npatience_ms = 2000\n\
             first_look_ms = 100\nlongest_pause_ms = 1000\nrepeats_ms = [300, 700, 1300, 2000, 3000]\n\
             repeats_end_ms = 1500\nattempts_ms = [200, 500, 1000, 1800, 3000]\n"
        }
        Pace::Brisk => {
            "gate_ms = 5000\nintake_ms = 11000\nprovider_timeout_ms = 12000\nlease_ms = 6000\nenquiry_gap_ms = 500\n\
             not_found_gap_ms = 1000\nreference_rest_ms = 2000\nwindow_ms = 36000\npatience_ms = 5000\n\
             first_look_ms = 500\nlongest_pause_ms = 9000\nrepeats_ms = [1000, 3000, 6000, 12000, 20000]\n\
             repeats_end_ms = 4000\nattempts_ms = [2000, 5000, 10000, 17000, 28000]\n"
        }
    }
}

/// In `Practice`, the window is as short as the time limit of a vend allows.
const fn window(pace: Pace) -> &'static str {
    match pace {
        Pace::Practice => "window_ms = 125000\n",
        Pace::Production | Pace::Real | Pace::Brisk | Pace::Breathless => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_for_people_the_window_closes_within_minutes() {
        let window_ms = |pace| {
            let mut lines = vending(pace).lines().chain(window(pace).lines());
            lines.find_map(|line| line.strip_prefix("window_ms = ")).map(|ms| ms.parse::<u32>().unwrap())
        };
        assert!(window_ms(crate::Options::for_people().pace).is_some_and(|ms| ms <= 130_000));
        assert_eq!([Pace::Production, Pace::Real].map(window_ms), [None, None]);
    }
}
