//! Idempotency keys: one purchase holds a key, until it fails for a transient reason or ended a week ago.

use std::sync::Arc;

use local_postgres::LocalPostgresError;
use purchase::{Event, Handling, IdempotencyKey, RefusalSource, StateName};
use store::{KeyHolder, Reservation, ReserveError, ReserveRefusal};
use test_kit::wire::Cut;
use tokio::task::JoinSet;
use vend::{Doubt, Refusal, RefusalReason};

use crate::env::{FIRST, Merchant, TestEnv, connect, refusal, settings, under, vended};
use crate::proxy::wired;

const KEY: &str = "till-3/0001";
const METER: &str = "04257670465";

impl TestEnv {
    /// The purchase that holds a merchant's key, if one does.
    async fn holder(&self, merchant: &Merchant, key: &str) -> Option<KeyHolder> {
        let key = IdempotencyKey::parse(key).unwrap();
        self.store.find_key_holder(merchant.authority.client, key).await.unwrap()
    }

    /// Makes a reservation under a key. It must not be refused.
    async fn reserved_under(&self, key: &str, merchant: &Merchant, meter: &str) -> Reservation {
        let order = self.order_under(key, merchant, meter, 1_000).await;
        self.store.reserve(order.clone()).await.unwrap();
        order
    }

    /// Moves the end of every ended purchase back by this length.
    fn ages_ends(&self, length: &str) {
        self.sql(&format!(
            "SET session_replication_role = replica;
             UPDATE purchases SET ended_at = ended_at - interval '{length}' WHERE ended_at IS NOT NULL"
        ));
    }

    /// Tries to reserve a copy of a purchase as another use of its key, past the program, and rolls it back.
    fn forges_use(&self, of: &Reservation, number: i32) -> Result<String, String> {
        let forged = self.database.run_sql(&format!(
            "BEGIN; SET LOCAL ROLE vendgate_api;
             CREATE TEMP TABLE forged AS SELECT * FROM purchases WHERE id = {};
             UPDATE forged SET id = id + 1000000, reserved_no = reserved_no + 1000000, idempotency_use = {number},
                 subscriber_identifier = subscriber_identifier || '9', state = 'IN_FLIGHT', copies = 1,
                 last_sent_at = created_at, due_at = created_at, ended_at = NULL, failure = NULL, failure_reason = NULL,
                 failure_wording = NULL, sealed_token = NULL, token_key_id = NULL, provider_transaction = NULL;
             INSERT INTO purchases OVERRIDING SYSTEM VALUE SELECT * FROM forged;
             ROLLBACK",
            of.id.0
        ));
        match forged {
            Ok(rows) => Ok(rows),
            Err(LocalPostgresError::ProgramFailed { said, .. }) => Err(said),
            Err(other) => panic!("{other}"),
        }
    }
}

fn refused(reason: RefusalReason) -> Event {
    Event::Refused { fence: FIRST, refusal: Refusal::because(reason), source: RefusalSource::Answer }
}

#[tokio::test]
async fn a_purchase_holds_its_key_from_its_reserve_on() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    assert_eq!(env.holder(&merchant, KEY).await, None);
    let order = env.reserved_under(KEY, &merchant, METER).await;
    let held_in = |state| {
        let request = order.keyed.as_ref().unwrap().hash;
        Some(KeyHolder { purchase: order.id, request, state })
    };
    assert_eq!(env.holder(&merchant, KEY).await, held_in(StateName::InFlight));
    let again = env.order_under(KEY, &merchant, "04000000001", 1_000).await;
    assert_eq!(refusal(env.store.reserve(again.clone()).await), ReserveRefusal::KeyTaken);

    env.records(&order, Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    assert_eq!(env.holder(&merchant, KEY).await, held_in(StateName::InDoubt));
    assert_eq!(refusal(env.store.reserve(again.clone()).await), ReserveRefusal::KeyTaken);
    env.records(&order, vended("V1", 1_000)).await;
    assert_eq!(env.holder(&merchant, KEY).await, held_in(StateName::Successful));
    assert_eq!(refusal(env.store.reserve(again).await), ReserveRefusal::KeyTaken);
    assert_eq!((env.count("purchases"), env.balances(merchant.wallet)), (1, "48850|0".to_owned()));
    assert_eq!(env.holder(&merchant, "till-3/0002").await, None);
}

#[tokio::test]
async fn a_refused_reserve_uses_up_no_key() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(5_000).await;
    let dear = env.order_under(KEY, &merchant, METER, 10_000).await;
    assert!(matches!(refusal(env.store.reserve(dear).await), ReserveRefusal::Insufficient { .. }));
    assert_eq!(env.holder(&merchant, KEY).await, None);
    env.reserved_under(KEY, &merchant, METER).await;
}

