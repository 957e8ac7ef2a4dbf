//! Idempotency keys: one purchase holds a key, until it failed for a passing reason or has been over for a week.

use std::sync::Arc;

use local_postgres::Cut;
use local_postgres::LocalPostgresError;
use purchase::{Fact, Handling, IdempotencyKey, StateName, Told};
use store::{KeyHolder, Reservation, ReserveError, ReserveRefusal};
use tokio::task::JoinSet;
use vend::{Doubt, Refusal, RefusalReason};

use crate::proxy::wired;
use crate::town::{FIRST, Shop, Town, connect, refusal, settings, under, vended};

const KEY: &str = "till-3/0001";
const METER: &str = "04257670465";

impl Town {
    /// The purchase that holds a shop's key, if one does.
    async fn holder(&self, shop: &Shop, key: &str) -> Option<KeyHolder> {
        let key = IdempotencyKey::parse(key).unwrap();
        self.store.find_key_holder(shop.authority.client, key).await.unwrap()
    }

    /// Reserves under a key what must not be refused.
    async fn reserved_under(&self, key: &str, shop: &Shop, meter: &str) -> Reservation {
        let order = self.order_under(key, shop, meter, 1_000).await;
        self.store.reserve(order.clone()).await.unwrap();
        order
    }

    /// Has every purchase that is over have been over for so much longer.
    fn lets_lie(&self, length: &str) {
        self.sql(&format!(
            "SET session_replication_role = replica;
             UPDATE purchases SET ended_at = ended_at - interval '{length}' WHERE ended_at IS NOT NULL"
        ));
    }

    /// Tries to reserve a copy of a purchase as another use of its key, past everything that the program promises, and
    /// leaves no trace of it.
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

fn refused(reason: RefusalReason) -> Fact {
    Fact::Refused { fence: FIRST, refusal: Refusal::because(reason), told: Told::InAnswer }
}

#[tokio::test]
async fn a_purchase_holds_its_key_from_its_reserve_on() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    assert_eq!(town.holder(&shop, KEY).await, None);
    let order = town.reserved_under(KEY, &shop, METER).await;
    let held_in = |state| {
        let request = order.keyed.as_ref().unwrap().hash;
        Some(KeyHolder { purchase: order.id, request, state })
    };
    assert_eq!(town.holder(&shop, KEY).await, held_in(StateName::InFlight));
    let again = town.order_under(KEY, &shop, "04000000001", 1_000).await;
    assert_eq!(refusal(town.store.reserve(again.clone()).await), ReserveRefusal::KeyTaken);

    town.records(&order, Fact::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    assert_eq!(town.holder(&shop, KEY).await, held_in(StateName::InDoubt));
    assert_eq!(refusal(town.store.reserve(again.clone()).await), ReserveRefusal::KeyTaken);
    town.records(&order, vended("V1", 1_000)).await;
    assert_eq!(town.holder(&shop, KEY).await, held_in(StateName::Successful));
    assert_eq!(refusal(town.store.reserve(again).await), ReserveRefusal::KeyTaken);
    assert_eq!((town.count("purchases"), town.balances(shop.wallet)), (1, "48850|0".to_owned()));
    assert_eq!(town.holder(&shop, "till-3/0002").await, None);
}

#[tokio::test]
async fn a_refused_reserve_uses_up_no_key() {
    let town = Town::open().await;
    let shop = town.shop_with(5_000).await;
    let dear = town.order_under(KEY, &shop, METER, 10_000).await;
    assert!(matches!(refusal(town.store.reserve(dear).await), ReserveRefusal::Insufficient { .. }));
    assert_eq!(town.holder(&shop, KEY).await, None);
    town.reserved_under(KEY, &shop, METER).await;
}

#[tokio::test]
async fn a_held_key_is_told_of_before_anything_else_that_would_refuse() {
    let town = Town::open().await;
    let shop = town.shop_with(1_150).await;
    town.reserved_under(KEY, &shop, METER).await;
    let same = town.order_under(KEY, &shop, METER, 1_000).await;
    town.sql("UPDATE organisations SET status = 'SUSPENDED'; UPDATE accounts SET status = 'SUSPENDED'");
    assert_eq!(refusal(town.store.reserve(same).await), ReserveRefusal::KeyTaken);
}

#[tokio::test]
async fn of_two_orders_of_one_group_under_one_key_the_first_has_it() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let mut orders = Vec::new();
    for (key, meter) in [(KEY, "04000000001"), (KEY, "04000000002"), ("other", "04000000003")] {
        orders.push(town.order_under(key, &shop, meter, 1_000).await);
    }
    let [first, second, other] = <[_; 3]>::try_from(orders).unwrap();
    let mut settings = settings(&town.database);
    settings.lanes = 1;
    let store = connect(settings).await;
    let outcomes = tokio::join!(biased; store.reserve(first), store.reserve(second), store.reserve(other));
    assert!(outcomes.0.is_ok() && outcomes.2.is_ok(), "{outcomes:?}");
    assert_eq!(refusal(outcomes.1), ReserveRefusal::KeyTaken);
    assert_eq!(town.balances(shop.wallet), "50000|2300");
    assert_eq!(town.sql("SELECT count(DISTINCT xmin::text) FROM purchases"), "1", "they were one group");
}

