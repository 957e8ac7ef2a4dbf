//! The schema versions that this program serves: its own, and every later one that does not take away what it needs.

use diesel::{migration::MigrationSource, pg::Pg};
use tokio_postgres::{Client, SimpleQueryMessage, error::SqlState};

use crate::{DatabaseError, migrate::MIGRATIONS, session::row};

/// The upper 16 bits of the advisory lock of a program's session. The other bits are its schema version, so that the
/// database's `connected_programs` can tell it.
const PROGRAM: i64 = 0x7667 << 48;

const NONE: &str = "none";

/// The applied migrations in order. `oldest` is the oldest schema whose programs the database serves.
const APPLIED: &str = "SELECT version, (SELECT oldest_schema FROM public.served_programs) AS oldest
                       FROM public.__diesel_schema_migrations ORDER BY version";

/// The newest version of this program's schema.
pub fn schema_version() -> String {
    embedded_versions().pop().unwrap_or_else(|| NONE.to_owned())
}

/// The advisory lock that each session of this program holds.
pub(crate) fn session_lock() -> i64 {
    PROGRAM | schema_version().parse::<i64>().unwrap_or_default()
}

/// A database that was restored, or a server that was promoted, gives the ids of transactions out a second time. So whatever is
/// numbered by them is told where the session is, before the session writes anything.
const ARRIVE: &str = "SELECT public.number_feed_here()";

/// Tells the database that a session of this program begins on this server, whose schema was [checked](check).
pub(crate) async fn arrive(client: &Client) -> Result<(), DatabaseError> {
    client.simple_query(ARRIVE).await?;
    Ok(())
}

/// Refuses a database without all migrations of this program, and one that no longer serves it. Returns the versions that the
/// database has and this program does not know.
pub(crate) async fn check(client: &Client) -> Result<Vec<String>, DatabaseError> {
    let answers = match client.simple_query(APPLIED).await {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => {
            return Err(lacks_migrations(&newest_of_an_early_schema(client).await));
        }
        answers => answers?,
    };
    let (mut applied, mut oldest) = (Vec::new(), None);
    for answer in answers {
        if let SimpleQueryMessage::Row(row) = answer {
            applied.extend(row.get("version").map(str::to_owned));
            oldest = row.get("oldest").map(str::to_owned);
        }
    }
    serves(applied, oldest)
}

/// The newest version in a database from before `served_programs`.
async fn newest_of_an_early_schema(client: &Client) -> String {
    let newest = "SELECT max(version) AS version FROM public.__diesel_schema_migrations";
    let answer = row(client, newest).await.ok().flatten();
    answer.as_ref().and_then(|row| row.get("version")).unwrap_or(NONE).to_owned()
}

fn serves(applied: Vec<String>, oldest: Option<String>) -> Result<Vec<String>, DatabaseError> {
    let known = embedded_versions();
    if !known.iter().all(|version| applied.contains(version)) {
        return Err(lacks_migrations(applied.last().map_or(NONE, String::as_str)));
    }
    let program = schema_version();
    match oldest {
        Some(oldest) if oldest > program => Err(DatabaseError::ProgramTooOld { program, oldest }),
        _ => Ok(applied.into_iter().filter(|version| !known.contains(version)).collect()),
    }
}

fn lacks_migrations(found: &str) -> DatabaseError {
    DatabaseError::Schema { found: found.to_owned(), expected: schema_version() }
}

/// The versions in the order in which they are applied.
fn embedded_versions() -> Vec<String> {
    let migrations = MigrationSource::<Pg>::migrations(&MIGRATIONS);
    let migrations = migrations.expect("migrations that were embedded when compiling can be listed");
    let mut versions: Vec<_> =
        migrations.iter().map(|migration| migration.name().version().to_string()).collect();
    versions.sort_unstable();
    versions
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied_with(later: &[&str]) -> Vec<String> {
        embedded_versions().into_iter().chain(later.iter().map(|version| (*version).to_owned())).collect()
    }

    #[test]
    fn a_program_serves_its_own_schema_and_a_later_one_that_still_serves_it() {
        let own = Some(schema_version());
        assert_eq!(serves(applied_with(&[]), own.clone()).unwrap(), Vec::<String>::new());
        assert_eq!(serves(applied_with(&["29991231000000"]), own).unwrap(), ["29991231000000"]);
    }

    #[test]
    fn a_program_that_a_migration_has_ended_is_refused_and_told_what_to_install() {
        let refused =
            serves(applied_with(&["29991231000000"]), Some("29991230000000".to_owned())).unwrap_err();
        let program = schema_version();
        let expected = format!(
            "this program has schema {program}, and the database serves programs of schema 29991230000000 and later: \
             install a later release"
        );
        assert_eq!(refused.to_string(), expected);
    }

    #[test]
    fn a_schema_that_lacks_any_migration_of_the_program_is_refused() {
        let mut applied = applied_with(&["29991231000000"]);
        applied.remove(3);
        assert!(matches!(serves(applied, None), Err(DatabaseError::Schema { .. })));
    }

    #[test]
    fn the_lock_of_a_session_tells_its_schema() {
        assert_eq!(format!("{:x}", session_lock() >> 48), "7667");
        assert_eq!((session_lock() & 0xffff_ffff_ffff).to_string(), schema_version());
    }
}
