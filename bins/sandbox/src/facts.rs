//! `sandbox.json`: where everything is, and how to get in.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use serde::Serialize;

/// What somebody who wants to use the sandbox must know.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    /// Of the API: `http://127.0.0.1:8080`.
    pub base_url: String,
    /// Of the simulator, whose own interface lies at its root.
    pub simulator_url: String,
    /// The superuser's address of the private database.
    pub database_url: String,
    /// Where the API server and the worker tell their numbers.
    pub metrics_urls: Vec<String>,
    /// Of the first organisation.
    pub credentials: Credentials,
    /// Of another one, to look across the fence.
    pub second_organisation: Credentials,
    /// The first organisation's self-managed wallet.
    pub account_id: i64,
    /// The first organisation's managed wallet.
    pub managed_account_id: i64,
    /// Settings for `vendctl`, with a login of the operator's.
    #[serde(skip)]
    pub operator_settings: PathBuf,
    /// The configured subscribers, by product and scenario.
    pub subscribers: Subscribers,
}

/// What login asks for.
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

impl Facts {
    /// Writes them where only this user can read them, in one step.
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let mut json = serde_json::to_string_pretty(self)?;
        json.push('\n');
        let unfinished = path.with_extension("json.part");
        write_private(&unfinished, &json)?;
        fs::rename(unfinished, path)
    }
}

impl Subscribers {
    /// All that the simulator has.
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

/// A file that nobody else can read.
pub(crate) fn write_private(path: &Path, text: &str) -> io::Result<()> {
    // The mode is for new files only.
    let _was_not_there = fs::remove_file(path);
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}
