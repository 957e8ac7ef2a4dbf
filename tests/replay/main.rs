//! What was proven is what runs: every word that the real servers' protocols heard and said, in purchases of every
//! kind, is replayed by the protocols of this process, and they say the same.

use std::{fs, path::PathBuf, str::FromStr, sync::Arc, time::Duration};

use acceptance::{
    checker::Claim,
    storm::{Behaviour, Order, PATIENT, Route, StormTown, Victim},
    transcripts::{keeping, replay_all},
};
use failpoint::Order as FailpointOrder;
use futures_util::future::join_all;
use sandbox::{Program, Programs};
use transcript::ReplayError;

/// Between two customers.
const BETWEEN_TWO: Duration = Duration::from_millis(120);

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("replay")
}

fn programs(transcripts: &std::path::Path) -> Programs {
    let keeping = |path| keeping(&Program::at(path), transcripts);
    Programs {
        api_server: keeping(env!("CARGO_BIN_EXE_acceptance-api-server")),
        retry_worker: keeping(env!("CARGO_BIN_EXE_acceptance-retry-worker")),
        utility_sim: Program::at(env!("CARGO_BIN_EXE_acceptance-utility-sim")),
    }
}

/// One purchase of each kind from each account, at this server.
async fn everybody_buys(town: &StormTown, server: &str, name: &str) {
    let purchases = Behaviour::ALL.into_iter().flat_map(|behaviour| [(behaviour, false), (behaviour, true)]);
    let purchases = purchases.enumerate().map(async |(nth, (behaviour, is_managed))| {
        let integrator = town.integrators.get(nth % 2).expect("a town has two integrators");
        let order = Order {
            account: integrator.account(is_managed).0,
            subscriber: town.takes_meter(),
            external_reference: format!("{name}-{nth}"),
            amount: "25.50".to_owned(),
            route: Route::of(nth + nth / 2).keyed(nth % 3 == 0),
        };
        town.street.will(&order.subscriber, behaviour).await;
        // Not all at once: whoever is let in too late for the gate buys nothing.
        tokio::time::sleep(BETWEEN_TWO * u32::try_from(nth).expect("few")).await;
        for _attempt in 0..5 {
            let claim = integrator.buys(server, town.url(), &order, PATIENT).await;
            if !matches!(claim, Claim::NotBought) {
                break;
            }
        }
    });
    join_all(purchases).await;
}

#[test]
fn the_shipped_protocols_say_again_what_they_said_in_the_servers() {
    let transcripts = directory().join("transcripts");
    let _absent = fs::remove_dir_all(&transcripts);
    let town = Arc::new(StormTown::found(programs(&transcripts), directory()));
    let dies = FailpointOrder::from_str("confirm.answered:3:kill").unwrap();
    let victim = Victim::api_server(&town, "dies-while-it-writes", dies);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        everybody_buys(&town, town.url(), "ordinary").await;
        everybody_buys(&town, victim.url(), "broken-off").await;
        town.comes_to_rest().await;
    });
    let purchases: usize = town.asks("SELECT count(*) FROM purchases").parse().unwrap();
    drop(town);

    let replayed = replay_all(&transcripts).unwrap();
    println!("{replayed:?} of {purchases} purchases");
    assert!(purchases >= 20, "{purchases}");
    assert!(replayed.confirms >= purchases, "{replayed:?}");
    assert!(replayed.resolves >= 20 && replayed.commands >= 200, "{replayed:?}");

    let file = fs::read_dir(&transcripts).unwrap().next().unwrap().unwrap().path();
    let kept = fs::read_to_string(file).unwrap();
    let changed = kept.replacen(r#""says":{"command":"send"}"#, r#""says":{"command":"answer"}"#, 1);
    let is_noticed = matches!(transcript::replay(&changed), Err(ReplayError::Differs { .. }));
    assert!(changed == kept || is_noticed, "a word that was changed goes unnoticed");
}
