//! The operator's view: what an operator finds, what the story of a purchase contains, and the decision of an
//! operator. A decision is an event like any other, and it races with proof like any other.

use std::time::Duration;

use catalogue::NewProvider;
use database::Purpose;
use meter_token::TokenSet;
use oversight::{OverseenMessages, OverseenStates, OversightQuery, Story};
use purchase::{Event, Fence, Incident, PurchaseId, StateName};
use store::{Decided, Decision, DecisionError, Reservation, SealError, Store, Verdict};
use test_kit::{
    database::{OPERATOR, settings_as},
    waiting::until,
};
use vend::{Capabilities, Doubt, Unclear, Vend};

use crate::env::{FIRST, Merchant, TOKEN, TestEnv, act, connect, settings, vend, vended};

/// A token that no other transaction has.
fn token_of(transaction: &str) -> TokenSet {
    let number = transaction.bytes().fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    TokenSet::parse(&format!("{number:020}")).unwrap()
}

/// A decision that an operator enters. It contains no reply of a provider.
fn entered(transaction: &str) -> Decision {
    entered_with(transaction, token_of(transaction))
}

fn entered_with(transaction: &str, tokens: TokenSet) -> Decision {
    Decision::Vended(Box::new(Vend {
        tokens: Some(tokens),
        breakdown: None,
        raw_reply: vend::RawReply::default(),
        ..vend(transaction, 1_000)
    }))
}

