//! Recording the outcome of a purchase: the hold is captured or released, once, and only by proof.

use purchase::{Event, Failure, Fence, Handling, RefusalSource, StateName, Why};
use store::{RecordError, Recorded, Reservation, Sealed, Verdict};
use test_kit::purchases::sealing_keys;
use vend::{CallId, Capabilities, Doubt, ProviderReference, Refusal, RefusalReason, Unclear};

use crate::env::{FIRST, TOKEN, TestEnv, vended};

const BLOCKED: Refusal = Refusal::because(RefusalReason::Blocked);

fn refused(refusal: Refusal) -> Event {
    Event::Refused { fence: FIRST, refusal, source: RefusalSource::Answer }
}

fn lost() -> Event {
    Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() }
}

fn state(recorded: &Recorded) -> (Verdict, StateName) {
    (recorded.verdict, recorded.lifecycle.state.name())
}

fn illegal(recorded: &Recorded) -> Why {
    match recorded.verdict {
        Verdict::Illegal(illegal) => illegal.why,
        other @ (Verdict::Moved | Verdict::AlreadyThere) => panic!("not illegal: {other:?}"),
    }
}

/// Ends the leases of all purchases.
fn leases_run_out(env: &TestEnv) {
    env.sql("UPDATE purchases SET lease_until = now() - interval '1 second' WHERE lease_until IS NOT NULL");
}

async fn in_doubt(env: &TestEnv) -> Reservation {
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    env.records(&order, lost()).await;
    order
}

#[tokio::test]
async fn a_vend_captures_the_hold_and_pays_provider_fee_and_commission() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    let recorded = env.records(&order, vended("V1", 10_000)).await;

    assert_eq!(state(&recorded), (Verdict::Moved, StateName::Successful));
    assert_eq!(recorded.lifecycle.lease_until, None);
    assert_eq!(env.balances(merchant.wallet), "9850|0");
    let moves = env.sql(
        "SELECT coalesce(d.house, d.category), coalesce(c.house, c.category), p.currency, p.amount
         FROM postings p JOIN journal_entries e ON e.id = p.entry_id AND e.kind = 'SETTLE'
         JOIN accounts d ON d.id = p.debit_account_id JOIN accounts c ON c.id = p.credit_account_id ORDER BY amount",
    );
    let expected = "COMMISSION_EXPENSE|COMMISSION|BWP|100\n\
                    CURRENT|FEE_INCOME|BWP|150\n\
                    CURRENT|PROVIDER_PAYABLE|BWP|10000";
    assert_eq!(moves, expected);
    let commission = "SELECT posted, held FROM accounts WHERE category = 'COMMISSION'";
    assert_eq!(env.sql(commission), "100|0");
    let history = env.sql("SELECT fact, detail, state FROM purchase_history ORDER BY id");
    assert_eq!(history, "RESERVED||IN_FLIGHT\nVENDED|V1|SUCCESSFUL");
}

#[tokio::test]
async fn a_refusal_gives_the_hold_back_and_its_words_are_kept() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    let refusal =
        Refusal { reason: RefusalReason::Blocked, wording: Some("Meter blocked: see office".into()) };
    let recorded = env.records(&order, refused(refusal.clone())).await;

    assert_eq!(state(&recorded), (Verdict::Moved, StateName::Failed));
    assert_eq!(env.balances(merchant.wallet), "20000|0");
    assert_eq!(env.count("journal_entries WHERE kind = 'SETTLE'"), 0);
    let record = env.store.get_record(order.id).await.unwrap();
    assert_eq!(record.failure, Some(Failure::Refused(refusal)));
    assert_eq!(record.success, None);
}

#[tokio::test]
async fn a_purchase_that_was_never_sent_is_released() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    env.records(&order, Event::NeverSent { fence: FIRST }).await;
    assert_eq!(env.balances(merchant.wallet), "20000|0");
    let record = env.store.get_record(order.id).await.unwrap();
    assert_eq!(record.failure, Some(Failure::Refused(Refusal::because(RefusalReason::NeverSent))));
}

