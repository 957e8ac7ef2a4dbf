//! `api-server migrate`: brings the database to this program's schema, in the role that owns it.

use std::path::Path;

use boot::TelemetrySettings;
use database::{DatabaseError, DatabaseSettings};
use secrecy::SecretString;
use serde::Deserialize;

/// The settings of `migrate`. The other settings of a server may be in the same file.
#[derive(Debug, Deserialize)]
pub struct MigrateSettings {
    /// The database and its owner.
    pub migrate: Owner,
    /// The log.
    #[serde(default)]
    pub telemetry: TelemetrySettings,
}

/// The role that owns the schema. The servers do not have its password.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Owner {
    /// `postgres://owner:password@host/name`.
    pub database_url: SecretString,
}

/// Applies the missing migrations and returns their names.
pub async fn migrate(owner_url: &SecretString) -> Result<Vec<String>, DatabaseError> {
    database::migrate(owner_url).await
}

#[expect(clippy::print_stdout, reason = "the operator reads the result there")]
pub(crate) fn run(file: Option<&Path>) -> Result<(), Box<dyn std::error::Error>> {
    let settings = boot::load_checked(file, |settings: &MigrateSettings, review| {
        let database_url = settings.migrate.database_url.clone();
        review.section("migrate", || DatabaseSettings::for_database(database_url).checked());
        review.section("telemetry", || settings.telemetry.checked());
    })?;
    boot::telemetry::start(&settings.telemetry)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let applied = runtime.block_on(migrate(&settings.migrate.database_url))?;
    for name in &applied {
        println!("applied {name}");
    }
    println!("the schema is at version {}", database::schema_version());
    Ok(())
}
