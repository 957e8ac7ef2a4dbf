//! What the tool is told by the deployment: where the database is, as whom, and with which key tokens are sealed.

use std::path::Path;

use boot::SettingsError;
use secrecy::SecretString;
use serde::Deserialize;
use store::SealingSettings;

/// The tool's part of a settings file. What other programs are told may stand beside it.
#[derive(Debug, Deserialize)]
pub(crate) struct Settings {
    operator: Option<OperatorSettings>,
    /// As the servers have it. Only a decision that enters a token needs it.
    sealing: Option<SealingSettings>,
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
        boot::load(file)
    }

    /// The way into the database.
    pub(crate) fn operator(&self, file: Option<&Path>) -> Result<&OperatorSettings, SettingsError> {
        self.operator.as_ref().ok_or_else(|| SettingsError::Missing {
            key: "operator.database_url".to_owned(),
            file: file.map(Path::to_owned),
        })
    }

    /// What tokens are sealed with, if the tool was told.
    pub(crate) const fn sealing(&self) -> Option<&SealingSettings> {
        self.sealing.as_ref()
    }
}
