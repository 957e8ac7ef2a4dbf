//! Lost acknowledgements: the caller does not know the outcome, and a second run with the same numbers has no
//! further effect.

use database::DatabaseSettings;
use purchase::{Event, StateName};
use store::{RecordError, ReserveError, ReserveRefusal, Verdict};
use test_kit::waiting::until;
use test_kit::wire::Cut;
use vend::Doubt;

use crate::{
    env::{FIRST, TestEnv, connect, refusal, settings, vended},
    proxy::wired,
};

#[tokio::test]
async fn a_reserve_whose_acknowledgement_is_lost_is_one_reserve_when_it_is_run_again() {
    for (cut, kept) in [(Cut::Acknowledgement, "20000|10150"), (Cut::Commit, "20000|0")] {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with(20_000).await;
        let (wire, settings) = wired(&env.database);
        let store = connect(settings).await;
        let order = env.order(&merchant, "04257670465", 10_000).await;

        wire.cut_at_next_commit(cut);
        let lost = store.reserve(order.clone()).await;
        assert!(matches!(lost, Err(ReserveError::Unacknowledged(_))), "{cut:?}: {lost:?}");
        assert!(wire.has_cut());
        assert_eq!(env.balances(merchant.wallet), kept, "{cut:?}");

        let again = store.reserve(order.clone()).await.unwrap();
        assert_eq!((again.lifecycle.state.name(), again.lifecycle.fence), (StateName::InFlight, FIRST));
        assert_eq!(again.is_new, cut == Cut::Commit, "{cut:?}");
        assert_eq!(env.balances(merchant.wallet), "20000|10150");
        assert_eq!((env.count("purchases"), env.count("attempts")), (1, 1));
        // A reserve that was never sent is released under its own fence.
        let back =
            store.record(order.id, merchant.authority.organisation, Event::NeverSent { fence: FIRST }).await;
        assert_eq!(back.unwrap().lifecycle.state.name(), StateName::Failed);
        assert_eq!(env.balances(merchant.wallet), "20000|0");
    }
}

/// The commit of the first run is delayed in a buffer. Meanwhile a reason to refuse a second run has come up.
#[tokio::test]
async fn no_second_reserve_is_refused_while_the_first_commit_may_still_arrive() {
    for arrives_in_time in [true, false] {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with(20_000).await;
        let (wire, through_it) = wired(&env.database);
        let impatient = DatabaseSettings { commit_deadline_ms: 200, ..through_it };
        let store = connect(impatient).await;
        let hasty = connect(DatabaseSettings { lock_timeout_ms: 100, ..settings(&env.database) }).await;
        let order = env.order(&merchant, "04257670465", 10_000).await;

        wire.cut_at_next_commit(Cut::Delay);
        let lost = store.reserve(order.clone()).await;
        assert!(matches!(lost, Err(ReserveError::Unacknowledged(_))), "{lost:?}");
        env.sql("UPDATE organisations SET status = 'SUSPENDED'");
        for _run in 0..3 {
            let again = hasty.reserve(order.clone()).await;
            assert!(matches!(again, Err(ReserveError::Overloaded)), "{again:?}");
        }
        assert_eq!(env.count("purchases"), 0, "it is not committed yet");

        if arrives_in_time {
            wire.delivers();
            until("it is committed", || env.count("purchases") == 1).await;
            let again = hasty.reserve(order.clone()).await.unwrap();
            assert_eq!(again.lifecycle.fence, FIRST);
            assert_eq!(env.balances(merchant.wallet), "20000|10150");
        } else {
            // The server aborts the transaction. Only then is the wallet free for a refusal.
            env.sql(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                 WHERE datname = current_database() AND state = 'idle in transaction'",
            );
            assert_eq!(refusal(hasty.reserve(order.clone()).await), ReserveRefusal::Suspended);
            wire.delivers();
            assert_eq!(refusal(hasty.reserve(order.clone()).await), ReserveRefusal::Suspended);
            assert_eq!((env.count("purchases"), env.balances(merchant.wallet).as_str()), (0, "20000|0"));
        }
    }
}

#[tokio::test]
async fn a_settlement_whose_acknowledgement_is_lost_is_one_settlement_after_a_rerun() {
    for (cut, verdict) in [(Cut::Acknowledgement, Verdict::AlreadyThere), (Cut::Commit, Verdict::Moved)] {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with(20_000).await;
        let (wire, settings) = wired(&env.database);
        let store = connect(settings).await;
        let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;

        wire.cut_at_next_commit(cut);
        let of = merchant.authority.organisation;
        let lost = store.record(order.id, of, vended("V1", 10_000)).await;
        assert!(matches!(lost, Err(RecordError::Unacknowledged(_))), "{cut:?}: {lost:?}");
        let again = store.record(order.id, of, vended("V1", 10_000)).await.unwrap();
        assert_eq!((again.verdict, again.lifecycle.state.name()), (verdict, StateName::Successful));
        assert_eq!(env.count("journal_entries WHERE kind = 'SETTLE'"), 1);
        assert_eq!(env.balances(merchant.wallet), "9850|0");
    }
}

#[tokio::test]
async fn every_other_record_is_kept_once_as_well() {
    for event in
        [Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() }, Event::NeverSent { fence: FIRST }]
    {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with(20_000).await;
        let (wire, settings) = wired(&env.database);
        let store = connect(settings).await;
        let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
        wire.cut_at_next_commit(Cut::Acknowledgement);
        let of = merchant.authority.organisation;
        store.record(order.id, of, event.clone()).await.unwrap_err();
        let again = store.record(order.id, of, event).await.unwrap();
        assert_eq!(again.verdict, Verdict::AlreadyThere);
        assert_eq!(env.count("purchase_history"), 2);
    }
}

#[tokio::test]
async fn connections_that_died_while_idle_cause_no_failure() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    for round in 2..6 {
        env.sql(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
        let order = env.order_with(&merchant, &format!("0400000000{round}"), 1_000, 1_000 + round);
        env.store.reserve(order).await.unwrap();
    }
    assert_eq!(env.records(&order, vended("V1", 1_000)).await.verdict, Verdict::Moved);
    assert_eq!(env.count("purchases"), 5);
}

#[tokio::test]
async fn a_group_that_loses_its_connection_before_the_commit_is_run_again() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", crate::env::lock_of(merchant.wallet))).await.unwrap();
    let order = env.order(&merchant, "04257670465", 1_000).await;
    let store = env.store.clone();
    let reserving = tokio::spawn(async move { store.reserve(order).await });
    let blocked =
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until("the group waits", || !env.sql(blocked).is_empty()).await;
    env.sql(&format!("SELECT pg_terminate_backend(({blocked}), 5000)"));
    holder.batch_execute("ROLLBACK").await.unwrap();
    reserving.await.unwrap().unwrap();
    assert_eq!(env.balances(merchant.wallet), "50000|1150");
}
