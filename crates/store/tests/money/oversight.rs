//! The operator's view: what is found, what the story of a purchase holds, and a person's decision, which is a fact
//! like any other and races with proof like any other.

use std::time::Duration;

use purchase::{Fact, Fence, PurchaseId, StateName};
use store::{
    Decided, Decision, DecisionError, NewProvider, OverseenMessages, OverseenStates, OversightQuery,
    Reservation, SealError, Store, Story, Verdict,
};
use vend::{Capabilities, Doubt, Unclear, Vend};

use crate::town::{FIRST, Shop, TOKEN, Town, act, connect, settings, until, vend, vended};

/// What an operator enters: nothing was said by a provider.
fn entered(transaction: &str) -> Decision {
    Decision::Vended(Box::new(Vend {
        breakdown: None,
        raw_reply: vend::RawReply::default(),
        ..vend(transaction, 1_000)
    }))
}

impl Town {
    /// A purchase that waits for a person, free to be claimed.
    async fn in_review(&self, shop: &Shop, meter: &str) -> Reservation {
        let (order, _) = self.reserved(shop, meter, 1_000).await;
        self.records(&order, Fact::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
        self.sql(&format!("UPDATE purchases SET window_closes_at = now() WHERE id = {}", order.id.0));
        let claimed = self.records(&order, Fact::Claimed).await;
        let closed = self.records(&order, Fact::WindowClosed { fence: claimed.life.fence }).await;
        assert_eq!((closed.verdict, closed.life.state.name()), (Verdict::Moved, StateName::Review));
        order
    }

    async fn story(&self, id: PurchaseId) -> Story {
        self.operator.oversee_purchase(id).await.unwrap().unwrap()
    }

    async fn seen(&self, query: OversightQuery) -> Vec<i64> {
        let seen = self.operator.oversee_purchases(query).await.unwrap();
        seen.into_iter().map(|purchase| purchase.id.0).collect()
    }
}

/// Another operator at a desk of his own, with these keys.
async fn another_operator(town: &Town, key: [u8; 32]) -> Store {
    let mut as_operator = settings(&town.database);
    as_operator.database_url = town.database.url_as("test_operator", "test_operator").into();
    let keys = store::SealingKeys::try_new(store::SealingKey::new(1, &key), Vec::new()).unwrap();
    let handle = tokio::runtime::Handle::current();
    Store::connect(as_operator, keys, purchase::Timing::default(), handle).await.unwrap()
}

/// The facts of a story with the state after each.
fn facts(story: &Story) -> Vec<(&str, StateName)> {
    story.events.iter().map(|event| (event.fact.as_str(), event.state)).collect()
}

#[tokio::test]
async fn an_operator_finds_everybodys_purchases_page_by_page() {
    let town = Town::open().await;
    let shops = [town.shop_with(500_000).await, town.shop_with(500_000).await];
    let mut made = Vec::new();
    for number in 0..6 {
        let (order, _) = town.reserved(&shops[number % 2], &format!("0400000000{number}"), 1_000).await;
        made.push(order.id.0);
        if number >= 3 {
            town.records(&order, vended("V", 1_000)).await;
        }
    }
    let newest = || OversightQuery::newest(50);
    let newest_first: Vec<i64> = made.iter().rev().copied().collect();
    assert_eq!(town.seen(newest()).await, newest_first);
    assert_eq!(town.seen(OversightQuery { states: OverseenStates::Open, ..newest() }).await, made[..3]);
    let mut after = None;
    let mut walked = Vec::new();
    while let [id, ..] = town.seen(OversightQuery { limit: 1, after, ..newest() }).await[..] {
        walked.push(id);
        after = Some(PurchaseId(id));
    }
    assert_eq!(walked, newest_first);

    let of_first = OversightQuery { organisation: Some(shops[0].authority.organisation), ..newest() };
    assert_eq!(town.seen(of_first).await, [made[4], made[2], made[0]]);
    let subscriber = vend::SubscriberIdentifier::parse("04000000003").unwrap();
    assert_eq!(town.seen(OversightQuery { subscriber: Some(subscriber), ..newest() }).await, [made[3]]);
    let reference = Some("ref-04000000005".to_owned());
    assert_eq!(town.seen(OversightQuery { external_reference: reference, ..newest() }).await, [made[5]]);
    let old = OversightQuery { older_than: Duration::from_mins(1), ..newest() };
    assert_eq!(town.seen(old).await, Vec::<i64>::new());
}

#[tokio::test]
async fn the_story_of_a_purchase_holds_everything_but_what_is_sealed() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 1_000).await;
    town.records(&order, Fact::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    let claimed = town.records(&order, Fact::Claimed).await;
    assert_eq!(claimed.life.fence, Fence(2));
    town.records(&order, vended("V1", 1_000)).await;
    let story = town.story(order.id).await;
    let expected = [
        ("RESERVED", StateName::InFlight),
        ("LOST", StateName::InDoubt),
        ("CLAIMED", StateName::InDoubt),
        ("VENDED", StateName::Successful),
    ];
    assert_eq!(facts(&story), expected);
    assert_eq!(story.attempts[0].provider_reference, order.provider_reference.to_string());
    assert_eq!((story.replies.len(), story.entries[0].moves.len()), (1, 3));
    assert_eq!(story.messages.len(), 1, "the till has neither number nor address");
    assert_eq!((story.incidents.len(), story.deeds.len()), (0, 0));
    assert!(story.purchase.has_token);
    assert!(!format!("{story:?}").contains(TOKEN));
    assert!(town.operator.oversee_purchase(PurchaseId(4_711)).await.unwrap().is_none());
}

