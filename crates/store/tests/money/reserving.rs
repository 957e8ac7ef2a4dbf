//! Reserving: exactly the total is held, or nothing and a reason.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use money::Currency;
use purchase::{Fence, Handling, StateName};
use store::{ReserveError, ReserveRefusal};

use crate::town::{FIRST, Town, act, connect, is_pending, lock_of, pula, refusal, settings, until, vended};

#[tokio::test]
async fn a_reserve_holds_exactly_the_total_and_puts_the_first_send_on_record() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, reserved) = town.reserved(&shop, "04257670465", 10_000).await;

    assert_eq!(town.balances(shop.wallet), "20000|10150");
    assert_eq!(reserved.life.state.name(), StateName::InFlight);
    assert_eq!(reserved.life.fence, FIRST);
    let attempts = town.sql("SELECT purchase_id, number, provider_reference FROM attempts");
    assert_eq!(attempts, format!("{}|1|{}", order.id.0, order.provider_reference));
    let history = town.sql("SELECT fact, state, fence, attempt FROM purchase_events");
    assert_eq!(history, "RESERVED|IN_FLIGHT|1|1");
}

#[tokio::test]
async fn a_gap_in_the_balance_is_named_and_nothing_is_held() {
    let town = Town::open().await;
    let shop = town.shop_with(10_000).await;
    let order = town.order(&shop, "04257670465", 10_000).await;
    let refused = refusal(town.store.reserve(order).await);
    assert_eq!(refused, ReserveRefusal::Insufficient { gap: pula(150) });
    assert_eq!(town.balances(shop.wallet), "10000|0");
    assert_eq!(town.count("purchases"), 0);
}

#[tokio::test]
async fn in_one_group_orders_are_decided_as_they_came_and_a_refused_ones_money_is_not_counted() {
    let town = Town::open().await;
    let shop = town.shop_with(10_000).await;
    let mut orders = Vec::new();
    for (meter, net) in [("04000000001", 6_000), ("04000000002", 5_000), ("04000000003", 3_000)] {
        orders.push(town.order(&shop, meter, net).await);
    }
    // All three wait behind this lock, so the lane finds them together.
    let mut settings = settings(&town.database);
    settings.lanes = 1;
    let store = connect(settings).await;
    let [first, second, third] = <[_; 3]>::try_from(orders).unwrap();
    let outcomes = tokio::join!(biased; store.reserve(first), store.reserve(second), store.reserve(third));

    assert!(outcomes.0.is_ok() && outcomes.2.is_ok(), "{outcomes:?}");
    assert_eq!(refusal(outcomes.1), ReserveRefusal::Insufficient { gap: pula(1_300) });
    assert_eq!(town.balances(shop.wallet), "10000|9300");
    assert_eq!(town.sql("SELECT count(DISTINCT xmin::text) FROM purchases"), "1", "they were one group");
}

#[tokio::test]
async fn a_subscriber_has_one_open_purchase_within_a_group_and_after_it() {
    let town = Town::open().await;
    let shop = town.shop_with(100_000).await;
    let one = town.order(&shop, "04257670465", 1_000).await;
    let other = town.order(&shop, "04257670465", 2_000).await;
    let (kept, refused) =
        tokio::join!(biased; town.store.reserve(one.clone()), town.store.reserve(other.clone()));
    assert!(kept.is_ok(), "{kept:?}");
    assert!(is_pending(refusal(refused)));
    assert!(is_pending(refusal(town.store.reserve(other.clone()).await)));

    town.records(&one, vended("V1", 1_000)).await;
    town.store.reserve(other).await.unwrap();
}

#[tokio::test]
async fn a_subscriber_freed_by_a_record_of_the_same_group_may_be_bought_for_again() {
    let town = Town::open().await;
    let shop = town.shop_with(100_000).await;
    let (one, _) = town.reserved(&shop, "04257670465", 1_000).await;
    let other = town.order(&shop, "04257670465", 2_000).await;
    let (recorded, reserved) =
        tokio::join!(biased; town.records(&one, vended("V1", 1_000)), town.store.reserve(other));
    assert_eq!(recorded.life.state.name(), StateName::Successful);
    reserved.unwrap();
    let groups = town.sql(
        "SELECT count(DISTINCT xmin::text) FROM purchase_events WHERE fact = 'VENDED' OR purchase_id = (SELECT max(id) FROM purchases)",
    );
    assert_eq!(groups, "1", "they were one group");
}