#[tokio::test]
async fn a_held_key_takes_precedence_over_every_other_refusal() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(1_150).await;
    env.reserved_under(KEY, &merchant, METER).await;
    let same = env.order_under(KEY, &merchant, METER, 1_000).await;
    env.sql("UPDATE organisations SET status = 'SUSPENDED'; UPDATE accounts SET status = 'SUSPENDED'");
    assert_eq!(refusal(env.store.reserve(same).await), ReserveRefusal::KeyTaken);
}

#[tokio::test]
async fn of_two_orders_of_one_group_under_one_key_the_first_has_it() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let mut orders = Vec::new();
    for (key, meter) in [(KEY, "04000000001"), (KEY, "04000000002"), ("other", "04000000003")] {
        orders.push(env.order_under(key, &merchant, meter, 1_000).await);
    }
    let [first, second, other] = <[_; 3]>::try_from(orders).unwrap();
    let mut settings = settings(&env.database);
    settings.lanes = Some(1);
    let store = connect(settings).await;
    let outcomes = tokio::join!(biased; store.reserve(first), store.reserve(second), store.reserve(other));
    assert!(outcomes.0.is_ok() && outcomes.2.is_ok(), "{outcomes:?}");
    assert_eq!(refusal(outcomes.1), ReserveRefusal::KeyTaken);
    assert_eq!(env.balances(merchant.wallet), "50000|2300");
    assert_eq!(env.sql("SELECT count(DISTINCT xmin::text) FROM purchases"), "1", "they were one group");
}

#[tokio::test]
async fn of_two_processes_that_buy_under_one_key_from_two_wallets_at_once_one_buys() {
    let env = TestEnv::open().await;
    let neighbour = connect(settings(&env.database)).await;
    let merchant = env.merchant_with(100_000).await;
    let mut elsewhere = merchant;
    elsewhere.wallet = env.wallet(merchant.authority.organisation, 50_000, Handling::SelfManaged).await;
    for round in 0..20 {
        let key = format!("key-{round}");
        let one = env.order_under(&key, &merchant, &format!("0400000{round:04}"), 1_000).await;
        let other = env.order_under(&key, &elsewhere, &format!("0500000{round:04}"), 1_000).await;
        let (one, other) = tokio::join!(env.store.reserve(one), neighbour.reserve(other));
        let refused = if one.is_ok() { other } else { one };
        assert_eq!(refusal(refused), ReserveRefusal::KeyTaken, "round {round}");
    }
    assert_eq!(env.count("purchases"), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_under_few_keys_from_many_wallets_buys_once_for_each() {
    let env = Arc::new(TestEnv::open().await);
    let merchant = env.merchant_with(10_000_000).await;
    let mut tills = vec![merchant];
    for _ in 0..3 {
        let wallet = env.wallet(merchant.authority.organisation, 10_000_000, Handling::SelfManaged).await;
        tills.push(Merchant { wallet, ..merchant });
    }
    let stores = [env.store.clone(), connect(settings(&env.database)).await];
    for round in 0..2 {
        let mut callers = JoinSet::new();
        for (caller, (till, store)) in (0..96).zip(tills.iter().cycle().zip(stores.iter().cycle())) {
            let id = 10_000 + round * 1_000 + caller;
            let order = env.order_with(till, &format!("04{round}{caller:08}"), 1_000, id);
            // Each wallet uses the keys in its own order, so groups could wait for each other in a cycle.
            let order = under(&format!("key-{}", (caller / 4 * 7 + caller % 4 * 5) % 12), order);
            let store = store.clone();
            callers.spawn(async move { store.reserve(order).await });
        }
        for outcome in callers.join_all().await {
            let expected = matches!(
                outcome,
                Ok(_) | Err(ReserveError::Refused(ReserveRefusal::KeyTaken) | ReserveError::Overloaded)
            );
            assert!(expected, "{outcome:?}");
        }
    }
    let keys =
        env.sql("SELECT count(*), count(DISTINCT idempotency_key), max(idempotency_use) FROM purchases");
    assert_eq!(keys, "12|12|1");
}

#[tokio::test]
async fn a_caller_that_loses_every_race_for_a_key_is_told_that_it_is_taken() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    env.sql(
        "CREATE FUNCTION always_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             RAISE EXCEPTION 'somebody else was first'
                 USING ERRCODE = 'unique_violation', CONSTRAINT = 'purchases_one_per_use_of_key';
         END $$;
         CREATE TRIGGER always_first BEFORE INSERT ON purchases FOR EACH ROW EXECUTE FUNCTION always_first()",
    );
    let order = env.order_under(KEY, &merchant, METER, 1_000).await;
    assert_eq!(refusal(env.store.reserve(order).await), ReserveRefusal::KeyTaken);
    assert_eq!(env.balances(merchant.wallet), "50000|0");
}

#[tokio::test]
async fn another_clients_key_is_another_key() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with(50_000).await, env.merchant_with(50_000).await);
    let order = env.reserved_under(KEY, &merchant, METER).await;
    let others = env.reserved_under(KEY, &other, METER).await;
    assert_eq!(env.holder(&merchant, KEY).await.unwrap().purchase, order.id);
    assert_eq!(env.holder(&other, KEY).await.unwrap().purchase, others.id);
}

