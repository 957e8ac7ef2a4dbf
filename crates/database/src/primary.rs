//! Finds the primary among the hosts of an address.
//!
//! All hosts are asked at once, because a lost host does not answer, and each one only knows about itself. With several
//! hosts each is asked again until one accepts writes, so an operation waits through a short switchover.

use std::{sync::Arc, time::Duration};

use tokio::{
    runtime::Handle,
    task::JoinSet,
    time::{error::Elapsed, sleep, timeout},
};

use crate::{
    DatabaseError,
    address::{Address, Host},
    session,
    timeline::{Timeline, Timelines},
};

/// The pause before a host that does not accept writes is asked again.
const ASKED_AGAIN_AFTER: Duration = Duration::from_millis(200);

/// How often each host is asked for its timeline, and how long it has to answer.
const LOOKED_OUT_EVERY: Duration = Duration::from_secs(1);
const ANSWERED_WITHIN: Duration = Duration::from_secs(2);

/// How long the other hosts have to answer after the first one that accepts writes. After a failover the former primary
/// may accept them too, until it notices.
const OTHERS_WITHIN: Duration = Duration::from_millis(50);

/// Opens a connection to the primary on `engine`, with `open`, which refuses a server that does not accept writes. Of
/// several servers that accept writes, the one on the newest timeline is the primary. Ends the attempts that are no longer
/// needed.
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
    Opening: Future<Output = Result<(Timeline, Opened), DatabaseError>> + Send + 'static,
{
    let has_others = address.hosts().len() > 1;
    let mut asked = JoinSet::new();
    for host in address.hosts() {
        asked.spawn_on(ask(host.clone(), has_others, within, open.clone()), engine);
    }
    let mut refusals = Vec::new();
    while let Some(answer) = asked.join_next().await {
        match answer.unwrap_or_else(|lost| Err(DatabaseError::unavailable(lost))) {
            Ok(first) => return Ok(newest(first, asked).await),
            Err(error) => refusals.push(error),
        }
    }
    let most_telling = refusals.into_iter().max_by_key(|refusal| {
        (!may_be_elsewhere(refusal), !matches!(refusal, DatabaseError::Unavailable { .. }))
    });
    Err(most_telling.unwrap_or_else(|| DatabaseError::unavailable("the address has no host")))
}

/// The connection to the server on the newest timeline, among the first one and those of the other hosts.
async fn newest<Opened: 'static>(
    first: (Timeline, Opened),
    mut asked: JoinSet<Result<(Timeline, Opened), DatabaseError>>,
) -> Opened {
    let mut newest = first;
    let others = timeout(OTHERS_WITHIN, async {
        while let Some(answer) = asked.join_next().await {
            if let Ok(Ok(other)) = answer
                && other.0 > newest.0
            {
                newest = other;
            }
        }
    });
    // A host that has not answered by then is a standby, or away.
    let _silent: Result<(), Elapsed> = others.await;
    newest.1
}

async fn ask<Opened, Opening>(
    host: Host,
    has_others: bool,
    within: Duration,
    open: impl Fn(Host) -> Opening,
) -> Result<(Timeline, Opened), DatabaseError>
where
    Opening: Future<Output = Result<(Timeline, Opened), DatabaseError>>,
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

/// Asks every host for its timeline as long as this lives, over a connection of its own, and notes what it says. So a
/// promotion is noticed while all connections of the pools still wait for the former primary. A single host needs none.
#[derive(Debug, Default)]
pub(crate) struct Lookout {
    _asking: JoinSet<()>,
}

impl Lookout {
    /// Begins to ask, on the engine.
    pub(crate) fn begin(address: &Address, timelines: &Timelines, engine: &Handle) -> Self {
        let mut asking = JoinSet::new();
        if let hosts @ [_, _, ..] = address.hosts() {
            for host in hosts {
                asking.spawn_on(look_out(host.clone(), timelines.clone()), engine);
            }
        }
        Self { _asking: asking }
    }
}

async fn look_out(host: Host, timelines: Timelines) {
    loop {
        if let Ok(Ok((client, _driver))) = timeout(ANSWERED_WITHIN, host.connect(&Arc::default())).await {
            while let Ok(Ok(found)) = timeout(ANSWERED_WITHIN, session::timeline(&client)).await {
                if let Some(found) = found {
                    // A former primary may say this as often as it likes.
                    let _refused: Result<(), DatabaseError> = timelines.see(found);
                }
                sleep(LOOKED_OUT_EVERY).await;
            }
        }
        sleep(LOOKED_OUT_EVERY).await;
    }
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