#[tokio::test]
async fn doubt_keeps_the_hold_and_gives_the_lease_up() {
    let env = TestEnv::open().await;
    let order = in_doubt(&env).await;
    assert_eq!(env.balances(order.request.debited_account), "50000|10150");
    assert_eq!(env.sql("SELECT state, lease_until IS NULL FROM purchases"), "IN_DOUBT|t");
}

#[tokio::test]
async fn every_record_that_is_run_again_is_already_there_and_does_nothing_twice() {
    let env = TestEnv::open().await;
    for (number, event) in
        (0..).zip([vended("V1", 10_000), refused(BLOCKED), Event::NeverSent { fence: FIRST }, lost()])
    {
        let merchant = env.merchant_with(20_000).await;
        let (order, _) = env.reserved(&merchant, &format!("0400000000{number}"), 10_000).await;
        let first = env.records(&order, event.clone()).await;
        let balances = env.balances(merchant.wallet);
        let written = env.sql(
            "SELECT (SELECT count(*) FROM purchase_history), (SELECT count(*) FROM postings),
            (SELECT count(*) FROM provider_replies)",
        );
        for _ in 0..2 {
            let again = env.records(&order, event.clone()).await;
            assert_eq!(
                (again.verdict, &again.lifecycle),
                (Verdict::AlreadyThere, &first.lifecycle),
                "{event:?}"
            );
        }
        // And the same twice in one group.
        let (one, other) =
            tokio::join!(biased; env.records(&order, event.clone()), env.records(&order, event.clone()));
        assert_eq!((one.verdict, other.verdict), (Verdict::AlreadyThere, Verdict::AlreadyThere));
        assert_eq!(env.balances(merchant.wallet), balances);
        let now = env.sql(
            "SELECT (SELECT count(*) FROM purchase_history), (SELECT count(*) FROM postings),
            (SELECT count(*) FROM provider_replies)",
        );
        assert_eq!(now, written, "{event:?}");
    }
}

#[tokio::test]
async fn the_same_event_twice_in_one_group_settles_once() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    let (one, other) = tokio::join!(
        biased;
        env.records(&order, vended("V1", 10_000)),
        env.records(&order, vended("V1", 10_000)),
    );
    assert_eq!((one.verdict, other.verdict), (Verdict::Moved, Verdict::AlreadyThere));
    assert_eq!(env.count("journal_entries WHERE kind = 'SETTLE'"), 1);
    assert_eq!(env.balances(merchant.wallet), "9850|0");
}

#[tokio::test]
async fn a_claim_waits_for_the_lease_and_a_stale_fence_changes_nothing() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    assert_eq!(illegal(&env.records(&order, Event::Claimed).await), Why::Leased);
    leases_run_out(&env);
    let claimed = env.records(&order, Event::Claimed).await;
    assert_eq!((claimed.lifecycle.fence, claimed.lifecycle.state.name()), (Fence(2), StateName::InDoubt));

    for stale in [refused(BLOCKED), lost(), Event::NeverSent { fence: FIRST }] {
        let outcome = env.records(&order, stale).await;
        assert_eq!(illegal(&outcome), Why::StaleFence);
        assert_eq!(outcome.lifecycle, claimed.lifecycle);
    }
    assert_eq!(env.balances(merchant.wallet), "20000|10150");
    assert_eq!(env.count("purchase_history"), 2);

    // Evidence needs no fence.
    let settled = env.records(&order, vended("V1", 10_000)).await;
    assert_eq!(state(&settled), (Verdict::Moved, StateName::Successful));
}

#[tokio::test]
async fn a_vend_found_after_the_refund_opens_one_incident_and_changes_nothing_else() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    env.records(&order, refused(BLOCKED)).await;

    let late = env.records(&order, vended("V1", 10_000)).await;
    assert_eq!(state(&late), (Verdict::Moved, StateName::Failed));
    let again = env.records(&order, vended("V1", 10_000)).await;
    assert_eq!(state(&again), (Verdict::AlreadyThere, StateName::Failed));
    assert_eq!(env.balances(merchant.wallet), "20000|0");
    let incidents = env.sql("SELECT kind, provider_transaction, sealed_token IS NOT NULL FROM incidents");
    assert_eq!(incidents, "LATE_VEND|V1|t");
    let moves = env.sql(
        "SELECT d.house, c.house, p.amount FROM postings p
         JOIN journal_entries e ON e.id = p.entry_id AND e.kind = 'INCIDENT'
         JOIN accounts d ON d.id = p.debit_account_id JOIN accounts c ON c.id = p.credit_account_id",
    );
    assert_eq!(moves, "SUSPENSE|PROVIDER_PAYABLE|10000");
}

