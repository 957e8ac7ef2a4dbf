//! The protocols that were verified are the ones that run. The inputs and outputs of the real servers' protocols are
//! recorded for purchases of every kind. This process replays the inputs and must produce the same outputs.

use std::{fs, path::PathBuf, str::FromStr, sync::Arc, time::Duration};

use acceptance::{
    checker::Claim,
    fault_injection::{Behaviour, FaultEnv, Order, PATIENT, Route, Victim},
    transcripts::{keeping, replay_all},
};
use failpoint::Trigger;
use futures_util::future::{join, join_all};
use sandbox::{Program, Programs};
use transcript::ReplayError;

use crate::env::turn;

/// The pause between two customers.
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
        console: Program::at(env!("CARGO_BIN_EXE_acceptance-console")),
    }
}

/// Buys one purchase of each kind from each account, at this server.
async fn buy_all_kinds(env: &FaultEnv, server: &str, name: &str) {
    let purchases = Behaviour::ALL.into_iter().flat_map(|behaviour| [(behaviour, false), (behaviour, true)]);
    let purchases = purchases.enumerate().map(async |(nth, (behaviour, is_managed))| {
        let integrator = env.integrators.get(nth % 2).expect("a test environment has two integrators");
        let order = Order {
            account: integrator.account(is_managed).0,
            subscriber: env.takes_meter(),
            external_reference: format!("{name}-{nth}"),
            amount: "25.50".to_owned(),
            route: Route::of(nth + nth / 2).keyed(nth % 3 == 0),
        };
        env.simulator.will(&order.subscriber, behaviour).await;
        // Not all at once: a request that is admitted too late for the gate buys nothing.
        tokio::time::sleep(BETWEEN_TWO * u32::try_from(nth).expect("few")).await;
        for _attempt in 0..5 {
            let claim = integrator.buys(server, env.url(), &order, PATIENT).await;
            if !matches!(claim, Claim::NotBought) {
                break;
            }
        }
    });
    join_all(purchases).await;
}

#[test]
fn the_shipped_protocols_repeat_the_outputs_of_the_servers() {
    let _turn = turn();
    let transcripts = directory().join("transcripts");
    let _absent = fs::remove_dir_all(&transcripts);
    let env = Arc::new(FaultEnv::start(programs(&transcripts), directory()));
    let dies = Trigger::from_str("confirm.answered:3:kill").unwrap();
    let victim = Victim::api_server(&env, "dies-while-it-writes", dies);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let ordinary = buy_all_kinds(&env, env.url(), "ordinary");
        let broken_off = buy_all_kinds(&env, victim.url(), "broken-off");
        join(ordinary, broken_off).await;
        env.comes_to_rest().await;
    });
    let purchases: usize = env.asks("SELECT count(*) FROM purchases").parse().unwrap();
    drop(env);

    let replayed = replay_all(&transcripts).unwrap();
    println!("{replayed:?} of {purchases} purchases");
    assert!(purchases >= 20, "{purchases}");
    assert!(replayed.confirms >= purchases, "{replayed:?}");
    assert!(replayed.resolves >= 20 && replayed.commands >= 200, "{replayed:?}");

    let file = fs::read_dir(&transcripts).unwrap().next().unwrap().unwrap().path();
    let kept = fs::read_to_string(file).unwrap();
    let changed = kept.replacen(r#""command":"send""#, r#""command":"answer""#, 1);
    let is_noticed = matches!(transcript::replay(&changed), Err(ReplayError::Differs { .. }));
    assert!(changed == kept || is_noticed, "a changed output was not noticed");
}