#[tokio::test]
async fn of_two_processes_that_buy_for_one_subscriber_from_two_wallets_at_once_one_is_told_to_wait() {
    let town = Town::open().await;
    for round in 0..20 {
        let shop = town.shop_with(100_000).await;
        let mut elsewhere = shop;
        elsewhere.wallet = town.wallet(shop.authority.organisation, 50_000, Handling::SelfManaged).await;
        let neighbour = connect(settings(&town.database)).await;
        let one = town.order(&shop, "04257670465", 1_000).await;
        let other = town.order(&elsewhere, "04257670465", 1_000).await;
        let (one, other) = tokio::join!(town.store.reserve(one), neighbour.reserve(other));
        let refused = if one.is_ok() { other } else { one };
        assert!(is_pending(refusal(refused)), "round {round}");
    }
    assert_eq!(town.count("purchases"), 20);
}

#[tokio::test]
async fn a_reserve_that_is_run_again_is_the_same_reserve_and_holds_once() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, first) = town.reserved(&shop, "04257670465", 10_000).await;
    let again = town.store.reserve(order.clone()).await.unwrap();
    assert_eq!((&again.life, again.at), (&first.life, first.at));
    assert_eq!(town.balances(shop.wallet), "20000|10150");
    assert_eq!(town.count("purchases"), 1);
    assert_eq!(town.count("attempts"), 1);

    // Whoever claims it holds a later fence, which the reserve must not learn.
    town.sql("UPDATE purchases SET lease_until = now() - interval '1 s'");
    let claimed = town.records(&order, purchase::Fact::Claimed).await;
    assert_eq!(claimed.life.fence, Fence(2));
    assert_eq!(town.store.reserve(order).await.unwrap().life.fence, FIRST);
}

#[tokio::test]
async fn a_wallet_is_debited_only_by_its_own_live_organisation_in_its_own_currency() {
    let town = Town::open().await;
    let (shop, other) = (town.shop_with(50_000).await, town.shop_with(50_000).await);

    let mut foreign = town.order(&shop, "04000000001", 1_000).await;
    foreign.request.debited_account = other.wallet;
    assert_eq!(refusal(town.store.reserve(foreign).await), ReserveRefusal::UnknownAccount);

    let commission = town.sql(&format!(
        "SELECT id FROM accounts WHERE organisation_id = {} AND category = 'COMMISSION'",
        shop.authority.organisation.0
    ));
    let mut from_commission = town.order(&shop, "04000000001", 1_000).await;
    from_commission.request.debited_account = ledger::AccountId(commission.parse().unwrap());
    assert_eq!(refusal(town.store.reserve(from_commission).await), ReserveRefusal::NotDebitable);

    let house = town.sql("SELECT id FROM accounts WHERE house = 'FUNDING'");
    let mut from_the_house = town.order(&shop, "04000000001", 1_000).await;
    from_the_house.request.debited_account = ledger::AccountId(house.parse().unwrap());
    assert_eq!(refusal(town.store.reserve(from_the_house).await), ReserveRefusal::UnknownAccount);

    let rand = Currency::parse("ZAR").unwrap();
    let mut in_rand = town.order(&shop, "04000000001", 1_000).await;
    in_rand.price.total = money::Money::from_minor(1_150, rand);
    let otherwise = ReserveRefusal::OtherCurrency(Currency::parse("BWP").unwrap());
    assert_eq!(refusal(town.store.reserve(in_rand).await), otherwise);

    town.sql(&format!("UPDATE accounts SET status = 'SUSPENDED' WHERE id = {}", shop.wallet.0));
    let suspended = town.order(&shop, "04000000001", 1_000).await;
    assert_eq!(refusal(town.store.reserve(suspended).await), ReserveRefusal::NotDebitable);
    assert_eq!(town.count("purchases"), 0);
}