#[tokio::test]
async fn of_two_processes_that_buy_under_one_key_from_two_wallets_at_once_one_buys() {
    let town = Town::open().await;
    let neighbour = connect(settings(&town.database)).await;
    let shop = town.shop_with(100_000).await;
    let mut elsewhere = shop;
    elsewhere.wallet = town.wallet(shop.authority.organisation, 50_000, Handling::SelfManaged).await;
    for round in 0..20 {
        let key = format!("key-{round}");
        let one = town.order_under(&key, &shop, &format!("0400000{round:04}"), 1_000).await;
        let other = town.order_under(&key, &elsewhere, &format!("0500000{round:04}"), 1_000).await;
        let (one, other) = tokio::join!(town.store.reserve(one), neighbour.reserve(other));
        let refused = if one.is_ok() { other } else { one };
        assert_eq!(refusal(refused), ReserveRefusal::KeyTaken, "round {round}");
    }
    assert_eq!(town.count("purchases"), 20);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crowd_under_few_keys_from_many_wallets_buys_once_for_each() {
    let town = Arc::new(Town::open().await);
    let shop = town.shop_with(10_000_000).await;
    let mut tills = vec![shop];
    for _ in 0..3 {
        let wallet = town.wallet(shop.authority.organisation, 10_000_000, Handling::SelfManaged).await;
        tills.push(Shop { wallet, ..shop });
    }
    let stores = [town.store.clone(), connect(settings(&town.database)).await];
    for round in 0..2 {
        let mut callers = JoinSet::new();
        for (caller, (till, store)) in (0..96).zip(tills.iter().cycle().zip(stores.iter().cycle())) {
            let id = 10_000 + round * 1_000 + caller;
            let order = town.order_with(till, &format!("04{round}{caller:08}"), 1_000, id);
            // Each wallet has its own order of keys, so that groups could wait for each other in a circle.
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
        town.sql("SELECT count(*), count(DISTINCT idempotency_key), max(idempotency_use) FROM purchases");
    assert_eq!(keys, "12|12|1");
}

#[tokio::test]
async fn whoever_loses_every_race_for_a_key_is_told_that_it_is_taken() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    town.sql(
        "CREATE FUNCTION always_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             RAISE EXCEPTION 'somebody else was first'
                 USING ERRCODE = 'unique_violation', CONSTRAINT = 'purchases_one_per_use_of_key';
         END $$;
         CREATE TRIGGER always_first BEFORE INSERT ON purchases FOR EACH ROW EXECUTE FUNCTION always_first()",
    );
    let order = town.order_under(KEY, &shop, METER, 1_000).await;
    assert_eq!(refusal(town.store.reserve(order).await), ReserveRefusal::KeyTaken);
    assert_eq!(town.balances(shop.wallet), "50000|0");
}

#[tokio::test]
async fn another_clients_key_is_another_key() {
    let town = Town::open().await;
    let (shop, other) = (town.shop_with(50_000).await, town.shop_with(50_000).await);
    let order = town.reserved_under(KEY, &shop, METER).await;
    let others = town.reserved_under(KEY, &other, METER).await;
    assert_eq!(town.holder(&shop, KEY).await.unwrap().purchase, order.id);
    assert_eq!(town.holder(&other, KEY).await.unwrap().purchase, others.id);
}

#[tokio::test]
async fn a_passing_failure_frees_the_key_and_no_other_does_and_the_database_agrees() {
    let town = Town::open().await;
    let shop = town.shop_with(1_000_000).await;
    for (number, reason) in (10..).zip(RefusalReason::ALL) {
        let (key, meter) = (reason.as_str(), format!("040000000{number}"));
        let order = town.reserved_under(key, &shop, &meter).await;
        assert!(town.forges_use(&order, 2).unwrap_err().contains("is held"), "{reason:?} while it is open");
        town.records(&order, refused(reason)).await;
        let again = town.order_under(key, &shop, &meter, 1_000).await;
        if reason.is_transient() {
            assert_eq!(town.holder(&shop, key).await, None, "{reason:?}");
            assert_eq!(town.forges_use(&order, 2), Ok(String::new()));
            town.store.reserve(again.clone()).await.unwrap();
            assert_eq!(town.holder(&shop, key).await.unwrap().purchase, again.id);
        } else {
            assert_eq!(town.holder(&shop, key).await.unwrap().purchase, order.id, "{reason:?}");
            assert_eq!(refusal(town.store.reserve(again).await), ReserveRefusal::KeyTaken, "{reason:?}");
            assert!(town.forges_use(&order, 2).unwrap_err().contains("is held"), "{reason:?}");
        }
    }
}

#[tokio::test]
async fn a_key_freed_by_a_record_of_the_same_group_may_be_used_again() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let warm = town.reserved_under("warm", &shop, "04000000001").await;
    town.records(&warm, refused(RefusalReason::Busy)).await;
    let order = town.reserved_under(KEY, &shop, METER).await;
    let again = town.order_under(KEY, &shop, METER, 1_000).await;
    let (recorded, reserved) = tokio::join!(
        biased;
        town.records(&order, refused(RefusalReason::Busy)),
        town.store.reserve(again.clone()),
    );
    assert_eq!(recorded.life.state.name(), StateName::Failed);
    reserved.unwrap();
    assert_eq!(town.holder(&shop, KEY).await.unwrap().purchase, again.id);
    let uses = town.sql(&format!(
        "SELECT string_agg(idempotency_use::text, ' ' ORDER BY id) FROM purchases WHERE idempotency_key = '{KEY}'"
    ));
    assert_eq!(uses, "1 2");
}

#[tokio::test]
async fn a_managed_purchase_holds_its_key_until_no_attempt_is_left() {
    let town = Town::open().await;
    let shop = town.shop(50_000, Handling::Managed).await;
    let order = town.reserved_under(KEY, &shop, METER).await;
    town.records(&order, refused(RefusalReason::Busy)).await;
    assert_eq!(town.state(order.id), "RETRY_DUE");
    let again = town.order_under(KEY, &shop, METER, 1_000).await;
    assert_eq!(refusal(town.store.reserve(again.clone()).await), ReserveRefusal::KeyTaken);

    town.sql("UPDATE purchases SET window_closes_at = now() - interval '1 s'");
    let fence = town.records(&order, Fact::Claimed).await.life.fence;
    town.records(&order, Fact::WindowClosed { fence }).await;
    assert_eq!(town.state(order.id), "FAILED");
    town.store.reserve(again).await.unwrap();
}

#[tokio::test]
async fn a_keyed_reserve_whose_acknowledgement_is_lost_finds_itself_and_frees_its_key_when_it_is_given_back()
{
    for cut in [Cut::Acknowledgement, Cut::Commit] {
        let town = Town::open().await;
        let shop = town.shop_with(20_000).await;
        let (wire, settings) = wired(&town.database);
        let store = connect(settings).await;
        let order = town.order_under(KEY, &shop, METER, 10_000).await;
        wire.cut_at_next_commit(cut);
        let lost = store.reserve(order.clone()).await;
        assert!(matches!(lost, Err(ReserveError::Unacknowledged(_))), "{cut:?}: {lost:?}");

        let kept = cut == Cut::Acknowledgement;
        assert_eq!(town.holder(&shop, KEY).await.is_some(), kept, "{cut:?}");
        store.reserve(order.clone()).await.unwrap();
        assert_eq!(town.holder(&shop, KEY).await.unwrap().purchase, order.id);
        assert_eq!((town.count("purchases"), town.balances(shop.wallet)), (1, "20000|10150".to_owned()));

        town.records(&order, Fact::NeverSent { fence: FIRST }).await;
        assert_eq!(town.holder(&shop, KEY).await, None);
        town.reserved_under(KEY, &shop, METER).await;
    }
}

#[tokio::test]
async fn an_order_that_was_not_kept_and_finds_its_key_taken_when_it_is_run_again_is_refused() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (wire, settings) = wired(&town.database);
    let store = connect(settings).await;
    let order = town.order_under(KEY, &shop, METER, 1_000).await;
    wire.cut_at_next_commit(Cut::Commit);
    store.reserve(order.clone()).await.unwrap_err();
    town.reserved_under(KEY, &shop, METER).await;
    assert_eq!(refusal(store.reserve(order).await), ReserveRefusal::KeyTaken);
}