#[tokio::test]
async fn a_passing_failure_frees_the_key_and_no_other_does_and_the_database_agrees() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(1_000_000).await;
    for (number, reason) in (10..).zip(RefusalReason::ALL) {
        let (key, meter) = (reason.as_str(), format!("040000000{number}"));
        let order = env.reserved_under(key, &merchant, &meter).await;
        assert!(env.forges_use(&order, 2).unwrap_err().contains("is held"), "{reason:?} while it is open");
        env.records(&order, refused(reason)).await;
        let again = env.order_under(key, &merchant, &meter, 1_000).await;
        if reason.is_transient() {
            assert_eq!(env.holder(&merchant, key).await, None, "{reason:?}");
            assert_eq!(env.forges_use(&order, 2), Ok(String::new()));
            env.store.reserve(again.clone()).await.unwrap();
            assert_eq!(env.holder(&merchant, key).await.unwrap().purchase, again.id);
        } else {
            assert_eq!(env.holder(&merchant, key).await.unwrap().purchase, order.id, "{reason:?}");
            assert_eq!(refusal(env.store.reserve(again).await), ReserveRefusal::KeyTaken, "{reason:?}");
            assert!(env.forges_use(&order, 2).unwrap_err().contains("is held"), "{reason:?}");
        }
    }
}

#[tokio::test]
async fn a_key_freed_by_a_record_of_the_same_group_may_be_used_again() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let warm = env.reserved_under("warm", &merchant, "04000000001").await;
    env.records(&warm, refused(RefusalReason::Busy)).await;
    let order = env.reserved_under(KEY, &merchant, METER).await;
    let again = env.order_under(KEY, &merchant, METER, 1_000).await;
    let (recorded, reserved) = tokio::join!(
        biased;
        env.records(&order, refused(RefusalReason::Busy)),
        env.store.reserve(again.clone()),
    );
    assert_eq!(recorded.lifecycle.state.name(), StateName::Failed);
    reserved.unwrap();
    assert_eq!(env.holder(&merchant, KEY).await.unwrap().purchase, again.id);
    let uses = env.sql(&format!(
        "SELECT string_agg(idempotency_use::text, ' ' ORDER BY id) FROM purchases WHERE idempotency_key = '{KEY}'"
    ));
    assert_eq!(uses, "1 2");
}

#[tokio::test]
async fn a_managed_purchase_holds_its_key_until_no_attempt_is_left() {
    let env = TestEnv::open().await;
    let merchant = env.merchant(50_000, Handling::Managed).await;
    let order = env.reserved_under(KEY, &merchant, METER).await;
    env.records(&order, refused(RefusalReason::Busy)).await;
    assert_eq!(env.state(order.id), "RETRY_DUE");
    let again = env.order_under(KEY, &merchant, METER, 1_000).await;
    assert_eq!(refusal(env.store.reserve(again.clone()).await), ReserveRefusal::KeyTaken);

    env.sql("UPDATE purchases SET window_closes_at = now() - interval '1 s'");
    let fence = env.records(&order, Event::Claimed).await.lifecycle.fence;
    env.records(&order, Event::WindowClosed { fence }).await;
    assert_eq!(env.state(order.id), "FAILED");
    env.store.reserve(again).await.unwrap();
}

#[tokio::test]
async fn a_keyed_reserve_without_acknowledgement_finds_itself_and_later_frees_its_key() {
    for cut in [Cut::Acknowledgement, Cut::Commit] {
        let env = TestEnv::open().await;
        let merchant = env.merchant_with(20_000).await;
        let (wire, settings) = wired(&env.database);
        let store = connect(settings).await;
        let order = env.order_under(KEY, &merchant, METER, 10_000).await;
        wire.cut_at_next_commit(cut);
        let lost = store.reserve(order.clone()).await;
        assert!(matches!(lost, Err(ReserveError::Unacknowledged(_))), "{cut:?}: {lost:?}");

        let kept = cut == Cut::Acknowledgement;
        assert_eq!(env.holder(&merchant, KEY).await.is_some(), kept, "{cut:?}");
        store.reserve(order.clone()).await.unwrap();
        assert_eq!(env.holder(&merchant, KEY).await.unwrap().purchase, order.id);
        assert_eq!((env.count("purchases"), env.balances(merchant.wallet)), (1, "20000|10150".to_owned()));

        env.records(&order, Event::NeverSent { fence: FIRST }).await;
        assert_eq!(env.holder(&merchant, KEY).await, None);
        env.reserved_under(KEY, &merchant, METER).await;
    }
}