#[tokio::test]
async fn each_further_vend_of_one_purchase_is_an_incident_of_its_own_even_in_one_group() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    tokio::join!(
        biased;
        env.records(&order, vended("V1", 10_000)),
        env.records(&order, vended("V2", 10_000)),
        env.records(&order, vended("V3", 10_000)),
    );
    assert_eq!(env.balances(merchant.wallet), "9850|0");
    let incidents = env.sql("SELECT kind, provider_transaction FROM incidents ORDER BY id");
    assert_eq!(incidents, "SECOND_VEND|V2\nSECOND_VEND|V3");
    let moves = "postings p JOIN journal_entries e ON e.id = p.entry_id WHERE e.kind = 'INCIDENT'";
    assert_eq!(env.count(moves), 2);
    let record = env.store.get_record(order.id).await.unwrap();
    assert_eq!(record.success.unwrap().provider_transaction, "V1");
}

/// Moves the last send and the window of every purchase back by this many minutes.
fn minutes_ago(env: &TestEnv, minutes: u32) {
    env.sql(&format!(
        "UPDATE purchases SET last_sent_at = last_sent_at - interval '{minutes} min',
         window_closes_at = window_closes_at - interval '{minutes} min'"
    ));
}

#[tokio::test]
async fn a_managed_purchase_that_is_refused_for_now_is_attempted_again_under_a_new_name() {
    let env = TestEnv::open().await;
    let merchant = env.merchant(20_000, Handling::Managed).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    let busy = refused(Refusal::because(RefusalReason::Busy));
    assert_eq!(env.records(&order, busy).await.lifecycle.state.name(), StateName::RetryDue);
    env.records(&order, Event::Claimed).await;
    minutes_ago(&env, 2);
    let call = CallId::new(777_777, order.provider_reference.call().at()).unwrap();
    let reference = ProviderReference::new(call);
    let started = env.records(&order, Event::AttemptStarted { fence: Fence(2), reference }).await;

    assert_eq!((started.lifecycle.attempt, started.lifecycle.state.name()), (2, StateName::InFlight));
    assert_eq!(env.count("attempts"), 2);
    assert_eq!(env.store.get_record(order.id).await.unwrap().provider_reference, reference);
    assert_eq!(env.balances(merchant.wallet), "20000|10150");
    env.records(&order, vended("V2", 10_000)).await;
    assert_eq!(env.balances(merchant.wallet), "9850|0");
}

#[tokio::test]
async fn the_same_order_is_sent_again_only_where_the_connection_is_declared_to_bear_it() {
    let env = TestEnv::open().await;
    let order = in_doubt(&env).await;
    env.records(&order, Event::Claimed).await;
    let again = Event::SentAgain { fence: Fence(2) };
    assert_eq!(illegal(&env.records(&order, again.clone()).await), Why::RepeatNotSafe);
    env.declare(Capabilities { repeat_is_safe: true, ..Capabilities::default() }).await;
    assert_eq!(illegal(&env.records(&order, again.clone()).await), Why::NotDue);
    minutes_ago(&env, 2);
    assert_eq!(env.records(&order, again).await.lifecycle.state.name(), StateName::InFlight);
    assert_eq!(env.sql("SELECT copies, attempt, requests FROM purchases"), "2|1|1");
}