impl TestEnv {
    /// A purchase that waits for an operator, free to be claimed.
    async fn in_review(&self, merchant: &Merchant, meter: &str) -> Reservation {
        let (order, _) = self.reserved(merchant, meter, 1_000).await;
        self.records(&order, Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
        self.sql(&format!("UPDATE purchases SET window_closes_at = now() WHERE id = {}", order.id.0));
        let claimed = self.records(&order, Event::Claimed).await;
        let closed = self.records(&order, Event::WindowClosed { fence: claimed.lifecycle.fence }).await;
        assert_eq!((closed.verdict, closed.lifecycle.state.name()), (Verdict::Moved, StateName::Review));
        order
    }

    async fn story(&self, id: PurchaseId) -> Story {
        oversight::oversee_purchase(self.operator.database(), id).await.unwrap().unwrap()
    }

    async fn seen(&self, query: OversightQuery) -> Vec<i64> {
        let seen = oversight::oversee_purchases(self.operator.database(), query).await.unwrap();
        seen.into_iter().map(|purchase| purchase.id.0).collect()
    }
}

/// The store of another operator, with this sealing key.
async fn another_operator(env: &TestEnv, key: [u8; 32]) -> Store {
    let as_operator = settings_as(OPERATOR, &env.database);
    let keys = store::SealingKeys::try_new(store::SealingKey::new(1, &key), Vec::new()).unwrap();
    let handle = tokio::runtime::Handle::current();
    let timing = purchase::Timing::default();
    Store::connect(as_operator, keys, timing, Purpose::General, handle).await.unwrap()
}

/// The events of a story with the state after each.
fn events(story: &Story) -> Vec<(&str, StateName)> {
    story.events.iter().map(|event| (event.fact.as_str(), event.state)).collect()
}

#[tokio::test]
async fn an_operator_finds_the_purchases_of_all_organisations_page_by_page() {
    let env = TestEnv::open().await;
    let merchants = [env.merchant_with(500_000).await, env.merchant_with(500_000).await];
    let mut made = Vec::new();
    for number in 0..6 {
        let (order, _) = env.reserved(&merchants[number % 2], &format!("0400000000{number}"), 1_000).await;
        made.push(order.id.0);
        if number >= 3 {
            env.records(&order, vended("V", 1_000)).await;
        }
    }
    let newest = || OversightQuery::newest(50);
    let newest_first: Vec<i64> = made.iter().rev().copied().collect();
    assert_eq!(env.seen(newest()).await, newest_first);
    assert_eq!(env.seen(OversightQuery { states: OverseenStates::Open, ..newest() }).await, made[..3]);
    let mut after = None;
    let mut walked = Vec::new();
    while let [id, ..] = env.seen(OversightQuery { limit: 1, after, ..newest() }).await[..] {
        walked.push(id);
        after = Some(PurchaseId(id));
    }
    assert_eq!(walked, newest_first);

    let of_first = OversightQuery { organisation: Some(merchants[0].authority.organisation), ..newest() };
    assert_eq!(env.seen(of_first).await, [made[4], made[2], made[0]]);
    let subscriber = vend::SubscriberIdentifier::parse("04000000003").unwrap();
    assert_eq!(env.seen(OversightQuery { subscriber: Some(subscriber), ..newest() }).await, [made[3]]);
    let reference = Some("ref-04000000005".to_owned());
    assert_eq!(env.seen(OversightQuery { external_reference: reference, ..newest() }).await, [made[5]]);
    let old = OversightQuery { older_than: Duration::from_mins(1), ..newest() };
    assert_eq!(env.seen(old).await, Vec::<i64>::new());
}

#[tokio::test]
async fn the_story_of_a_purchase_holds_everything_but_what_is_sealed() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.records(&order, Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    let claimed = env.records(&order, Event::Claimed).await;
    assert_eq!(claimed.lifecycle.fence, Fence(2));
    env.records(&order, vended("V1", 1_000)).await;
    let story = env.story(order.id).await;
    let expected = [
        ("RESERVED", StateName::InFlight),
        ("LOST", StateName::InDoubt),
        ("CLAIMED", StateName::InDoubt),
        ("VENDED", StateName::Successful),
    ];
    assert_eq!(events(&story), expected);
    assert_eq!(story.attempts[0].provider_reference, order.provider_reference.to_string());
    assert_eq!((story.replies.len(), story.entries[0].moves.len()), (1, 3));
    assert_eq!(story.messages.len(), 1, "the user has neither phone number nor email address");
    assert_eq!((story.incidents.len(), story.operator_actions.len()), (0, 0));
    assert!(story.purchase.has_token);
    assert!(!format!("{story:?}").contains(TOKEN));
    assert!(oversight::oversee_purchase(env.operator.database(), PurchaseId(4_711)).await.unwrap().is_none());
}

#[tokio::test]
async fn each_purchase_of_a_group_keeps_the_tag_that_it_came_with() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let tags = [Some("ussd-gateway-2".to_owned()), None, Some("é".repeat(100))];
    let mut orders = Vec::new();
    for (meter, tag) in ["04000000003", "04000000001", "04000000002"].into_iter().zip(&tags) {
        let mut order = env.order(&merchant, meter, 1_000).await;
        order.request.source_tag.clone_from(tag);
        orders.push(order);
    }
    let mut settings = settings(&env.database);
    settings.lanes = Some(1);
    let store = connect(settings).await;
    let [first, second, third] = <[_; 3]>::try_from(orders.clone()).unwrap();
    let reserved = tokio::join!(biased; store.reserve(first), store.reserve(second), store.reserve(third));
    assert!(reserved.0.is_ok() && reserved.1.is_ok() && reserved.2.is_ok(), "{reserved:?}");
    assert_eq!(env.sql("SELECT count(DISTINCT xmin::text) FROM purchases"), "1", "they were one group");

    for (order, tag) in orders.iter().zip(tags) {
        let told = env.story(order.id).await.purchase;
        assert_eq!((told.source_tag, told.comment), (tag, order.request.comment.clone()));
    }
}

