//! Recording what became of a purchase: the hold is captured or given back, once, and only by proof.

use purchase::{Fact, Failure, Fence, Handling, StateName, Told, Why};
use store::{Aad, RecordError, Recorded, Reservation, Sealed, SealingKey, SealingKeys, Verdict};
use vend::{CallId, Capabilities, Doubt, ProviderReference, Refusal, RefusalReason, Unclear};

use crate::town::{FIRST, TOKEN, Town, vended};

const BLOCKED: Refusal = Refusal::because(RefusalReason::Blocked);

fn refused(refusal: Refusal) -> Fact {
    Fact::Refused { fence: FIRST, refusal, told: Told::InAnswer }
}

fn lost() -> Fact {
    Fact::Lost { fence: FIRST, why: Doubt::TimedOut.into() }
}

fn state(recorded: &Recorded) -> (Verdict, StateName) {
    (recorded.verdict, recorded.life.state.name())
}

fn illegal(recorded: &Recorded) -> Why {
    match recorded.verdict {
        Verdict::Illegal(illegal) => illegal.why,
        other @ (Verdict::Moved | Verdict::AlreadyThere) => panic!("not illegal: {other:?}"),
    }
}

/// Lets the leases of all purchases run out.
fn leases_run_out(town: &Town) {
    town.sql("UPDATE purchases SET lease_until = now() - interval '1 second' WHERE lease_until IS NOT NULL");
}

async fn in_doubt(town: &Town) -> Reservation {
    let shop = town.shop_with(50_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    town.records(&order, lost()).await;
    order
}

#[tokio::test]
async fn a_vend_captures_the_hold_and_pays_provider_fee_and_commission() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    let recorded = town.records(&order, vended("V1", 10_000)).await;

    assert_eq!(state(&recorded), (Verdict::Moved, StateName::Successful));
    assert_eq!(recorded.life.lease_until, None);
    assert_eq!(town.balances(shop.wallet), "9850|0");
    let moves = town.sql(
        "SELECT coalesce(d.house, d.category), coalesce(c.house, c.category), p.currency, p.amount
         FROM postings p JOIN journal_entries e ON e.id = p.entry_id AND e.kind = 'SETTLE'
         JOIN accounts d ON d.id = p.debit_account_id JOIN accounts c ON c.id = p.credit_account_id ORDER BY amount",
    );
    let expected = "COMMISSION_EXPENSE|COMMISSION|BWP|100\n\
                    CURRENT|FEE_INCOME|BWP|150\n\
                    CURRENT|PROVIDER_PAYABLE|BWP|10000";
    assert_eq!(moves, expected);
    let commission = "SELECT posted, held FROM accounts WHERE category = 'COMMISSION'";
    assert_eq!(town.sql(commission), "100|0");
    let history = town.sql("SELECT fact, detail, state FROM purchase_events ORDER BY id");
    assert_eq!(history, "RESERVED||IN_FLIGHT\nVENDED|V1|SUCCESSFUL");
}

#[tokio::test]
async fn a_refusal_gives_the_hold_back_and_its_words_are_kept() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    let refusal =
        Refusal { reason: RefusalReason::Blocked, wording: Some("Meter blocked: see office".into()) };
    let recorded = town.records(&order, refused(refusal.clone())).await;

    assert_eq!(state(&recorded), (Verdict::Moved, StateName::Failed));
    assert_eq!(town.balances(shop.wallet), "20000|0");
    assert_eq!(town.count("journal_entries WHERE kind = 'SETTLE'"), 0);
    let record = town.store.get_record(order.id).await.unwrap();
    assert_eq!(record.failure, Some(Failure::Refused(refusal)));
    assert_eq!(record.success, None);
}

#[tokio::test]
async fn what_never_left_is_given_back() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    town.records(&order, Fact::NeverSent { fence: FIRST }).await;
    assert_eq!(town.balances(shop.wallet), "20000|0");
    let record = town.store.get_record(order.id).await.unwrap();
    assert_eq!(record.failure, Some(Failure::Refused(Refusal::because(RefusalReason::NeverSent))));
}