#[tokio::test]
async fn authority_is_checked_again_where_money_moves() {
    let town = Town::open().await;
    for (revoke, expected) in [
        (
            "UPDATE token_families SET revoked_at = now(), revoked_because = 'SECRET_REVOKED' WHERE organisation_id",
            ReserveRefusal::Revoked,
        ),
        ("UPDATE oauth_clients SET status = 'SUSPENDED' WHERE organisation_id", ReserveRefusal::Revoked),
        ("UPDATE users SET status = 'SUSPENDED' WHERE organisation_id", ReserveRefusal::Revoked),
        ("UPDATE organisations SET status = 'SUSPENDED' WHERE id", ReserveRefusal::Suspended),
    ] {
        let shop = town.shop_with(50_000).await;
        let order = town.order(&shop, "04257670465", 1_000).await;
        town.sql(&format!("{revoke} = {}", shop.authority.organisation.0));
        assert_eq!(refusal(town.store.reserve(order).await), expected, "{revoke}");
    }
    // A token that has merely expired since the request was let in is not revoked.
    let shop = town.shop_with(50_000).await;
    town.sql(
        "UPDATE access_tokens SET created_at = now() - interval '2 h', expires_at = now() - interval '1 h'",
    );
    town.reserved(&shop, "04257670465", 1_000).await;
}

#[tokio::test]
async fn commission_without_an_account_for_it_is_refused() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    town.sql(&format!(
        "UPDATE accounts SET category = 'TOPUP' WHERE category = 'COMMISSION' AND organisation_id = {}",
        shop.authority.organisation.0
    ));
    let order = town.order(&shop, "04257670465", 1_000).await;
    assert_eq!(refusal(town.store.reserve(order).await), ReserveRefusal::NoCommissionAccount);

    let mut without = town.order(&shop, "04257670465", 1_000).await;
    without.price.commission = pula(0);
    let id = without.id;
    town.store.reserve(without.clone()).await.unwrap();
    town.records(&without, vended("V1", 1_000)).await;
    assert_eq!(town.state(id), "SUCCESSFUL");
    assert_eq!(town.balances(shop.wallet), "48850|0");
}

#[tokio::test]
async fn a_lane_that_is_full_refuses_reserves_and_still_takes_records() {
    let town = Town::open().await;
    let shop = town.shop_with(100_000_000).await;
    let (order, _) = town.reserved(&shop, "04999999999", 1_000).await;
    let holder = town.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(shop.wallet))).await.unwrap();
    let refusals = Arc::new(AtomicU32::new(0));
    let mut waiting = tokio::task::JoinSet::new();
    for number in 0..1_200 {
        let order = town.order_with(&shop, &format!("05{number:09}"), 1_000, 10_000 + number);
        let (store, refusals) = (town.store.clone(), refusals.clone());
        waiting.spawn(async move {
            let outcome = store.reserve(order).await;
            let refused = u32::from(matches!(outcome, Err(ReserveError::Overloaded)));
            refusals.fetch_add(refused, Ordering::Relaxed);
            outcome
        });
    }
    let recording = town.records(&order, vended("V1", 1_000));
    let (recorded, ()) = tokio::join!(biased; recording, async {
        until("the lane was full", || refusals.load(Ordering::Relaxed) > 100).await;
        holder.batch_execute("ROLLBACK").await.unwrap();
    });
    assert_eq!(recorded.life.state.name(), StateName::Successful);
    let outcomes = waiting.join_all().await;
    let refused = outcomes.iter().filter(|outcome| matches!(outcome, Err(ReserveError::Overloaded))).count();
    let reserved = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(reserved + refused, 1_200);
    assert!(refused >= 100, "only {refused} were refused");
    assert_eq!(town.count("purchases"), 1 + i64::try_from(reserved).unwrap());
}

#[tokio::test]
async fn an_offer_or_a_place_on_the_allow_list_that_was_taken_away_counts_at_once() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let order = town.order(&shop, "04257670465", 1_000).await;
    town.sql("DELETE FROM offers");
    assert_eq!(refusal(town.store.reserve(order.clone()).await), ReserveRefusal::NotOffered);
    assert_eq!((town.balances(shop.wallet).as_str(), town.count("purchases")), ("50000|0", 0));

    let shop = town.shop_with(50_000).await;
    let order = town.order(&shop, "04257670465", 1_000).await;
    town.sql("UPDATE organisations SET environment = 'STAGING'");
    assert_eq!(refusal(town.store.reserve(order.clone()).await), ReserveRefusal::SubscriberNotAllowed);
    let meter = vec![order.request.subscriber.clone()];
    town.operator.allow(shop.authority.organisation, meter, act()).await.unwrap();
    town.store.reserve(order).await.unwrap();
}