#[tokio::test]
async fn each_purchase_of_a_group_keeps_the_tag_that_it_came_with() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let tags = [Some("ussd-gateway-2".to_owned()), None, Some("é".repeat(100))];
    let mut orders = Vec::new();
    for (meter, tag) in ["04000000003", "04000000001", "04000000002"].into_iter().zip(&tags) {
        let mut order = town.order(&shop, meter, 1_000).await;
        order.request.source_tag.clone_from(tag);
        orders.push(order);
    }
    let mut settings = settings(&town.database);
    settings.lanes = 1;
    let store = connect(settings).await;
    let [first, second, third] = <[_; 3]>::try_from(orders.clone()).unwrap();
    let reserved = tokio::join!(biased; store.reserve(first), store.reserve(second), store.reserve(third));
    assert!(reserved.0.is_ok() && reserved.1.is_ok() && reserved.2.is_ok(), "{reserved:?}");
    assert_eq!(town.sql("SELECT count(DISTINCT xmin::text) FROM purchases"), "1", "they were one group");

    for (order, tag) in orders.iter().zip(tags) {
        let told = town.story(order.id).await.purchase;
        assert_eq!((told.source_tag, told.comment), (tag, order.request.comment.clone()));
    }
}

#[tokio::test]
async fn a_decision_is_settled_audited_and_told_of_in_one_transaction() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let order = town.in_review(&shop, "04257670465").await;
    let decided = town.operator.decide(order.id, entered("LETTER-1"), act()).await.unwrap();
    assert_eq!((decided.life.state.name(), decided.life.fence), (StateName::Successful, Fence(3)));
    assert_eq!(town.balances(shop.wallet), "48850|0");
    let record = town.store.get_record(order.id).await.unwrap();
    assert_eq!(record.success.unwrap().tokens.unwrap().wire_form(), TOKEN);
    let story = town.story(order.id).await;
    assert_eq!(
        (story.deeds[0].action.as_str(), story.deeds[0].actor.as_str()),
        ("purchase.resolved", "naledi")
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
    assert_eq!(town.sql(&together), "1");
    let waiting = town.operator.oversee_messages(OverseenMessages::Waiting, 50).await.unwrap();
    assert_eq!(waiting, story.messages);
}

#[tokio::test]
async fn proof_that_comes_between_claim_and_decision_wins_and_nothing_stays_leased() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let order = town.in_review(&shop, "04257670465").await;
    let another = town.in_review(&shop, "04257670466").await;
    // While the wallet is kept, the decision waits behind the proof.
    let other = town.session().await;
    other.batch_execute(&format!("BEGIN; {}", crate::town::lock_of(shop.wallet))).await.unwrap();
    let proof = town.store.record(order.id, shop.authority.organisation, vended("V1", 1_000));
    let decision = town.operator.decide(order.id, Decision::NotVended, act());
    let free = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        other.batch_execute("COMMIT").await.unwrap();
    };
    let (proof, decision, ()) = tokio::join!(biased; proof, decision, free);
    let (proven, decided) = (proof.unwrap(), decision);
    match decided {
        // The decision was first, and the proof has become an incident.
        Ok(decided) => {
            assert_eq!(decided.life.state.name(), StateName::Failed);
            assert_eq!(town.count("incidents"), 1);
        }
        Err(DecisionError::NotInReview { state, .. }) => {
            assert_eq!((state, proven.life.state.name()), (StateName::Successful, StateName::Successful));
            assert_eq!(town.count("audit_log WHERE action = 'purchase.resolved'"), 0);
        }
        Err(other) => panic!("{other:?}"),
    }
    let decided = town.operator.decide(another.id, Decision::NotVended, act()).await.unwrap();
    assert_eq!(decided.life.state, purchase::State::Failed);
    assert_eq!(town.count("purchases WHERE lease_until IS NOT NULL"), 0);
}

