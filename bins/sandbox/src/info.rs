//! `sandbox.json`: the addresses and the credentials of a sandbox.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use secrecy::SecretString;
use serde::Serialize;
use serde_json::{Value, json};

/// The addresses and the credentials for using the sandbox.
#[derive(Clone, Debug, Serialize)]
pub struct SandboxInfo {
    /// The API: `http://127.0.0.1:8080`.
    pub base_url: String,
    /// The simulator. Its control interface is at the root.
    pub simulator_url: String,
    /// The controls over wallets.
    pub control_url: String,
    /// The operators' console in a browser, if the options include one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub console_url: Option<String>,
    /// The superuser's URL of the private database.
    pub database_url: String,
    /// The metrics of the API server and of the worker.
    pub metrics_urls: Vec<String>,
    /// The user of the first organisation.
    pub credentials: Credentials,
    /// The user of another organisation, to test the separation of organisations.
    pub second_organisation: Credentials,
    /// The first organisation's self-managed wallet.
    pub account_id: i64,
    /// The first organisation's managed wallet.
    pub managed_account_id: i64,
    /// The URL of the operator's login, from which a link to the console is made.
    #[serde(skip)]
    pub(crate) operator_url: SecretString,
    /// Settings for `vendctl`, with the operator's database login.
    #[serde(skip)]
    pub operator_settings: PathBuf,
    /// The configured subscribers, by product and scenario.
    pub subscribers: Subscribers,
}

/// The data for a login.
#[derive(Clone, Serialize)]
pub struct Credentials {
    /// The OAuth client.
    pub client_id: String,
    /// Its secret.
    pub client_secret: String,
    /// The organisation.
    pub org_code: String,
    /// The user.
    pub identifier: String,
    /// The user's password.
    pub secret_pass: String,
}

impl Credentials {
    /// The body of a login, on both surfaces.
    pub fn login_body(&self) -> Value {
        let Self { client_id, client_secret, org_code, identifier, secret_pass } = self;
        json!({
            "grant_type": "password",
            "client_id": client_id,
            "client_secret": client_secret,
            "org_code": org_code,
            "identifier": identifier,
            "secret_pass": secret_pass,
        })
    }
}

/// Subscriber identifiers by scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Subscribers {
    /// Electricity meters.
    pub electricity: BTreeMap<&'static str, &'static str>,
    /// Water meters.
    pub water: BTreeMap<&'static str, &'static str>,
    /// Telephones.
    pub airtime: BTreeMap<&'static str, &'static str>,
}

impl SandboxInfo {
    /// Writes the file atomically, readable only by this user.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let mut json = serde_json::to_string_pretty(self)?;
        json.push('\n');
        let unfinished = path.with_extension("json.part");
        write_private(&unfinished, &json)?;
        fs::rename(unfinished, path)
    }
}

impl Subscribers {
    /// All named subscribers of the simulator.
    pub(crate) fn of_the_simulator() -> Self {
        let named = |product| {
            let subscribers = utility_sim::subscribers(product).into_iter();
            subscribers.map(|subscriber| (subscriber.name, subscriber.identifier)).collect()
        };
        Self {
            electricity: named(utility_sim::Product::Electricity),
            water: named(utility_sim::Product::Water),
            airtime: named(utility_sim::Product::Airtime),
        }
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Credentials").field("org_code", &self.org_code).finish_non_exhaustive()
    }
}

/// Writes a file that only this user can read.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    // The mode applies only to new files.
    let _was_not_there = fs::remove_file(path);
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}