#[tokio::test]
async fn two_answers_of_no_record_release_only_where_they_are_declared_to_count() {
    let env = TestEnv::open().await;
    let order = in_doubt(&env).await;
    env.declare(Capabilities { not_found_counts: true, ..Capabilities::default() }).await;
    env.sql("UPDATE purchases SET last_sent_at = now() - interval '1 hour'");
    for (fence, passed, expected) in [
        (2, "30 seconds", StateName::InDoubt),
        (3, "30 seconds", StateName::InDoubt),
        (4, "0 seconds", StateName::Failed),
    ] {
        let claimed = env.records(&order, Event::Claimed).await;
        let answer = Event::NoRecord { fence: Fence(fence), asked_at: claimed.at };
        assert_eq!(env.records(&order, answer).await.lifecycle.state.name(), expected);
        env.sql(&format!(
            "UPDATE purchases SET no_record_since = no_record_since - interval '{passed}' WHERE state = 'IN_DOUBT'"
        ));
    }
    assert_eq!(env.balances(order.request.debited_account), "50000|0");
    assert_eq!(env.store.get_record(order.id).await.unwrap().failure, Some(Failure::NoRecord));
}

#[tokio::test]
async fn after_its_window_has_closed_an_operator_settles_the_purchase() {
    let env = TestEnv::open().await;
    let order = in_doubt(&env).await;
    env.sql("UPDATE purchases SET window_closes_at = now()");
    env.records(&order, Event::Claimed).await;
    env.records(&order, Event::WindowClosed { fence: Fence(2) }).await;
    assert_eq!(env.state(order.id), "REVIEW");
    env.records(&order, Event::Claimed).await;
    let word = Event::OperatorVended { fence: Fence(3), vend: Box::new(crate::env::vend("V9", 10_000)) };
    env.records(&order, word).await;
    let record = env.store.get_record(order.id).await.unwrap();
    assert_eq!(record.success.unwrap().tokens.unwrap().wire_form(), TOKEN);
    assert_eq!(env.balances(order.request.debited_account), "39850|0");
}

#[tokio::test]
async fn an_event_for_an_unknown_purchase_is_refused() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let order = env.order(&merchant, "04257670465", 10_000).await;
    let outcome = env.store.record(order.id, order.authority.organisation, lost()).await;
    assert!(matches!(outcome, Err(RecordError::NoSuchPurchase)), "{outcome:?}");
}

#[tokio::test]
async fn a_split_that_does_not_add_up_is_left_out_and_the_vend_is_kept() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    // A split of 99.00 for a vend of 100.00.
    env.records(&order, vended("V1", 9_900)).await;
    let success = env.store.get_record(order.id).await.unwrap().success.unwrap();
    assert_eq!((success.provider_transaction.as_str(), success.breakdown), ("V1", None));
}

#[tokio::test]
async fn what_a_provider_said_in_doubt_is_kept_sealed_with_its_attempt() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    let garbled = format!("<stsCipher>{TOKEN}</stsCipher");
    let said = |reply: &str| Unclear::said(Doubt::Unreadable, reply.as_bytes());
    env.records(&order, Event::Lost { fence: FIRST, why: said(&garbled) }).await;
    env.records(&order, Event::Claimed).await;
    env.records(&order, Event::LeaseReleased { fence: Fence(2), why: said("<html/>") }).await;
    env.records(&order, Event::Claimed).await;
    env.records(&order, Event::LeaseReleased { fence: Fence(3), why: Doubt::TimedOut.into() }).await;
    let outpaced = env.records(&order, Event::Lost { fence: FIRST, why: said("late") }).await;
    assert_eq!(illegal(&outpaced), Why::StaleFence);

    let kept = env.sql(
        "SELECT purchase_id, attempt, key_id, encode(sealed_reply, 'hex') FROM provider_replies ORDER BY at",
    );
    let keys = sealing_keys();
    let opened: Vec<String> = kept
        .lines()
        .map(|row| {
            let (_, sealed) = row.rsplit_once('|').unwrap();
            assert_eq!(row, format!("{}|1|1|{sealed}", order.id.0));
            let bytes =
                (0..sealed.len()).step_by(2).map(|at| u8::from_str_radix(&sealed[at..at + 2], 16).unwrap());
            let sealed = Sealed { key_id: 1, bytes: bytes.collect() };
            String::from_utf8(keys.open_reply(&sealed, order.id.0).unwrap().to_vec()).unwrap()
        })
        .collect();
    assert_eq!(opened, [garbled.as_str(), "<html/>", "late"]);
    let history = env.sql("SELECT string_agg(detail, ' ' ORDER BY id) FROM purchase_history");
    assert_eq!(history, "unreadable unreadable timed_out");
}
