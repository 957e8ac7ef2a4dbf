//! Reserving: exactly the total is held, or nothing is held and a reason is returned.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use money::Currency;
use purchase::{Fence, Handling, StateName};
use store::{ReserveError, ReserveRefusal};
use test_kit::waiting::until;

use crate::env::{FIRST, TestEnv, act, connect, is_pending, lock_of, pula, refusal, settings, vended};

#[tokio::test]
async fn a_reserve_holds_exactly_the_total_and_puts_the_first_send_on_record() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, reserved) = env.reserved(&merchant, "04257670465", 10_000).await;

    assert_eq!(env.balances(merchant.wallet), "20000|10150");
    assert_eq!(reserved.lifecycle.state.name(), StateName::InFlight);
    assert_eq!(reserved.lifecycle.fence, FIRST);
    let attempts = env.sql("SELECT purchase_id, number, provider_reference FROM attempts");
    assert_eq!(attempts, format!("{}|1|{}", order.id.0, order.provider_reference));
    let history = env.sql("SELECT fact, state, fence, attempt FROM purchase_history");
    assert_eq!(history, "RESERVED|IN_FLIGHT|1|1");
}

#[tokio::test]
async fn a_gap_in_the_balance_is_named_and_nothing_is_held() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10_000).await;
    let order = env.order(&merchant, "04257670465", 10_000).await;
    let refused = refusal(env.store.reserve(order).await);
    assert_eq!(refused, ReserveRefusal::Insufficient { gap: pula(150) });
    assert_eq!(env.balances(merchant.wallet), "10000|0");
    assert_eq!(env.count("purchases"), 0);
}

#[tokio::test]
async fn a_group_is_decided_in_order_of_arrival_and_a_refused_amount_is_not_counted() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10_000).await;
    let mut orders = Vec::new();
    for (meter, net) in [("04000000001", 6_000), ("04000000002", 5_000), ("04000000003", 3_000)] {
        orders.push(env.order(&merchant, meter, net).await);
    }
    // All three are queued before the only lane runs, so the lane takes them as one group.
    let mut settings = settings(&env.database);
    settings.lanes = Some(1);
    let store = connect(settings).await;
    let [first, second, third] = <[_; 3]>::try_from(orders).unwrap();
    let outcomes = tokio::join!(biased; store.reserve(first), store.reserve(second), store.reserve(third));

    assert!(outcomes.0.is_ok() && outcomes.2.is_ok(), "{outcomes:?}");
    assert_eq!(refusal(outcomes.1), ReserveRefusal::Insufficient { gap: pula(1_300) });
    assert_eq!(env.balances(merchant.wallet), "10000|9300");
    assert_eq!(env.sql("SELECT count(DISTINCT xmin::text) FROM purchases"), "1", "they were one group");
}

#[tokio::test]
async fn a_subscriber_has_one_open_purchase_within_a_group_and_after_it() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    let one = env.order(&merchant, "04257670465", 1_000).await;
    let other = env.order(&merchant, "04257670465", 2_000).await;
    let (kept, refused) =
        tokio::join!(biased; env.store.reserve(one.clone()), env.store.reserve(other.clone()));
    assert!(kept.is_ok(), "{kept:?}");
    assert!(is_pending(refusal(refused)));
    assert!(is_pending(refusal(env.store.reserve(other.clone()).await)));

    env.records(&one, vended("V1", 1_000)).await;
    env.store.reserve(other).await.unwrap();
}

#[tokio::test]
async fn a_subscriber_freed_by_a_record_of_the_same_group_may_be_bought_for_again() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    let (one, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    let other = env.order(&merchant, "04257670465", 2_000).await;
    let (recorded, reserved) =
        tokio::join!(biased; env.records(&one, vended("V1", 1_000)), env.store.reserve(other));
    assert_eq!(recorded.lifecycle.state.name(), StateName::Successful);
    reserved.unwrap();
    let groups = env.sql(
        "SELECT count(DISTINCT written) FROM (SELECT xmin::text FROM purchase_events WHERE fact = 'VENDED'
         UNION ALL SELECT xmin::text FROM purchases WHERE id = (SELECT max(id) FROM purchases)) AS rows (written)",
    );
    assert_eq!(groups, "1", "they were one group");
}