#[tokio::test]
async fn a_decision_is_settled_audited_and_told_of_in_one_transaction() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let order = env.in_review(&merchant, "04257670465").await;
    let decided = env.operator.decide(order.id, entered("LETTER-1"), act()).await.unwrap();
    assert_eq!((decided.lifecycle.state.name(), decided.lifecycle.fence), (StateName::Successful, Fence(3)));
    assert_eq!(env.balances(merchant.wallet), "48850|0");
    let record = env.store.get_record(order.id).await.unwrap();
    assert_eq!(record.success.unwrap().tokens.unwrap(), token_of("LETTER-1"));
    let story = env.story(order.id).await;
    assert_eq!(
        (story.operator_actions[0].action.as_str(), story.operator_actions[0].actor.as_str()),
        ("purchase.resolved", "test_operator")
    );
    assert_eq!((story.messages.len(), story.replies.len()), (1, 0));
    let together = format!(
        "SELECT count(DISTINCT xmin::text) FROM (
             SELECT xmin FROM audit_log WHERE subject = 'purchase:{id}'
             UNION ALL SELECT xmin FROM journal_entries WHERE purchase_id = {id}
             UNION ALL SELECT xmin FROM outbox WHERE purchase_id = {id}
             UNION ALL SELECT xmin FROM purchases WHERE id = {id}
             UNION ALL SELECT xmin FROM purchase_events WHERE purchase_id = {id} AND fact = 'OPERATOR_VENDED') AS written",
        id = order.id.0
    );
    assert_eq!(env.sql(&together), "1");
    let waiting =
        oversight::oversee_messages(env.operator.database(), OverseenMessages::Waiting, 50).await.unwrap();
    assert_eq!(waiting, story.messages);
}

#[tokio::test]
async fn proof_that_comes_between_claim_and_decision_wins_and_nothing_stays_leased() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let order = env.in_review(&merchant, "04257670465").await;
    let another = env.in_review(&merchant, "04257670466").await;
    // While the wallet is locked, the decision waits behind the proof.
    let other = env.session().await;
    other.batch_execute(&format!("BEGIN; {}", crate::env::lock_of(merchant.wallet))).await.unwrap();
    let proof = env.store.record(order.id, merchant.authority.organisation, vended("V1", 1_000));
    let decision = env.operator.decide(order.id, Decision::NotVended, act());
    let free = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        other.batch_execute("COMMIT").await.unwrap();
    };
    let (proof, decision, ()) = tokio::join!(biased; proof, decision, free);
    let (proven, decided) = (proof.unwrap(), decision);
    match decided {
        // The decision was first, and the proof became an incident.
        Ok(decided) => {
            assert_eq!(decided.lifecycle.state.name(), StateName::Failed);
            assert_eq!(env.count("incidents"), 1);
        }
        Err(DecisionError::NotInReview { state, .. }) => {
            assert_eq!(
                (state, proven.lifecycle.state.name()),
                (StateName::Successful, StateName::Successful)
            );
            assert_eq!(env.count("audit_log WHERE action = 'purchase.resolved'"), 0);
        }
        Err(other) => panic!("{other:?}"),
    }
    let decided = env.operator.decide(another.id, Decision::NotVended, act()).await.unwrap();
    assert_eq!(decided.lifecycle.state, purchase::State::Failed);
    assert_eq!(env.count("purchases WHERE lease_until IS NOT NULL"), 0);
}

#[tokio::test]
async fn of_two_concurrent_decisions_about_a_purchase_one_is_kept() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(500_000).await;
    for round in 0..8 {
        let order = env.in_review(&merchant, &format!("0400000000{round}")).await;
        let (vended, not_vended) = tokio::join!(
            env.operator.decide(order.id, entered(&format!("LETTER-{round}")), act()),
            env.operator.decide(order.id, Decision::NotVended, act()),
        );
        let done = usize::from(vended.is_ok()) + usize::from(not_vended.is_ok());
        assert_eq!(done, 1, "{vended:?} {not_vended:?}");
        for refused in [vended.err(), not_vended.err()].into_iter().flatten() {
            assert!(
                matches!(refused, DecisionError::Held { .. } | DecisionError::NotInReview { .. }),
                "{refused:?}"
            );
        }
    }
    assert_eq!(env.count("audit_log WHERE action = 'purchase.resolved'"), 8);
}

/// The purchase that has the vend, where a decision was refused for that reason.
fn owner(refused: Result<Decided, DecisionError>) -> (PurchaseId, Option<i64>) {
    match refused {
        Err(DecisionError::VendOfAnother { of, incident, .. }) => (of, incident),
        other => panic!("not refused for its vend: {other:?}"),
    }
}

