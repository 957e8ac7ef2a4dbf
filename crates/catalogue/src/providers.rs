//! Providers, and what each connection is declared to do in doubt: entered, changed field by field, and listed.

use std::time::Duration;

use database::{Database, DatabaseError, Run, Statement, Transaction, prepared};
use diesel::{
    ExpressionMethods, QueryDsl, QueryableByName, SelectableHelper,
    sql_types::{Bool, Integer, Nullable, Text},
};
use directory::{AuditContext, AuditEntry, append};
use serde_json::json;
use vend::Capabilities;

use super::change::{Line, change};
use crate::{DeclaredRow, schema::providers};

/// A provider to be entered or changed.
#[derive(Clone, Debug)]
pub struct NewProvider {
    /// Its code on the wire, and the name of its connection in the settings.
    pub code: String,
    /// Its name for people.
    pub name: String,
    /// What its connection is declared to do in doubt.
    pub declared: Capabilities,
}

/// The changes to a provider. An absent field stays as it is. For a new provider, an absent flag is off, an absent
/// `settles_within` is 600 seconds, and absent `worker_slots` are 64.
#[derive(Clone, Debug, Default)]
pub struct Declaration {
    /// Its name for people. A new provider needs one.
    pub name: Option<String>,
    /// [`Capabilities::repeat_is_safe`].
    pub repeat_is_safe: Option<bool>,
    /// [`Capabilities::remembers_refusals`].
    pub remembers_refusals: Option<bool>,
    /// [`Capabilities::not_found_counts`].
    pub not_found_counts: Option<bool>,
    /// [`Capabilities::settles_within`], in whole seconds.
    pub settles_within: Option<Duration>,
    /// How many of its purchases all workers together may have in hand: at least 1.
    pub worker_slots: Option<u16>,
}

/// A provider as entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedProvider {
    /// Its code on the wire, and the name of its connection in the settings.
    pub code: String,
    /// Its name for people.
    pub name: String,
    /// Whether purchases from it may be retried.
    pub retries_enabled: bool,
    /// What its connection is declared to do in doubt.
    pub declared: Capabilities,
    /// How many of its purchases all workers together may have in hand.
    pub worker_slots: u16,
}

/// Enters a provider, or changes its name and what it is declared to do in doubt.
pub async fn put_provider(
    database: &Database,
    provider: NewProvider,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let declaration = Declaration {
        name: Some(provider.name),
        repeat_is_safe: Some(provider.declared.repeat_is_safe),
        remembers_refusals: Some(provider.declared.remembers_refusals),
        not_found_counts: Some(provider.declared.not_found_counts),
        settles_within: Some(provider.declared.settles_within),
        worker_slots: None,
    };
    declare_provider(database, provider.code, declaration, act).await.map(drop)
}

/// Enters a provider, or changes only what the declaration names, so that two concurrent operators do not overwrite
/// each other's changes.
///
/// # Errors
/// [`DatabaseError::Absent`] if the provider does not exist and the declaration gives it no name.
pub async fn declare_provider(
    database: &Database,
    code: String,
    declaration: Declaration,
    act: AuditContext,
) -> Result<ListedProvider, DatabaseError> {
    database
        .operate(move |transaction| {
            Box::pin(async move { declare(transaction, code, &declaration, &act).await })
        })
        .await
}

/// Switches on or off whether a retry may settle purchases from a provider.
///
/// # Errors
/// [`DatabaseError::Absent`] if there is no such provider.
pub async fn set_provider_retries(
    database: &Database,
    code: String,
    are_enabled: bool,
    act: AuditContext,
) -> Result<(), DatabaseError> {
    let details = json!({ "retries_enabled": are_enabled });
    let line = Line::new("provider.retries_set", subject(&code), details);
    let set = diesel::update(providers::table.find(code)).set(providers::retries_enabled.eq(are_enabled));
    change(database, set, line, act).await
}

/// All providers.
pub async fn list_providers(database: &Database) -> Result<Vec<ListedProvider>, DatabaseError> {
    database
        .read(move |connection| {
            Box::pin(async move {
                let listed = providers::table.order(providers::code).select(ProviderRow::as_select());
                let rows: Vec<ProviderRow> = listed.load(connection).await?;
                Ok(rows.into_iter().map(ListedProvider::from).collect())
            })
        })
        .await
}