#[tokio::test]
async fn of_two_processes_that_buy_for_one_subscriber_at_once_one_is_told_to_wait() {
    let env = TestEnv::open().await;
    for round in 0..20 {
        let merchant = env.merchant_with(100_000).await;
        let mut elsewhere = merchant;
        elsewhere.wallet = env.wallet(merchant.authority.organisation, 50_000, Handling::SelfManaged).await;
        let neighbour = connect(settings(&env.database)).await;
        let one = env.order(&merchant, "04257670465", 1_000).await;
        let other = env.order(&elsewhere, "04257670465", 1_000).await;
        let (one, other) = tokio::join!(env.store.reserve(one), neighbour.reserve(other));
        let refused = if one.is_ok() { other } else { one };
        assert!(is_pending(refusal(refused)), "round {round}");
    }
    assert_eq!(env.count("purchases"), 20);
}

#[tokio::test]
async fn a_reserve_that_is_run_again_is_the_same_reserve_and_holds_once() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, first) = env.reserved(&merchant, "04257670465", 10_000).await;
    let again = env.store.reserve(order.clone()).await.unwrap();
    assert_eq!((&again.lifecycle, again.at), (&first.lifecycle, first.at));
    assert_eq!(env.balances(merchant.wallet), "20000|10150");
    assert_eq!(env.count("purchases"), 1);
    assert_eq!(env.count("attempts"), 1);

    // The process that claims it holds a later fence. A second run of the reserve must not learn that fence.
    env.sql("UPDATE purchases SET lease_until = now() - interval '1 s'");
    let claimed = env.records(&order, purchase::Event::Claimed).await;
    assert_eq!(claimed.lifecycle.fence, Fence(2));
    assert_eq!(env.store.reserve(order).await.unwrap().lifecycle.fence, FIRST);
}

#[tokio::test]
async fn a_wallet_is_debited_only_by_its_own_live_organisation_in_its_own_currency() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with(50_000).await, env.merchant_with(50_000).await);

    let mut foreign = env.order(&merchant, "04000000001", 1_000).await;
    foreign.request.debited_account = other.wallet;
    assert_eq!(refusal(env.store.reserve(foreign).await), ReserveRefusal::UnknownAccount);

    let commission = env.sql(&format!(
        "SELECT id FROM accounts WHERE organisation_id = {} AND category = 'COMMISSION'",
        merchant.authority.organisation.0
    ));
    let mut from_commission = env.order(&merchant, "04000000001", 1_000).await;
    from_commission.request.debited_account = ledger::AccountId(commission.parse().unwrap());
    assert_eq!(refusal(env.store.reserve(from_commission).await), ReserveRefusal::NotDebitable);

    let system_account = env.sql("SELECT id FROM accounts WHERE house = 'FUNDING'");
    let mut from_a_system_account = env.order(&merchant, "04000000001", 1_000).await;
    from_a_system_account.request.debited_account = ledger::AccountId(system_account.parse().unwrap());
    assert_eq!(refusal(env.store.reserve(from_a_system_account).await), ReserveRefusal::UnknownAccount);

    let rand = Currency::parse("ZAR").unwrap();
    let mut in_rand = env.order(&merchant, "04000000001", 1_000).await;
    in_rand.price.total = money::Money::from_minor(1_150, rand);
    let otherwise = ReserveRefusal::OtherCurrency(Currency::parse("BWP").unwrap());
    assert_eq!(refusal(env.store.reserve(in_rand).await), otherwise);

    env.sql(&format!("UPDATE accounts SET status = 'SUSPENDED' WHERE id = {}", merchant.wallet.0));
    let suspended = env.order(&merchant, "04000000001", 1_000).await;
    assert_eq!(refusal(env.store.reserve(suspended).await), ReserveRefusal::NotDebitable);
    assert_eq!(env.count("purchases"), 0);
}