#[tokio::test]
async fn a_vend_is_entered_for_no_purchase_but_its_own() {
    let env = TestEnv::open().await;
    let [merchant, neighbour] = [env.merchant_with(50_000).await, env.merchant_with(50_000).await];
    let (proven, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    env.records(&proven, vended("PROVEN", 1_000)).await;
    let (failed, _) = env.reserved(&merchant, "04000000002", 1_000).await;
    env.records(&failed, Event::NeverSent { fence: FIRST }).await;
    env.records(&failed, vended("LATE", 1_000)).await;
    let incident = oversight::list_incidents(env.operator.database(), false, None, 10).await.unwrap()[0].id;
    let entered_first = env.in_review(&neighbour, "04000000003").await;
    env.operator.decide(entered_first.id, entered("LETTER-1"), act()).await.unwrap();

    let order = env.in_review(&merchant, "04000000004").await;
    let fence = env.story(order.id).await.purchase.fence;
    let decide = |name| env.operator.decide(order.id, entered(name), act());
    assert_eq!(owner(decide("PROVEN").await), (proven.id, None));
    assert_eq!(owner(decide("LATE").await), (failed.id, Some(incident)));
    let refused = decide("LETTER-1").await;
    let said = format!("vend LETTER-1 is that of purchase {}", entered_first.id.0);
    assert_eq!(refused.as_ref().unwrap_err().to_string(), said);
    assert_eq!(owner(refused), (entered_first.id, None));
    let left = env.story(order.id).await;
    assert_eq!((left.purchase.state, left.purchase.fence), (StateName::Review, fence), "nothing was claimed");

    // Another provider has its own names of vends.
    let other = NewProvider { code: "WUC".into(), name: "Water".into(), declared: Capabilities::default() };
    catalogue::put_provider(env.operator.database(), other, act()).await.unwrap();
    env.sql(&format!("UPDATE purchases SET provider_code = 'WUC' WHERE id = {}", order.id.0));
    let same_name = entered_with("LETTER-1", token_of("of WUC"));
    env.operator.decide(order.id, same_name, act()).await.unwrap();
}

#[tokio::test]
async fn of_two_operators_that_enter_the_same_vend_at_once_one_succeeds() {
    let env = TestEnv::open().await;
    let merchants = [env.merchant_with(50_000).await, env.merchant_with(50_000).await];
    let one = env.in_review(&merchants[0], "04000000001").await;
    let two = env.in_review(&merchants[1], "04000000002").await;
    let colleague = another_operator(&env, [7; 32]).await;
    // Both have written their decision, and neither has committed, when the first of them may continue.
    let holder = env.session().await;
    let closed = "BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('vendgate.vend LETTER-1', 0))";
    holder.batch_execute(closed).await.unwrap();
    let open = async {
        until("both of them wait", || env.count("pg_locks WHERE locktype = 'advisory' AND NOT granted") == 2)
            .await;
        holder.batch_execute("COMMIT").await.unwrap();
    };
    let (first, second, ()) = tokio::join!(
        env.operator.decide(one.id, entered("LETTER-1"), act()),
        colleague.decide(two.id, entered("LETTER-1"), act()),
        open,
    );
    let (decided, refused, left) =
        if first.is_ok() { (one.id, second, two.id) } else { (two.id, first, one.id) };
    assert_eq!(owner(refused), (decided, None));
    assert_eq!((env.state(decided).as_str(), env.state(left).as_str()), ("SUCCESSFUL", "REVIEW"));
    assert_eq!(env.count("audit_log WHERE action = 'purchase.resolved'"), 1);
    assert_eq!(env.count("purchases WHERE lease_until IS NOT NULL"), 0);
}

#[tokio::test]
async fn of_two_decisions_in_one_group_that_name_the_same_vend_one_is_kept() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let [one, two] =
        [env.in_review(&merchant, "04000000001").await, env.in_review(&merchant, "04000000002").await];
    let (first, second) = tokio::join!(
        env.operator.decide(one.id, entered("LETTER-1"), act()),
        env.operator.decide(two.id, entered("LETTER-1"), act()),
    );
    let (decided, refused) = if first.is_ok() { (one.id, second) } else { (two.id, first) };
    assert_eq!(owner(refused), (decided, None));
}