#[tokio::test]
async fn an_order_that_was_not_kept_and_finds_its_key_taken_on_a_rerun_is_refused() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (wire, settings) = wired(&env.database);
    let store = connect(settings).await;
    let order = env.order_under(KEY, &merchant, METER, 1_000).await;
    wire.cut_at_next_commit(Cut::Commit);
    store.reserve(order.clone()).await.unwrap_err();
    env.reserved_under(KEY, &merchant, METER).await;
    assert_eq!(refusal(store.reserve(order).await), ReserveRefusal::KeyTaken);
}

#[tokio::test]
async fn a_week_after_its_end_a_purchase_releases_its_key() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    for event in [vended("V1", 1_000), refused(RefusalReason::Blocked)] {
        let order = env.reserved_under(KEY, &merchant, METER).await;
        env.records(&order, event).await;
        env.ages_ends("6 days 23 hours 59 minutes");
        let again = env.order_under(KEY, &merchant, METER, 1_000).await;
        assert_eq!(refusal(env.store.reserve(again.clone()).await), ReserveRefusal::KeyTaken);
        assert_eq!(env.holder(&merchant, KEY).await.unwrap().purchase, order.id);
        assert!(env.forges_use(&order, 2).unwrap_err().contains("is held"));
        env.ages_ends("1 minute");
        assert_eq!(env.holder(&merchant, KEY).await, None);
        env.store.reserve(again.clone()).await.unwrap();
        assert_eq!(env.holder(&merchant, KEY).await.unwrap().purchase, again.id);
        // The next round begins with a free key.
        env.records(&again, refused(RefusalReason::NeverSent)).await;
    }
    assert_eq!(env.sql("SELECT max(idempotency_use) FROM purchases"), "4");
}

#[tokio::test]
async fn no_use_of_a_key_is_skipped_and_no_key_is_moved_or_taken_away() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let order = env.reserved_under(KEY, &merchant, METER).await;
    env.reserved(&merchant, "04000000001", 1_000).await;
    env.records(&order, refused(RefusalReason::Busy)).await;
    for number in [1, 3] {
        assert!(env.forges_use(&order, number).unwrap_err().contains("is held"), "use {number}");
    }
    let open = "WHERE idempotency_key IS NULL";
    for change in ["idempotency_key = 'k'", "idempotency_use = 1", "request_hash = sha256('x')"] {
        let denied = env.database.run_sql(&format!("SET ROLE vendgate_api; UPDATE purchases SET {change}"));
        assert!(denied.unwrap_err().to_string().contains("permission denied"), "{change}");
        let said = env.database.run_sql(&format!("UPDATE purchases SET {change} {open}")).unwrap_err();
        assert!(said.to_string().contains("purchases_key_is_whole"), "{change}: {said}");
    }
    for key in ["", "two words", "clé", &"k".repeat(129)] {
        let whole = format!("idempotency_key = '{key}', idempotency_use = 1, request_hash = sha256('x')");
        let said = env.database.run_sql(&format!("UPDATE purchases SET {whole} {open}")).unwrap_err();
        assert!(said.to_string().contains("purchases_idempotency_key_check"), "{key}: {said}");
    }
}

#[tokio::test]
async fn a_group_without_keys_never_looks_at_them() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let looked = || {
        // Statistics reach the view when a session that gathered them is gone.
        env.sql(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
        env.sql(
            "SELECT string_agg(idx_scan::text, ' ') FROM pg_stat_user_indexes
             WHERE indexrelname IN ('purchases_one_per_use_of_key', 'closed_keys_pkey')",
        )
    };
    let (order, _) = env.reserved(&merchant, METER, 1_000).await;
    env.records(&order, vended("V1", 1_000)).await;
    assert_eq!(looked(), "0 0");
    let keyed = under(KEY, env.order_with(&merchant, METER, 1_000, 1_000_000));
    connect(settings(&env.database)).await.reserve(keyed).await.unwrap();
    assert!(looked().split(' ').all(|scans| scans != "0"), "both indexes are used");
    let from_end_to_end = "SELECT string_agg(seq_scan::text, ' ') FROM pg_stat_user_tables
                           WHERE relname IN ('purchases', 'closed_keys')";
    assert_eq!(env.sql(from_end_to_end), "0 0");
}
