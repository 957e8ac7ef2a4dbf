//! The settings that each part of a sandbox is started with, as the files that an operator would write.

use std::path::{Path, PathBuf};

use crate::{
    Pace,
    seed::{AIRTIME, ELECTRICITY, WATER},
};

/// What the API server is told.
pub(crate) struct ApiServerSettings<'a> {
    pub(crate) port: u16,
    pub(crate) database_url: &'a str,
    pub(crate) simulator_url: &'a str,
    pub(crate) sealing_key: &'a str,
    pub(crate) refresh_key: &'a str,
    pub(crate) pace: Pace,
}

impl ApiServerSettings<'_> {
    /// As TOML. Nothing in it needs quoting.
    pub(crate) fn to_toml(&self) -> String {
        let Self { port, database_url, simulator_url, sealing_key, refresh_key, pace } = self;
        let (vending, limits) = (vending(*pace), limits(*pace));
        // In lower case, as the environment has it, so that the environment can win over the file.
        let [electricity, water, airtime] =
            [&ELECTRICITY, &WATER, &AIRTIME].map(|stall| stall.provider.to_lowercase());
        format!(
            r#"[http]
listen = "127.0.0.1:{port}"

[web]
public_url = "http://127.0.0.1:{port}"
{limits}

[store]
database_url = "{database_url}"

[sealing.current]
id = 1
key = "{sealing_key}"

[identity]
environment = "STAGING"
refresh_key = "{refresh_key}"

[vending]
{vending}
[providers.{electricity}.xmlvend]
endpoint = "{simulator_url}/xmlvend"
currency = "BWP"
client = {{ ean = "2670000000015" }}
terminal = {{ id = "sandbox" }}
credentials = {{ op_name = "vendgate", password = "sandbox1" }}

[providers.{water}.xmlvend]
endpoint = "{simulator_url}/xmlvend"
currency = "BWP"
client = {{ ean = "2670000000022" }}
terminal = {{ id = "sandbox" }}
credentials = {{ op_name = "vendgate", password = "sandbox1" }}

[providers.{airtime}.reloadly]
auth_url = "{simulator_url}/reloadly/auth"
topups_url = "{simulator_url}/reloadly/topups"
client_id = "vendgate-airtime"
client_secret = "sandbox-airtime-secret"
country = "BW"
currency = "BWP"
"#
        )
    }
}

/// What `api-server migrate` is told; the server never learns it.
pub(crate) fn migrate_toml(owner_url: &str) -> String {
    format!("[migrate]\ndatabase_url = \"{owner_url}\"\n")
}

/// What the simulated utility is told.
pub(crate) fn utility_sim_toml(pace: Pace, population: u32, directory: &Path) -> String {
    let (delayed_ms, processing_ms, report_lag_ms) = match pace {
        Pace::Real => (95_000, 30_000, 2_000),
        Pace::Brisk => (3_000, 2_000, 500),
    };
    let vend_log = vend_log(directory).display().to_string();
    format!(
        "[simulator]\ndelayed_ms = {delayed_ms}\npopulation = {population}\nvend_log = {vend_log:?}\n\n\
         [simulator.airtime]\nprocessing_ms = {processing_ms}\nreport_lag_ms = {report_lag_ms}\n"
    )
}

/// Where the simulated utility puts its vends on record.
pub(crate) fn vend_log(directory: &Path) -> PathBuf {
    directory.join("vends.log")
}

/// Everybody here comes from one address, and a test brings a crowd.
const fn limits(pace: Pace) -> &'static str {
    match pace {
        Pace::Real => "",
        Pace::Brisk => "limits.address = { per_second = 1000, burst = 1000 }\n",
    }
}

/// Brisk is the same chain in seconds. The gate stays as it is, so that a crowd gets through it on a busy machine.
const fn vending(pace: Pace) -> &'static str {
    match pace {
        Pace::Real => "",
        Pace::Brisk => {
            "gate_ms = 5000\nintake_ms = 11000\nprovider_timeout_ms = 12000\nlease_ms = 18000\n\
             quarantine_ms = 24000\nnot_found_gap_ms = 1000\nwindow_ms = 60000\npatience_ms = 5000\n"
        }
    }
}
