//! What the tool is told by the deployment: where the database is, as whom, and with which key tokens are sealed.

use std::path::Path;

use boot::SettingsError;
use secrecy::SecretString;
use serde::Deserialize;
use store::{SealingSettings, StoreSettings};

/// The tool's part of a settings file. What other programs are told may stand beside it.
#[derive(Debug, Deserialize)]
pub(crate) struct Settings {
    pub(crate) operator: OperatorSettings,
    /// As the servers have it. Only a decision that enters a token needs it.
    pub(crate) sealing: Option<SealingSettings>,
}

/// The operator's way into the database.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperatorSettings {
    /// `postgres://login:password@host/name`, where the login is a member of `vendgate_operator`.
    pub(crate) database_url: SecretString,
    /// In whose name everything is done, unless `--actor` says otherwise; without it, the user of this machine.
    #[serde(default)]
    pub(crate) actor: Option<String>,
}

impl Settings {
    /// Reads them from `file`, if there is one, and from the environment, which wins.
    pub(crate) fn load(file: Option<&Path>) -> Result<Self, SettingsError> {
        boot::load_checked(file, |settings: &Self, review| {
            let database_url = settings.operator.database_url.clone();
            review.section("operator", || StoreSettings::for_database(database_url).checked());
            if let Some(sealing) = &settings.sealing {
                review.section("sealing", || sealing.keys().map(drop));
            }
        })
    }
}