#[tokio::test]
async fn of_two_people_who_decide_at_once_one_does() {
    let town = Town::open().await;
    let shop = town.shop_with(500_000).await;
    for round in 0..8 {
        let order = town.in_review(&shop, &format!("0400000000{round}")).await;
        let (vended, not_vended) = tokio::join!(
            town.operator.decide(order.id, entered(&format!("LETTER-{round}")), act()),
            town.operator.decide(order.id, Decision::NotVended, act()),
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
    assert_eq!(town.count("audit_log WHERE action = 'purchase.resolved'"), 8);
}

/// Whose the vend is, where a decision was refused for that.
fn owner(refused: Result<Decided, DecisionError>) -> (PurchaseId, Option<i64>) {
    match refused {
        Err(DecisionError::VendOfAnother { of, incident, .. }) => (of, incident),
        other => panic!("not refused for its vend: {other:?}"),
    }
}

#[tokio::test]
async fn a_vend_is_entered_for_no_purchase_but_its_own() {
    let town = Town::open().await;
    let [shop, neighbour] = [town.shop_with(50_000).await, town.shop_with(50_000).await];
    let (proven, _) = town.reserved(&shop, "04000000001", 1_000).await;
    town.records(&proven, vended("PROVEN", 1_000)).await;
    let (failed, _) = town.reserved(&shop, "04000000002", 1_000).await;
    town.records(&failed, Fact::NeverSent { fence: FIRST }).await;
    town.records(&failed, vended("LATE", 1_000)).await;
    let incident = town.operator.list_incidents(false, None, 10).await.unwrap()[0].id;
    let entered_first = town.in_review(&neighbour, "04000000003").await;
    town.operator.decide(entered_first.id, entered("LETTER-1"), act()).await.unwrap();

    let order = town.in_review(&shop, "04000000004").await;
    let fence = town.story(order.id).await.purchase.fence;
    let decide = |name| town.operator.decide(order.id, entered(name), act());
    assert_eq!(owner(decide("PROVEN").await), (proven.id, None));
    assert_eq!(owner(decide("LATE").await), (failed.id, Some(incident)));
    let refused = decide("LETTER-1").await;
    let said = format!("vend LETTER-1 is that of purchase {}", entered_first.id.0);
    assert_eq!(refused.as_ref().unwrap_err().to_string(), said);
    assert_eq!(owner(refused), (entered_first.id, None));
    let left = town.story(order.id).await;
    assert_eq!((left.purchase.state, left.purchase.fence), (StateName::Review, fence), "nothing was claimed");

    // Another provider has names of its own.
    let other = NewProvider { code: "WUC".into(), name: "Water".into(), declared: Capabilities::default() };
    town.operator.put_provider(other, act()).await.unwrap();
    town.sql(&format!("UPDATE purchases SET provider_code = 'WUC' WHERE id = {}", order.id.0));
    decide("LETTER-1").await.unwrap();
}

#[tokio::test]
async fn of_two_people_who_enter_the_same_vend_at_once_one_does() {
    let town = Town::open().await;
    let shops = [town.shop_with(50_000).await, town.shop_with(50_000).await];
    let one = town.in_review(&shops[0], "04000000001").await;
    let two = town.in_review(&shops[1], "04000000002").await;
    let colleague = another_operator(&town, [7; 32]).await;
    // Both have written their decision, and neither has committed, when the first of them may go on.
    let turnstile = town.session().await;
    let closed = "BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('vendgate.vend LETTER-1', 0))";
    turnstile.batch_execute(closed).await.unwrap();
    let open = async {
        until("both wait to look", || {
            town.count("pg_locks WHERE locktype = 'advisory' AND NOT granted") == 2
        })
        .await;
        turnstile.batch_execute("COMMIT").await.unwrap();
    };
    let (first, second, ()) = tokio::join!(
        town.operator.decide(one.id, entered("LETTER-1"), act()),
        colleague.decide(two.id, entered("LETTER-1"), act()),
        open,
    );
    let (decided, refused, left) =
        if first.is_ok() { (one.id, second, two.id) } else { (two.id, first, one.id) };
    assert_eq!(owner(refused), (decided, None));
    assert_eq!((town.state(decided).as_str(), town.state(left).as_str()), ("SUCCESSFUL", "REVIEW"));
    assert_eq!(town.count("audit_log WHERE action = 'purchase.resolved'"), 1);
    assert_eq!(town.count("purchases WHERE lease_until IS NOT NULL"), 0);
}

#[tokio::test]
async fn of_two_decisions_in_one_group_that_name_the_same_vend_one_is_kept() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let [one, two] = [town.in_review(&shop, "04000000001").await, town.in_review(&shop, "04000000002").await];
    let (first, second) = tokio::join!(
        town.operator.decide(one.id, entered("LETTER-1"), act()),
        town.operator.decide(two.id, entered("LETTER-1"), act()),
    );
    let (decided, refused) = if first.is_ok() { (one.id, second) } else { (two.id, first) };
    assert_eq!(owner(refused), (decided, None));
}

#[tokio::test]
async fn answers_that_prove_nothing_are_kept_eight_times_and_then_once_a_day() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let order = town.in_review(&shop, "04257670465").await;
    let ask = async || {
        let claimed = town.records(&order, Fact::Claimed).await;
        let why = Unclear::said(Doubt::Unreadable, b"<html/>".as_slice());
        town.records(&order, Fact::LetGo { fence: claimed.life.fence, why }).await;
        town.count("provider_replies")
    };
    for number in 1..=12 {
        assert_eq!(ask().await, number.min(8));
    }
    town.sql(
        "SET session_replication_role = replica; UPDATE provider_replies SET at = at - interval '25 hours'",
    );
    assert_eq!((ask().await, ask().await), (9, 9));
    town.records(&order, vended("V1", 1_000)).await;
    assert_eq!(town.count("provider_replies"), 10, "proof is always kept");
}