struct DeclareProvider;

impl Statement for DeclareProvider {
    const SQL: &str = "-- declare_provider
-- A field that is not declared keeps the value that the row has once no other transaction is changing it.
INSERT INTO providers (code, name, repeat_is_safe, remembers_refusals, not_found_counts, settles_within_s, worker_slots)
SELECT $1, name, coalesce($3, false), coalesce($4, false), coalesce($5, false), coalesce($6, 600), coalesce($7, 64)
FROM (SELECT coalesce($2, (SELECT known.name FROM providers known WHERE known.code = $1)) AS name) AS named
WHERE name IS NOT NULL
ON CONFLICT (code) DO UPDATE SET name = coalesce($2, providers.name),
    repeat_is_safe = coalesce($3, providers.repeat_is_safe),
    remembers_refusals = coalesce($4, providers.remembers_refusals),
    not_found_counts = coalesce($5, providers.not_found_counts),
    settles_within_s = coalesce($6, providers.settles_within_s), worker_slots = coalesce($7, providers.worker_slots)
RETURNING code, name, retries_enabled, repeat_is_safe, remembers_refusals, not_found_counts, settles_within_s, worker_slots";
}

#[derive(diesel::Queryable, QueryableByName, diesel::Selectable)]
#[diesel(table_name = providers, check_for_backend(diesel::pg::Pg))]
struct ProviderRow {
    code: String,
    name: String,
    retries_enabled: bool,
    #[diesel(embed)]
    declared: DeclaredRow,
    worker_slots: i32,
}

async fn declare(
    transaction: &Transaction,
    code: String,
    declaration: &Declaration,
    act: &AuditContext,
) -> Result<ListedProvider, DatabaseError> {
    let written = prepared::<DeclareProvider>()
        .bind::<Text, _>(code.as_str())
        .bind::<Nullable<Text>, _>(declaration.name.as_deref())
        .bind::<Nullable<Bool>, _>(declaration.repeat_is_safe)
        .bind::<Nullable<Bool>, _>(declaration.remembers_refusals)
        .bind::<Nullable<Bool>, _>(declaration.not_found_counts)
        .bind::<Nullable<Integer>, _>(declaration.settles_within.map(whole_seconds))
        .bind::<Nullable<Integer>, _>(declaration.worker_slots.map(i32::from))
        .load::<ProviderRow>(transaction);
    let Some(row) = written.await?.into_iter().next() else {
        return Err(DatabaseError::Absent { what: "provider", key: code });
    };
    let provider = ListedProvider::from(row);
    let declared = provider.declared;
    let entry = AuditEntry {
        act,
        action: "provider.declared",
        organisation_id: None,
        subject: subject(&code),
        details: json!({
            "repeat_is_safe": declared.repeat_is_safe,
            "remembers_refusals": declared.remembers_refusals,
            "not_found_counts": declared.not_found_counts,
            "settles_within_s": whole_seconds(declared.settles_within),
            "worker_slots": provider.worker_slots,
        }),
    };
    append(transaction, entry).await?;
    Ok(provider)
}