#[tokio::test]
async fn doubt_keeps_the_hold_and_gives_the_lease_up() {
    let town = Town::open().await;
    let order = in_doubt(&town).await;
    assert_eq!(town.balances(order.request.debited_account), "50000|10150");
    assert_eq!(town.sql("SELECT state, lease_until IS NULL FROM purchases"), "IN_DOUBT|t");
}

#[tokio::test]
async fn every_record_that_is_run_again_is_already_there_and_does_nothing_twice() {
    let town = Town::open().await;
    for (number, fact) in
        (0..).zip([vended("V1", 10_000), refused(BLOCKED), Fact::NeverSent { fence: FIRST }, lost()])
    {
        let shop = town.shop_with(20_000).await;
        let (order, _) = town.reserved(&shop, &format!("0400000000{number}"), 10_000).await;
        let first = town.records(&order, fact.clone()).await;
        let balances = town.balances(shop.wallet);
        let written = town.sql(
            "SELECT (SELECT count(*) FROM purchase_events), (SELECT count(*) FROM postings),
            (SELECT count(*) FROM provider_replies)",
        );
        for _ in 0..2 {
            let again = town.records(&order, fact.clone()).await;
            assert_eq!((again.verdict, &again.life), (Verdict::AlreadyThere, &first.life), "{fact:?}");
        }
        // And twice in one group.
        let (one, other) =
            tokio::join!(biased; town.records(&order, fact.clone()), town.records(&order, fact.clone()));
        assert_eq!((one.verdict, other.verdict), (Verdict::AlreadyThere, Verdict::AlreadyThere));
        assert_eq!(town.balances(shop.wallet), balances);
        let now = town.sql(
            "SELECT (SELECT count(*) FROM purchase_events), (SELECT count(*) FROM postings),
            (SELECT count(*) FROM provider_replies)",
        );
        assert_eq!(now, written, "{fact:?}");
    }
}

#[tokio::test]
async fn the_same_fact_twice_in_one_group_settles_once() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    let (one, other) = tokio::join!(
        biased;
        town.records(&order, vended("V1", 10_000)),
        town.records(&order, vended("V1", 10_000)),
    );
    assert_eq!((one.verdict, other.verdict), (Verdict::Moved, Verdict::AlreadyThere));
    assert_eq!(town.count("journal_entries WHERE kind = 'SETTLE'"), 1);
    assert_eq!(town.balances(shop.wallet), "9850|0");
}

#[tokio::test]
async fn a_claim_waits_for_the_lease_and_a_stale_fence_changes_nothing() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    assert_eq!(illegal(&town.records(&order, Fact::Claimed).await), Why::Leased);
    leases_run_out(&town);
    let claimed = town.records(&order, Fact::Claimed).await;
    assert_eq!((claimed.life.fence, claimed.life.state.name()), (Fence(2), StateName::InDoubt));

    for stale in [refused(BLOCKED), lost(), Fact::NeverSent { fence: FIRST }] {
        let outcome = town.records(&order, stale).await;
        assert_eq!(illegal(&outcome), Why::StaleFence);
        assert_eq!(outcome.life, claimed.life);
    }
    assert_eq!(town.balances(shop.wallet), "20000|10150");
    assert_eq!(town.count("purchase_events"), 2);

    // Evidence needs no fence.
    let settled = town.records(&order, vended("V1", 10_000)).await;
    assert_eq!(state(&settled), (Verdict::Moved, StateName::Successful));
}

#[tokio::test]
async fn a_vend_that_comes_to_light_after_the_refund_opens_one_incident_and_changes_nothing_else() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    town.records(&order, refused(BLOCKED)).await;

    let late = town.records(&order, vended("V1", 10_000)).await;
    assert_eq!(state(&late), (Verdict::Moved, StateName::Failed));
    let again = town.records(&order, vended("V1", 10_000)).await;
    assert_eq!(state(&again), (Verdict::AlreadyThere, StateName::Failed));
    assert_eq!(town.balances(shop.wallet), "20000|0");
    let incidents = town.sql("SELECT kind, provider_transaction, sealed_token IS NOT NULL FROM incidents");
    assert_eq!(incidents, "LATE_VEND|V1|t");
    let moves = town.sql(
        "SELECT d.house, c.house, p.amount FROM postings p
         JOIN journal_entries e ON e.id = p.entry_id AND e.kind = 'INCIDENT'
         JOIN accounts d ON d.id = p.debit_account_id JOIN accounts c ON c.id = p.credit_account_id",
    );
    assert_eq!(moves, "SUSPENSE|PROVIDER_PAYABLE|10000");
}