#[tokio::test]
async fn answers_that_prove_nothing_are_kept_eight_times_and_then_once_a_day() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let order = env.in_review(&merchant, "04257670465").await;
    let ask = async || {
        let claimed = env.records(&order, Event::Claimed).await;
        let why = Unclear::said(Doubt::Unreadable, b"<html/>".as_slice());
        env.records(&order, Event::LeaseReleased { fence: claimed.lifecycle.fence, why }).await;
        env.count("provider_replies")
    };
    for number in 1..=12 {
        assert_eq!(ask().await, number.min(8));
    }
    env.sql(
        "SET session_replication_role = replica; UPDATE provider_replies SET at = at - interval '25 hours'",
    );
    assert_eq!((ask().await, ask().await), (9, 9));
    env.records(&order, vended("V1", 1_000)).await;
    assert_eq!(env.count("provider_replies"), 10, "proof is always kept");
}

#[tokio::test]
async fn what_is_not_in_review_is_left_as_it_is() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.records(&order, Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    let refused = env.operator.decide(order.id, Decision::NotVended, act()).await.unwrap_err();
    assert!(matches!(refused, DecisionError::NotInReview { state: StateName::InDoubt, .. }), "{refused:?}");
    let absent = env.operator.decide(PurchaseId(4_711), Decision::NotVended, act()).await.unwrap_err();
    assert!(matches!(absent, DecisionError::Absent(PurchaseId(4_711))), "{absent:?}");
    assert_eq!(events(&env.story(order.id).await).len(), 2);
}

#[tokio::test]
async fn a_token_is_not_sealed_with_a_key_that_the_servers_do_not_have() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (bought, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.records(&bought, vended("V1", 1_000)).await;
    let order = env.in_review(&merchant, "04257670466").await;
    let other = another_operator(&env, [8; 32]).await;
    let refused = other.decide(order.id, entered("LETTER-1"), act()).await.unwrap_err();
    assert!(matches!(refused, DecisionError::OtherKey(SealError::Broken { .. })), "{refused:?}");
    assert_eq!(env.state(order.id), "REVIEW");
    other.decide(order.id, Decision::NotVended, act()).await.unwrap();
}

#[tokio::test]
async fn an_incident_is_closed_once_and_by_operators_only() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.records(&order, Event::NeverSent { fence: FIRST }).await;
    env.records(&order, vended("V1", 1_000)).await;
    let [incident] = &oversight::list_incidents(env.operator.database(), false, None, 10).await.unwrap()[..]
    else {
        panic!()
    };
    assert_eq!((incident.kind, incident.suspense), (Incident::LateVend, crate::env::pula(1_000)));
    assert!(incident.has_token && incident.closed.is_none());
    let id = incident.id;
    let server = connect(settings(&env.database)).await;
    let forbidden = oversight::close_incident(server.database(), id, false, act()).await.unwrap_err();
    assert!(
        matches!(&forbidden, oversight::IncidentError::Database(error) if error.is_forbidden()),
        "{forbidden:?}"
    );
    oversight::close_incident(env.operator.database(), id, false, act()).await.unwrap();
    assert_eq!(oversight::list_incidents(env.operator.database(), false, None, 10).await.unwrap(), []);
    let again = oversight::close_incident(env.operator.database(), id, false, act()).await.unwrap_err();
    assert_eq!(again.to_string(), format!("test_operator closed incident {id} before"));
    for table in ["incidents", "incident_decisions"] {
        assert!(env.refusal_of(&format!("DELETE FROM {table}")).contains("append-only"));
    }
    assert_eq!(env.story(order.id).await.operator_actions[0].action, "incident.closed");
}