/// Rounds up, because it is a waiting time. The database refuses a value that is too long.
fn whole_seconds(length: Duration) -> i32 {
    let seconds = length.as_secs().saturating_add(u64::from(length.subsec_nanos() > 0));
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

fn subject(code: &str) -> String {
    format!("provider:{code}")
}

impl From<ProviderRow> for ListedProvider {
    fn from(row: ProviderRow) -> Self {
        Self {
            code: row.code,
            name: row.name,
            retries_enabled: row.retries_enabled,
            declared: row.declared.capabilities(),
            // The database keeps it within these bounds.
            worker_slots: u16::try_from(row.worker_slots).unwrap_or(u16::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clock::Clock;
    use database::{Database, DatabaseError, DatabaseSettings, Purpose};
    use directory::AuditContext;
    use local_postgres::LocalDatabase;
    use test_kit::database::migrated;
    use tokio::runtime::Handle;
    use vend::Capabilities;

    use super::{Declaration, declare_provider, list_providers};

    /// A migrated database of its own, connected. Its connections live on this test's runtime.
    async fn database() -> (Database, LocalDatabase) {
        let local = migrated();
        let settings = DatabaseSettings::for_database(local.url());
        (Database::connect(settings, Purpose::Requests, Handle::current()).await.unwrap(), local)
    }

    fn act() -> AuditContext {
        AuditContext { actor: "naledi".to_owned(), reason: "their letter of 12 May".to_owned() }
    }

    async fn declared(database: &Database) -> Capabilities {
        list_providers(database).await.unwrap()[0].declared
    }

    async fn waits_for_a_lock(local: &LocalDatabase) {
        let started = clock::SystemClock.monotonic();
        let waiting = "SELECT count(*) FROM pg_stat_activity \
                       WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while local.run_sql(waiting).unwrap() != "1" {
            let waited = clock::SystemClock.monotonic().elapsed_since(started);
            assert!(waited < Duration::from_secs(20), "no session waits for the lock");
            // The engine of a test runs on this thread, so the wait must not block it.
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    #[tokio::test]
    async fn of_two_operators_who_declare_at_once_neither_undoes_what_the_other_said() {
        let (database, local) = database().await;
        let named = Declaration { name: Some("Botswana Power".to_owned()), ..Declaration::default() };
        declare_provider(&database, "BPC".to_owned(), named, act()).await.unwrap();
        let other = database.begin().await.unwrap();
        other.batch_execute("UPDATE providers SET repeat_is_safe = true").await.unwrap();

        let own = Declaration { not_found_counts: Some(true), ..Declaration::default() };
        let mine = tokio::spawn({
            let database = database.clone();
            async move { declare_provider(&database, "BPC".to_owned(), own, act()).await }
        });
        waits_for_a_lock(&local).await;
        other.commit().await.unwrap();

        let both = Capabilities { repeat_is_safe: true, not_found_counts: true, ..Capabilities::default() };
        assert_eq!(mine.await.unwrap().unwrap().declared, both);
        assert_eq!(declared(&database).await, both);
        let logged = "SELECT details->>'repeat_is_safe' FROM audit_log ORDER BY id DESC LIMIT 1";
        assert_eq!(local.run_sql(logged).unwrap(), "true");
    }

    #[tokio::test]
    async fn a_new_provider_needs_a_name_and_a_known_one_keeps_its_own() {
        let (database, local) = database().await;
        let nameless = Declaration { repeat_is_safe: Some(true), ..Declaration::default() };
        let refused =
            declare_provider(&database, "BPC".to_owned(), nameless.clone(), act()).await.unwrap_err();
        assert!(matches!(refused, DatabaseError::Absent { what: "provider", .. }), "{refused:?}");
        assert_eq!(local.run_sql("SELECT count(*) FROM audit_log").unwrap(), "0");

        let named = Declaration { name: Some("Botswana Power".to_owned()), ..Declaration::default() };
        let entered = declare_provider(&database, "BPC".to_owned(), named, act()).await.unwrap();
        assert_eq!((entered.declared, entered.retries_enabled), (Capabilities::default(), true));
        assert_eq!(entered.worker_slots, 64);
        let changed = declare_provider(&database, "BPC".to_owned(), nameless, act()).await.unwrap();
        assert_eq!((changed.name.as_str(), changed.declared.repeat_is_safe), ("Botswana Power", true));
    }

    #[tokio::test]
    async fn a_provider_keeps_the_slots_that_were_declared_and_has_one_at_least() {
        let (database, local) = database().await;
        let declares = |worker_slots| {
            let name = Some("Botswana Power".to_owned());
            let declaration = Declaration { name, worker_slots, ..Declaration::default() };
            declare_provider(&database, "BPC".to_owned(), declaration, act())
        };
        assert_eq!(declares(Some(8)).await.unwrap().worker_slots, 8);
        assert_eq!(declares(None).await.unwrap().worker_slots, 8);
        let logged = "SELECT details->>'worker_slots' FROM audit_log ORDER BY id DESC LIMIT 1";
        assert_eq!(local.run_sql(logged).unwrap(), "8");
        declares(Some(0)).await.unwrap_err();
        assert_eq!(list_providers(&database).await.unwrap()[0].worker_slots, 8);
    }
}