#[tokio::test]
async fn what_is_not_in_review_is_left_as_it_is() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 1_000).await;
    town.records(&order, Fact::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    let refused = town.operator.decide(order.id, Decision::NotVended, act()).await.unwrap_err();
    assert!(matches!(refused, DecisionError::NotInReview { state: StateName::InDoubt, .. }), "{refused:?}");
    let absent = town.operator.decide(PurchaseId(4_711), Decision::NotVended, act()).await.unwrap_err();
    assert!(matches!(absent, DecisionError::Absent(PurchaseId(4_711))), "{absent:?}");
    assert_eq!(facts(&town.story(order.id).await).len(), 2);
}

#[tokio::test]
async fn a_token_is_not_sealed_with_a_key_that_the_servers_do_not_have() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let (bought, _) = town.reserved(&shop, "04257670465", 1_000).await;
    town.records(&bought, vended("V1", 1_000)).await;
    let order = town.in_review(&shop, "04257670466").await;
    let stranger = another_operator(&town, [8; 32]).await;
    let refused = stranger.decide(order.id, entered("LETTER-1"), act()).await.unwrap_err();
    assert!(matches!(refused, DecisionError::OtherKey(SealError::Broken { .. })), "{refused:?}");
    assert_eq!(town.state(order.id), "REVIEW");
    stranger.decide(order.id, Decision::NotVended, act()).await.unwrap();
}

#[tokio::test]
async fn an_incident_is_closed_once_and_by_operators_only() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 1_000).await;
    town.records(&order, Fact::NeverSent { fence: FIRST }).await;
    town.records(&order, vended("V1", 1_000)).await;
    let [incident] = &town.operator.list_incidents(false, None, 10).await.unwrap()[..] else { panic!() };
    assert_eq!((incident.kind.as_str(), incident.suspense), ("LATE_VEND", crate::town::pula(1_000)));
    assert!(incident.has_token && incident.closed.is_none());
    let id = incident.id;
    let server = connect(settings(&town.database)).await;
    let forbidden = server.close_incident(id, act()).await.unwrap_err();
    assert!(
        matches!(&forbidden, store::IncidentError::Store(error) if error.is_forbidden()),
        "{forbidden:?}"
    );
    town.operator.close_incident(id, act()).await.unwrap();
    assert_eq!(town.operator.list_incidents(false, None, 10).await.unwrap(), []);
    let again = town.operator.close_incident(id, act()).await.unwrap_err();
    assert_eq!(again.to_string(), format!("naledi closed incident {id} before"));
    for table in ["incidents", "incident_decisions"] {
        assert!(town.refusal_of(&format!("DELETE FROM {table}")).contains("append-only"));
    }
    assert_eq!(town.story(order.id).await.deeds[0].action, "incident.closed");
}
