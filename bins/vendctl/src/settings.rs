//! What the tool is told by the deployment: where the database is, and as whom.

use std::path::Path;

use boot::SettingsError;
use secrecy::SecretString;
use serde::Deserialize;

/// The tool's part of a settings file. What other programs are told may stand beside it.
#[derive(Debug, Deserialize)]
struct Settings {
    operator: Option<OperatorSettings>,
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

impl OperatorSettings {
    /// Reads them from `file`, if there is one, and from the environment, which wins.
    pub(crate) fn load(file: Option<&Path>) -> Result<Self, SettingsError> {
        let settings: Settings = boot::load(file)?;
        settings.operator.ok_or_else(|| SettingsError::Missing {
            key: "operator.database_url".to_owned(),
            file: file.map(Path::to_owned),
        })
    }
}