#[tokio::test]
async fn a_week_after_its_end_a_purchase_lets_go_of_its_key() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    for fact in [vended("V1", 1_000), refused(RefusalReason::Blocked)] {
        let order = town.reserved_under(KEY, &shop, METER).await;
        town.records(&order, fact).await;
        town.lets_lie("6 days 23 hours 59 minutes");
        let again = town.order_under(KEY, &shop, METER, 1_000).await;
        assert_eq!(refusal(town.store.reserve(again.clone()).await), ReserveRefusal::KeyTaken);
        assert_eq!(town.holder(&shop, KEY).await.unwrap().purchase, order.id);
        assert!(town.forges_use(&order, 2).unwrap_err().contains("is held"));
        town.lets_lie("1 minute");
        assert_eq!(town.holder(&shop, KEY).await, None);
        town.store.reserve(again.clone()).await.unwrap();
        assert_eq!(town.holder(&shop, KEY).await.unwrap().purchase, again.id);
        // The next round begins with a free key.
        town.records(&again, refused(RefusalReason::NeverSent)).await;
    }
    assert_eq!(town.sql("SELECT max(idempotency_use) FROM purchases"), "4");
}

#[tokio::test]
async fn no_use_of_a_key_is_skipped_and_no_key_is_moved_or_taken_away() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let order = town.reserved_under(KEY, &shop, METER).await;
    town.reserved(&shop, "04000000001", 1_000).await;
    town.records(&order, refused(RefusalReason::Busy)).await;
    for number in [1, 3] {
        assert!(town.forges_use(&order, number).unwrap_err().contains("is held"), "use {number}");
    }
    let open = "WHERE idempotency_key IS NULL";
    for change in ["idempotency_key = 'k'", "idempotency_use = 1", "request_hash = sha256('x')"] {
        let denied = town.database.run_sql(&format!("SET ROLE vendgate_api; UPDATE purchases SET {change}"));
        assert!(denied.unwrap_err().to_string().contains("permission denied"), "{change}");
        let said = town.database.run_sql(&format!("UPDATE purchases SET {change} {open}")).unwrap_err();
        assert!(said.to_string().contains("purchases_key_is_whole"), "{change}: {said}");
    }
    for key in ["", "two words", "clé", &"k".repeat(129)] {
        let whole = format!("idempotency_key = '{key}', idempotency_use = 1, request_hash = sha256('x')");
        let said = town.database.run_sql(&format!("UPDATE purchases SET {whole} {open}")).unwrap_err();
        assert!(said.to_string().contains("purchases_idempotency_key_check"), "{key}: {said}");
    }
}

#[tokio::test]
async fn a_group_without_keys_never_looks_at_them() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let looked = || {
        // Statistics reach the view when a session that gathered them is gone.
        town.sql(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
        town.sql(
            "SELECT string_agg(idx_scan::text, ' ') FROM pg_stat_user_indexes
             WHERE indexrelname IN ('purchases_one_per_use_of_key', 'closed_keys_pkey')",
        )
    };
    let (order, _) = town.reserved(&shop, METER, 1_000).await;
    town.records(&order, vended("V1", 1_000)).await;
    assert_eq!(looked(), "0 0");
    let keyed = under(KEY, town.order_with(&shop, METER, 1_000, 1_000_000));
    connect(settings(&town.database)).await.reserve(keyed).await.unwrap();
    assert!(looked().split(' ').all(|scans| scans != "0"), "both are looked at");
    let from_end_to_end = "SELECT string_agg(seq_scan::text, ' ') FROM pg_stat_user_tables
                           WHERE relname IN ('purchases', 'closed_keys')";
    assert_eq!(town.sql(from_end_to_end), "0 0");
}