#[tokio::test]
async fn each_further_vend_of_one_purchase_is_an_incident_of_its_own_even_in_one_group() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    tokio::join!(
        biased;
        town.records(&order, vended("V1", 10_000)),
        town.records(&order, vended("V2", 10_000)),
        town.records(&order, vended("V3", 10_000)),
    );
    assert_eq!(town.balances(shop.wallet), "9850|0");
    let incidents = town.sql("SELECT kind, provider_transaction FROM incidents ORDER BY id");
    assert_eq!(incidents, "SECOND_VEND|V2\nSECOND_VEND|V3");
    let moves = "postings p JOIN journal_entries e ON e.id = p.entry_id WHERE e.kind = 'INCIDENT'";
    assert_eq!(town.count(moves), 2);
    let record = town.store.get_record(order.id).await.unwrap();
    assert_eq!(record.success.unwrap().provider_transaction, "V1");
}

/// As if every purchase had been sent that long ago.
fn minutes_ago(town: &Town, minutes: u32) {
    town.sql(&format!(
        "UPDATE purchases SET last_sent_at = last_sent_at - interval '{minutes} min',
         window_closes_at = window_closes_at - interval '{minutes} min'"
    ));
}

#[tokio::test]
async fn a_managed_purchase_that_is_refused_for_now_is_attempted_again_under_a_new_name() {
    let town = Town::open().await;
    let shop = town.shop(20_000, Handling::Managed).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    let busy = refused(Refusal::because(RefusalReason::Busy));
    assert_eq!(town.records(&order, busy).await.life.state.name(), StateName::RetryDue);
    town.records(&order, Fact::Claimed).await;
    minutes_ago(&town, 2);
    let call = CallId::new(777_777, order.provider_reference.call().at()).unwrap();
    let reference = ProviderReference::new(call);
    let started = town.records(&order, Fact::AttemptStarted { fence: Fence(2), reference }).await;

    assert_eq!((started.life.attempt, started.life.state.name()), (2, StateName::InFlight));
    assert_eq!(town.count("attempts"), 2);
    assert_eq!(town.store.get_record(order.id).await.unwrap().provider_reference, reference);
    assert_eq!(town.balances(shop.wallet), "20000|10150");
    town.records(&order, vended("V2", 10_000)).await;
    assert_eq!(town.balances(shop.wallet), "9850|0");
}

#[tokio::test]
async fn the_same_order_is_sent_again_only_where_the_connection_is_declared_to_bear_it() {
    let town = Town::open().await;
    let order = in_doubt(&town).await;
    town.records(&order, Fact::Claimed).await;
    let again = Fact::SentAgain { fence: Fence(2) };
    assert_eq!(illegal(&town.records(&order, again.clone()).await), Why::RepeatNotSafe);
    town.declare(Capabilities { repeat_is_safe: true, ..Capabilities::default() }).await;
    assert_eq!(illegal(&town.records(&order, again.clone()).await), Why::NotDue);
    minutes_ago(&town, 2);
    assert_eq!(town.records(&order, again).await.life.state.name(), StateName::InFlight);
    assert_eq!(town.sql("SELECT copies, attempt, requests FROM purchases"), "2|1|1");
}

#[tokio::test]
async fn two_answers_of_no_record_release_only_where_they_are_declared_to_count() {
    let town = Town::open().await;
    let order = in_doubt(&town).await;
    town.declare(Capabilities { not_found_counts: true, ..Capabilities::default() }).await;
    town.sql("UPDATE purchases SET last_sent_at = now() - interval '1 hour'");
    for (fence, passed, expected) in [
        (2, "30 seconds", StateName::InDoubt),
        (3, "30 seconds", StateName::InDoubt),
        (4, "0 seconds", StateName::Failed),
    ] {
        let claimed = town.records(&order, Fact::Claimed).await;
        let answer = Fact::NoRecord { fence: Fence(fence), asked_at: claimed.at };
        assert_eq!(town.records(&order, answer).await.life.state.name(), expected);
        town.sql(&format!(
            "UPDATE purchases SET no_record_since = no_record_since - interval '{passed}' WHERE state = 'IN_DOUBT'"
        ));
    }
    assert_eq!(town.balances(order.request.debited_account), "50000|0");
    assert_eq!(town.store.get_record(order.id).await.unwrap().failure, Some(Failure::NoRecord));
}

