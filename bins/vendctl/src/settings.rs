//! The settings of the tool: the address of the database with its login, the actor, and the key that seals tokens.

use std::path::Path;

use boot::SettingsError;
use database::DatabaseSettings;
use secrecy::SecretString;
use serde::Deserialize;
use store::SealingSettings;

/// The tool's part of a settings file. The file may also contain the settings of other programs.
#[derive(Debug, Deserialize)]
pub(crate) struct Settings {
    pub(crate) operator: OperatorSettings,
    /// The same section as the servers'. Only a decision that enters a token needs it.
    pub(crate) sealing: Option<SealingSettings>,
}

/// How the operator reaches the database.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OperatorSettings {
    /// `postgres://login:password@host/name`, where the login is a member of `vendgate_operator`.
    pub(crate) database_url: SecretString,
    /// The actor, unless `--actor` names another one. Without either it is the user of this machine.
    #[serde(default)]
    pub(crate) actor: Option<String>,
}

impl Settings {
    /// Reads the settings from `file`, if there is one, and from the environment, which takes precedence.
    pub(crate) fn load(file: Option<&Path>) -> Result<Self, SettingsError> {
        boot::load_checked(file, |settings: &Self, review| {
            let database_url = settings.operator.database_url.clone();
            review.section("operator", || DatabaseSettings::for_database(database_url).checked());
            if let Some(sealing) = &settings.sealing {
                review.section("sealing", || sealing.keys().map(drop));
            }
        })
    }
}
