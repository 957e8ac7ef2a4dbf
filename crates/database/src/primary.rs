//! Finds the primary among the hosts of an address.
//!
//! All hosts are asked at once, because a lost host does not answer, and each one only knows about itself. With several
//! hosts each is asked again until one accepts writes, so an operation waits through a short switchover.

use std::time::Duration;

use tokio::{
    runtime::Handle,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    DatabaseError,
    address::{Address, Host},
};

/// The pause before a host that does not accept writes is asked again.
const ASKED_AGAIN_AFTER: Duration = Duration::from_millis(200);

/// Opens a connection to the primary on `engine`, with `open`, which refuses a server that does not accept writes. Ends
/// the attempts that are no longer needed.
///
/// # Errors
/// The most telling refusal of a host, if none accepts writes within the time: rather a setting that an operator must
/// correct than that it is a standby, and rather that than that it is away.
pub(crate) async fn connect<Opened, Opening>(
    address: &Address,
    within: Duration,
    engine: &Handle,
    open: impl Fn(Host) -> Opening + Clone + Send + Sync + 'static,
) -> Result<Opened, DatabaseError>
where
    Opened: Send + 'static,
    Opening: Future<Output = Result<Opened, DatabaseError>> + Send + 'static,
{
    let has_others = address.hosts().len() > 1;
    let mut asked = JoinSet::new();
    for host in address.hosts() {
        asked.spawn_on(ask(host.clone(), has_others, within, open.clone()), engine);
    }
    let mut refusals = Vec::new();
    while let Some(answer) = asked.join_next().await {
        match answer.unwrap_or_else(|lost| Err(DatabaseError::unavailable(lost))) {
            Ok(opened) => return Ok(opened),
            Err(error) => refusals.push(error),
        }
    }
    let most_telling = refusals.into_iter().max_by_key(|refusal| match refusal {
        DatabaseError::Unavailable { .. } => 0,
        refusal if may_be_elsewhere(refusal) => 1,
        _ => 2,
    });
    Err(most_telling.unwrap_or_else(|| DatabaseError::unavailable("the address has no host")))
}

async fn ask<Opened, Opening>(
    host: Host,
    has_others: bool,
    within: Duration,
    open: impl Fn(Host) -> Opening,
) -> Result<Opened, DatabaseError>
where
    Opening: Future<Output = Result<Opened, DatabaseError>>,
{
    let mut refusal = None;
    let opened = timeout(within, async {
        loop {
            match open(host.clone()).await {
                Err(error) if has_others && may_be_elsewhere(&error) => refusal = Some(error),
                answer => return answer,
            }
            sleep(ASKED_AGAIN_AFTER).await;
        }
    });
    let opened = opened.await;
    opened.unwrap_or_else(|elapsed| Err(refusal.unwrap_or_else(|| DatabaseError::unavailable(elapsed))))
}

/// Whether the host is away or a standby, so that the primary may be another one.
fn may_be_elsewhere(error: &DatabaseError) -> bool {
    let is_standby = matches!(error, DatabaseError::Setting { name: "transaction_read_only", .. });
    is_standby || matches!(error, DatabaseError::Unavailable { .. })
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, time::Duration};

    use local_postgres::LocalDatabase;

    use crate::{
        DatabaseSettings,
        test_database::{connected, migrated},
    };

    /// The address of the database, with other hosts before its own.
    fn behind(others: &str, local: &LocalDatabase) -> DatabaseSettings {
        let url = local.url().replace("@127.0.0.1", &format!("@{others},127.0.0.1"));
        let mut settings = DatabaseSettings::for_database(url);
        settings.connect_timeout_ms = 3_000;
        settings
    }

    /// A host that accepts connections and never answers, like a machine whose Postgres is stopped.
    fn silent() -> (TcpListener, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = listener.local_addr().unwrap().to_string();
        (listener, place)
    }

    #[tokio::test]
    async fn a_host_that_is_lost_or_silent_does_not_delay_the_connection_to_the_primary() {
        let local = migrated();
        let (_listener, silent) = silent();
        let settings = behind(&format!("127.0.0.1:1,{silent}"), &local);
        let connecting = tokio::time::timeout(Duration::from_millis(2_500), connected(settings));
        let database = connecting.await.unwrap().unwrap();
        database.get().await.unwrap().batch_execute("SELECT 1").await.unwrap();
    }

    #[tokio::test]
    async fn a_connection_waits_until_one_of_several_hosts_accepts_writes() {
        let local = migrated();
        let name = local.name().to_owned();
        local.run_sql(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).unwrap();
        let promoted = local.clone();
        let promotion = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let sql = format!(
                "SET default_transaction_read_only = off; ALTER DATABASE {name} RESET default_transaction_read_only"
            );
            promoted.run_sql(&sql)
        });
        connected(behind("127.0.0.1:1", &local)).await.unwrap();
        promotion.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_cluster_without_a_primary_is_refused_with_the_word_of_the_host_that_answers() {
        let local = migrated();
        let name = local.name();
        local.run_sql(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).unwrap();
        let mut settings = behind("127.0.0.1:1", &local);
        settings.connect_timeout_ms = 500;
        let refused = connected(settings).await.unwrap_err();
        let told = "the database setting transaction_read_only is \"on\" and must be off";
        assert_eq!(refused.to_string(), told);
    }
}