#[tokio::test]
async fn a_closed_window_leaves_it_to_an_operator_whose_word_settles_it() {
    let town = Town::open().await;
    let order = in_doubt(&town).await;
    town.sql("UPDATE purchases SET window_closes_at = now()");
    town.records(&order, Fact::Claimed).await;
    town.records(&order, Fact::WindowClosed { fence: Fence(2) }).await;
    assert_eq!(town.state(order.id), "REVIEW");
    town.records(&order, Fact::Claimed).await;
    let word = Fact::OperatorVended { fence: Fence(3), vend: Box::new(crate::town::vend("V9", 10_000)) };
    town.records(&order, word).await;
    let record = town.store.get_record(order.id).await.unwrap();
    assert_eq!(record.success.unwrap().tokens.unwrap().wire_form(), TOKEN);
    assert_eq!(town.balances(order.request.debited_account), "39850|0");
}

#[tokio::test]
async fn a_fact_about_a_purchase_that_is_not_there_is_told_so() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let order = town.order(&shop, "04257670465", 10_000).await;
    let outcome = town.store.record(order.id, order.authority.organisation, lost()).await;
    assert!(matches!(outcome, Err(RecordError::NoSuchPurchase)), "{outcome:?}");
}

#[tokio::test]
async fn a_split_that_does_not_add_up_is_left_out_and_the_vend_is_kept() {
    let town = Town::open().await;
    let shop = town.shop_with(20_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    // A split of 99.00 for a vend of 100.00.
    town.records(&order, vended("V1", 9_900)).await;
    let success = town.store.get_record(order.id).await.unwrap().success.unwrap();
    assert_eq!((success.provider_transaction.as_str(), success.breakdown), ("V1", None));
}

#[tokio::test]
async fn what_a_provider_said_in_doubt_is_kept_sealed_with_its_attempt() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    let garbled = format!("<stsCipher>{TOKEN}</stsCipher");
    let said = |reply: &str| Unclear::said(Doubt::Unreadable, reply.as_bytes());
    town.records(&order, Fact::Lost { fence: FIRST, why: said(&garbled) }).await;
    town.records(&order, Fact::Claimed).await;
    town.records(&order, Fact::LetGo { fence: Fence(2), why: said("<html/>") }).await;
    town.records(&order, Fact::Claimed).await;
    town.records(&order, Fact::LetGo { fence: Fence(3), why: Doubt::TimedOut.into() }).await;
    let outpaced = town.records(&order, Fact::Lost { fence: FIRST, why: said("late") }).await;
    assert_eq!(illegal(&outpaced), Why::StaleFence);

    let kept = town.sql(
        "SELECT purchase_id, attempt, key_id, encode(sealed_reply, 'hex') FROM provider_replies ORDER BY at",
    );
    let keys = SealingKeys::try_new(SealingKey::new(1, &[7; 32]), Vec::new()).unwrap();
    let place = Aad { purchase_id: order.id.0, column: "provider_replies.sealed_reply" };
    let opened: Vec<String> = kept
        .lines()
        .map(|row| {
            let (_, sealed) = row.rsplit_once('|').unwrap();
            assert_eq!(row, format!("{}|1|1|{sealed}", order.id.0));
            let bytes =
                (0..sealed.len()).step_by(2).map(|at| u8::from_str_radix(&sealed[at..at + 2], 16).unwrap());
            let sealed = Sealed { key_id: 1, bytes: bytes.collect() };
            String::from_utf8(keys.open(&sealed, place).unwrap().to_vec()).unwrap()
        })
        .collect();
    assert_eq!(opened, [garbled.as_str(), "<html/>", "late"]);
    let history = town.sql("SELECT string_agg(detail, ' ' ORDER BY id) FROM purchase_events");
    assert_eq!(history, "unreadable unreadable timed_out");
}