#[tokio::test]
async fn authority_is_checked_again_where_money_moves() {
    let env = TestEnv::open().await;
    for (revoke, expected) in [
        (
            "UPDATE token_families SET revoked_at = now(), revoked_because = 'SECRET_REVOKED' WHERE organisation_id",
            ReserveRefusal::Revoked,
        ),
        ("UPDATE oauth_clients SET status = 'SUSPENDED' WHERE organisation_id", ReserveRefusal::Revoked),
        ("UPDATE users SET status = 'SUSPENDED' WHERE organisation_id", ReserveRefusal::Revoked),
        ("UPDATE organisations SET status = 'SUSPENDED' WHERE id", ReserveRefusal::Suspended),
    ] {
        let merchant = env.merchant_with(50_000).await;
        let order = env.order(&merchant, "04257670465", 1_000).await;
        env.sql(&format!("{revoke} = {}", merchant.authority.organisation.0));
        assert_eq!(refusal(env.store.reserve(order).await), expected, "{revoke}");
    }
    // A token that has merely expired since the request was accepted is not revoked.
    let merchant = env.merchant_with(50_000).await;
    env.sql(
        "UPDATE access_tokens SET created_at = now() - interval '2 h', expires_at = now() - interval '1 h'",
    );
    env.reserved(&merchant, "04257670465", 1_000).await;
}

#[tokio::test]
async fn commission_without_an_account_for_it_is_refused() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    env.sql(&format!(
        "UPDATE accounts SET category = 'TOPUP' WHERE category = 'COMMISSION' AND organisation_id = {}",
        merchant.authority.organisation.0
    ));
    let order = env.order(&merchant, "04257670465", 1_000).await;
    assert_eq!(refusal(env.store.reserve(order).await), ReserveRefusal::NoCommissionAccount);

    let mut without = env.order(&merchant, "04257670465", 1_000).await;
    without.price.commission = pula(0);
    let id = without.id;
    env.store.reserve(without.clone()).await.unwrap();
    env.records(&without, vended("V1", 1_000)).await;
    assert_eq!(env.state(id), "SUCCESSFUL");
    assert_eq!(env.balances(merchant.wallet), "48850|0");
}

#[tokio::test]
async fn a_lane_that_is_full_refuses_reserves_and_still_takes_records() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000_000).await;
    let (order, _) = env.reserved(&merchant, "04999999999", 1_000).await;
    let holder = env.session().await;
    holder.batch_execute(&format!("BEGIN; {}", lock_of(merchant.wallet))).await.unwrap();
    let refusals = Arc::new(AtomicU32::new(0));
    let mut waiting = tokio::task::JoinSet::new();
    for number in 0..1_200 {
        let order = env.order_with(&merchant, &format!("05{number:09}"), 1_000, 10_000 + number);
        let (store, refusals) = (env.store.clone(), refusals.clone());
        waiting.spawn(async move {
            let outcome = store.reserve(order).await;
            let refused = u32::from(matches!(outcome, Err(ReserveError::Overloaded)));
            refusals.fetch_add(refused, Ordering::Relaxed);
            outcome
        });
    }
    let recording = env.records(&order, vended("V1", 1_000));
    let (recorded, ()) = tokio::join!(biased; recording, async {
        until("the lane was full", || refusals.load(Ordering::Relaxed) > 100).await;
        holder.batch_execute("ROLLBACK").await.unwrap();
    });
    assert_eq!(recorded.lifecycle.state.name(), StateName::Successful);
    let outcomes = waiting.join_all().await;
    let refused = outcomes.iter().filter(|outcome| matches!(outcome, Err(ReserveError::Overloaded))).count();
    let reserved = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(reserved + refused, 1_200);
    assert!(refused >= 100, "only {refused} were refused");
    assert_eq!(env.count("purchases"), 1 + i64::try_from(reserved).unwrap());
}

#[tokio::test]
async fn an_offer_or_a_place_on_the_allow_list_that_was_taken_away_counts_at_once() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let order = env.order(&merchant, "04257670465", 1_000).await;
    env.sql("DELETE FROM offers");
    assert_eq!(refusal(env.store.reserve(order.clone()).await), ReserveRefusal::NotOffered);
    assert_eq!((env.balances(merchant.wallet).as_str(), env.count("purchases")), ("50000|0", 0));

    let merchant = env.merchant_with(50_000).await;
    let order = env.order(&merchant, "04257670465", 1_000).await;
    env.sql("UPDATE organisations SET environment = 'STAGING'");
    assert_eq!(refusal(env.store.reserve(order.clone()).await), ReserveRefusal::SubscriberNotAllowed);
    let meter = vec![order.request.subscriber.clone()];
    catalogue::allow(env.operator.database(), merchant.authority.organisation, meter, act()).await.unwrap();
    env.store.reserve(order).await.unwrap();
}
