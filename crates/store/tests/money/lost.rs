//! Lost acknowledgements: nobody knows, and the same again with the same numbers makes it one.

use local_postgres::Cut;
use purchase::{Fact, StateName};
use store::{RecordError, ReserveError, ReserveRefusal, StoreSettings, Verdict};
use vend::Doubt;

use crate::proxy::wired;
use crate::town::{FIRST, Town, connect, refusal, settings, until, vended};

#[tokio::test]
async fn a_reserve_whose_acknowledgement_is_lost_is_one_reserve_when_it_is_run_again() {
    for (cut, kept) in [(Cut::Acknowledgement, "20000|10150"), (Cut::Commit, "20000|0")] {
        let town = Town::open().await;
        let shop = town.shop_with(20_000).await;
        let (wire, settings) = wired(&town.database);
        let store = connect(settings).await;
        let order = town.order(&shop, "04257670465", 10_000).await;

        wire.cut_at_next_commit(cut);
        let lost = store.reserve(order.clone()).await;
        assert!(matches!(lost, Err(ReserveError::Unacknowledged(_))), "{cut:?}: {lost:?}");
        assert!(wire.has_cut());
        assert_eq!(town.balances(shop.wallet), kept, "{cut:?}");

        let again = store.reserve(order.clone()).await.unwrap();
        assert_eq!((again.life.state.name(), again.life.fence), (StateName::InFlight, FIRST));
        assert_eq!(town.balances(shop.wallet), "20000|10150");
        assert_eq!((town.count("purchases"), town.count("attempts")), (1, 1));
        // What was never sent is given back under the reserve's own fence.
        let back =
            store.record(order.id, shop.authority.organisation, Fact::NeverSent { fence: FIRST }).await;
        assert_eq!(back.unwrap().life.state.name(), StateName::Failed);
        assert_eq!(town.balances(shop.wallet), "20000|0");
    }
}

/// The commit of a first run lies in a buffer, and what would refuse a second run has come about meanwhile.
#[tokio::test]
async fn no_second_run_of_a_reserve_is_refused_while_the_commit_of_the_first_may_still_arrive() {
    for arrives_in_time in [true, false] {
        let town = Town::open().await;
        let shop = town.shop_with(20_000).await;
        let (wire, through_it) = wired(&town.database);
        let impatient = StoreSettings { commit_deadline_ms: 200, ..through_it };
        let store = connect(impatient).await;
        let hasty = connect(StoreSettings { lock_timeout_ms: 100, ..settings(&town.database) }).await;
        let order = town.order(&shop, "04257670465", 10_000).await;

        wire.cut_at_next_commit(Cut::Delay);
        let lost = store.reserve(order.clone()).await;
        assert!(matches!(lost, Err(ReserveError::Unacknowledged(_))), "{lost:?}");
        town.sql("UPDATE organisations SET status = 'SUSPENDED'");
        for _run in 0..3 {
            let again = hasty.reserve(order.clone()).await;
            assert!(matches!(again, Err(ReserveError::Overloaded)), "{again:?}");
        }
        assert_eq!(town.count("purchases"), 0, "it is not committed yet");

        if arrives_in_time {
            wire.delivers();
            until("it is committed", || town.count("purchases") == 1).await;
            let again = hasty.reserve(order.clone()).await.unwrap();
            assert_eq!(again.life.fence, FIRST);
            assert_eq!(town.balances(shop.wallet), "20000|10150");
        } else {
            // The server gives the transaction up, and only then is the wallet free for a refusal.
            town.sql(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                 WHERE datname = current_database() AND state = 'idle in transaction'",
            );
            assert_eq!(refusal(hasty.reserve(order.clone()).await), ReserveRefusal::Suspended);
            wire.delivers();
            assert_eq!(refusal(hasty.reserve(order.clone()).await), ReserveRefusal::Suspended);
            assert_eq!((town.count("purchases"), town.balances(shop.wallet).as_str()), (0, "20000|0"));
        }
    }
}

#[tokio::test]
async fn a_settlement_whose_acknowledgement_is_lost_is_one_settlement_when_it_is_run_again() {
    for (cut, verdict) in [(Cut::Acknowledgement, Verdict::AlreadyThere), (Cut::Commit, Verdict::Moved)] {
        let town = Town::open().await;
        let shop = town.shop_with(20_000).await;
        let (wire, settings) = wired(&town.database);
        let store = connect(settings).await;
        let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;

        wire.cut_at_next_commit(cut);
        let of = shop.authority.organisation;
        let lost = store.record(order.id, of, vended("V1", 10_000)).await;
        assert!(matches!(lost, Err(RecordError::Unacknowledged(_))), "{cut:?}: {lost:?}");
        let again = store.record(order.id, of, vended("V1", 10_000)).await.unwrap();
        assert_eq!((again.verdict, again.life.state.name()), (verdict, StateName::Successful));
        assert_eq!(town.count("journal_entries WHERE kind = 'SETTLE'"), 1);
        assert_eq!(town.balances(shop.wallet), "9850|0");
    }
}

#[tokio::test]
async fn every_other_record_is_kept_once_as_well() {
    for fact in [Fact::Lost { fence: FIRST, why: Doubt::TimedOut.into() }, Fact::NeverSent { fence: FIRST }] {
        let town = Town::open().await;
        let shop = town.shop_with(20_000).await;
        let (wire, settings) = wired(&town.database);
        let store = connect(settings).await;
        let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
        wire.cut_at_next_commit(Cut::Acknowledgement);
        let of = shop.authority.organisation;
        store.record(order.id, of, fact.clone()).await.unwrap_err();
        let again = store.record(order.id, of, fact).await.unwrap();
        assert_eq!(again.verdict, Verdict::AlreadyThere);
        assert_eq!(town.count("purchase_events"), 2);
    }
}

#[tokio::test]
async fn connections_that_died_while_nobody_used_them_cost_nobody_anything() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let (order, _) = town.reserved(&shop, "04000000001", 1_000).await;
    for round in 2..6 {
        town.sql(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
        let order = town.order_with(&shop, &format!("0400000000{round}"), 1_000, 1_000 + round);
        town.store.reserve(order).await.unwrap();
    }
    assert_eq!(town.records(&order, vended("V1", 1_000)).await.verdict, Verdict::Moved);
    assert_eq!(town.count("purchases"), 5);
}

#[tokio::test]
async fn a_group_that_loses_its_connection_before_the_commit_is_run_again() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let holder = town.session().await;
    holder.batch_execute(&format!("BEGIN; {}", crate::town::lock_of(shop.wallet))).await.unwrap();
    let order = town.order(&shop, "04257670465", 1_000).await;
    let store = town.store.clone();
    let reserving = tokio::spawn(async move { store.reserve(order).await });
    let blocked =
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    crate::town::until("the group waits", || !town.sql(blocked).is_empty()).await;
    town.sql(&format!("SELECT pg_terminate_backend(({blocked}), 5000)"));
    holder.batch_execute("ROLLBACK").await.unwrap();
    reserving.await.unwrap().unwrap();
    assert_eq!(town.balances(shop.wallet), "50000|1150");
}
