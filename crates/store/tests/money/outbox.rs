//! The outbox: the messages that the end of a purchase causes. They are written with that end or not at all,
//! and several workers take them from it at once.

use std::collections::BTreeSet;
use std::time::Duration;

use purchase::{
    Channel, Event, Fence, Handling, Notice, NoticeKind, NotificationFlags, Recipient, RefusalSource,
};
use store::{ClaimedMessage, Delivery, DeliveryOutcome, GivenUp, Reservation, Store};
use vend::{Refusal, RefusalReason};

use crate::{
    checks::as_worker,
    env::{FIRST, Merchant, TOKEN, TestEnv, vended},
};

const LEASE: Duration = Duration::from_mins(1);
const WRITTEN: &str = "SELECT kind, recipient, channel FROM outbox ORDER BY purchase_id, recipient, channel";

impl TestEnv {
    /// Gives every user a phone number and an email address.
    fn users_can_be_reached(&self) {
        self.sql("UPDATE users SET phone_number = '26772000000', email = 'till@shop.example'");
    }

    async fn issued(&self, merchant: &Merchant, meter: &str) -> Reservation {
        let (order, _) = self.reserved(merchant, meter, 1_000).await;
        self.records(&order, vended(&format!("V{meter}"), 1_000)).await;
        order
    }
}

fn blocked(fence: i64) -> Event {
    let refusal = Refusal::because(RefusalReason::Blocked);
    Event::Refused { fence: Fence(fence), refusal, source: RefusalSource::Answer }
}

async fn claimed(store: &Store, limit: u16) -> Vec<ClaimedMessage> {
    store.claim_messages(Channel::Sms, Duration::ZERO, limit, LEASE).await.unwrap()
}

async fn ended(store: &Store, message: &ClaimedMessage, outcome: DeliveryOutcome) {
    let delivery = Delivery { id: message.id, attempt: message.attempt, outcome };
    store.record_deliveries(vec![delivery]).await.unwrap();
}

#[tokio::test]
async fn every_recipient_that_can_be_reached_gets_a_message_about_a_token() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    env.issued(&merchant, "04000000001").await;
    assert_eq!(env.sql(WRITTEN), "ISSUED|BENEFICIARY|SMS");

    env.users_can_be_reached();
    env.issued(&merchant, "04000000002").await;
    let rows =
        env.sql(&WRITTEN.replace("ORDER", "WHERE purchase_id = (SELECT max(id) FROM purchases) ORDER"));
    assert_eq!(rows, "ISSUED|BENEFICIARY|SMS\nISSUED|REQUESTER|EMAIL\nISSUED|REQUESTER|SMS");
}

#[tokio::test]
async fn a_flag_that_is_off_leaves_nothing_to_send() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    env.users_can_be_reached();
    for (number, silenced, left) in [
        (
            1,
            NotificationFlags { beneficiary_sms: false, ..NotificationFlags::default() },
            "REQUESTER|EMAIL\nREQUESTER|SMS",
        ),
        (
            2,
            NotificationFlags { requester_sms: false, ..NotificationFlags::default() },
            "BENEFICIARY|SMS\nREQUESTER|EMAIL",
        ),
        (
            3,
            NotificationFlags { requester_email: false, ..NotificationFlags::default() },
            "BENEFICIARY|SMS\nREQUESTER|SMS",
        ),
    ] {
        let mut order = env.order(&merchant, &format!("0400000000{number}"), 1_000).await;
        order.request.notifications = silenced;
        env.store.reserve(order.clone()).await.unwrap();
        env.records(&order, vended(&format!("V{number}"), 1_000)).await;
        let rows =
            format!("SELECT recipient, channel FROM outbox WHERE purchase_id = {} ORDER BY 1, 2", order.id.0);
        assert_eq!(env.sql(&rows), left);
    }
}

#[tokio::test]
async fn a_refund_is_told_of_where_the_integrator_was_told_to_wait() {
    let env = TestEnv::open().await;
    let (managed, own) = (env.merchant(100_000, Handling::Managed).await, env.merchant_with(100_000).await);
    env.users_can_be_reached();
    // The confirms of both answer "failed".
    for (merchant, meter) in [(&managed, "04000000001"), (&own, "04000000002")] {
        let (order, _) = env.reserved(merchant, meter, 1_000).await;
        env.records(&order, blocked(1)).await;
    }
    assert_eq!(env.count("outbox"), 0);
    // The confirms of these answered "pending" and "unknown".
    for (merchant, meter) in [(&managed, "04000000003"), (&own, "04000000004")] {
        let (order, _) = env.reserved(merchant, meter, 1_000).await;
        env.records(&order, Event::Lost { fence: FIRST, why: vend::Doubt::TimedOut.into() }).await;
        env.records(&order, Event::Claimed).await;
        env.records(&order, blocked(2)).await;
        assert_eq!(env.state(order.id), "FAILED");
    }
    assert_eq!(env.sql(WRITTEN), "REFUNDED|BENEFICIARY|SMS\nREFUNDED|REQUESTER|SMS");
}

#[tokio::test]
async fn what_is_recorded_again_or_comes_too_late_owes_nothing_more() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    let (order, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    let first = vended("V1", 1_000);
    tokio::join!(biased; env.records(&order, first.clone()), env.records(&order, first.clone()));
    env.records(&order, first).await;
    env.records(&order, vended("V2", 1_000)).await;
    assert_eq!(env.count("incidents"), 1);
    assert_eq!(env.sql(WRITTEN), "ISSUED|BENEFICIARY|SMS");
}

#[tokio::test]
async fn a_purchase_does_not_end_without_its_messages() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    let (order, _) = env.reserved(&merchant, "04000000001", 1_000).await;
    env.sql("ALTER TABLE outbox ADD CONSTRAINT broken CHECK (purchase_id < 0)");
    let outcome = env.store.record(order.id, order.authority.organisation, vended("V1", 1_000)).await;
    assert!(outcome.is_err(), "{outcome:?}");
    assert_eq!(
        (env.state(order.id).as_str(), env.balances(merchant.wallet).as_str()),
        ("IN_FLIGHT", "100000|1150")
    );

    env.sql("ALTER TABLE outbox DROP CONSTRAINT broken");
    env.records(&order, vended("V1", 1_000)).await;
    assert_eq!((env.state(order.id).as_str(), env.count("outbox")), ("SUCCESSFUL", 1));
}

#[tokio::test]
async fn a_message_comes_with_everything_that_it_is_made_of() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    env.users_can_be_reached();
    env.sql("INSERT INTO product_texts VALUES ('ELECTRICITY', 'tn', NULL, 'Nomoro'), ('ELECTRICITY', 'en', 'Motlakase', NULL)");
    let order = env.issued(&merchant, "04000000001").await;
    let worker = as_worker(&env).await;
    let messages = claimed(&worker, 10).await;

    let names: BTreeSet<String> = messages.iter().map(|message| message.id.to_string()).collect();
    let id = order.id.0;
    assert_eq!(names, [format!("{id}.issued.beneficiary.sms"), format!("{id}.issued.requester.sms")].into());
    for message in messages {
        assert_eq!(message.attempt, 1);
        assert!(message.at >= message.written_at);
        let contents = message.contents.unwrap();
        assert_eq!(contents.record, env.store.get_record(order.id).await.unwrap());
        assert_eq!(contents.record.success.unwrap().tokens.unwrap().wire_form(), TOKEN);
        assert_eq!(contents.product_names, [("en".to_owned(), "Motlakase".to_owned())]);
        assert_eq!(contents.requester_phone_number.as_deref(), Some("26772000000"));
        assert_eq!(contents.requester_email.as_deref(), Some("till@shop.example"));
    }
    let email = worker.claim_messages(Channel::Email, Duration::ZERO, 10, LEASE).await.unwrap();
    let notice =
        Notice { kind: NoticeKind::Issued, recipient: Recipient::Requester, channel: Channel::Email };
    assert_eq!(email.iter().map(|message| message.id.notice).collect::<Vec<_>>(), [notice]);
}

#[tokio::test]
async fn a_message_that_cannot_be_read_does_not_hold_up_the_others() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    let (good, bad) =
        (env.issued(&merchant, "04000000001").await, env.issued(&merchant, "04000000002").await);
    env.sql(&format!(
        "SET session_replication_role = replica; UPDATE purchases SET token_key_id = 99 WHERE id = {}",
        bad.id.0
    ));
    let messages = claimed(&as_worker(&env).await, 10).await;
    let readable: Vec<_> =
        messages.iter().map(|message| (message.id.purchase, message.contents.is_some())).collect();
    assert_eq!(BTreeSet::from_iter(readable), [(good.id, true), (bad.id, false)].into());
}

#[tokio::test]
async fn two_workers_share_the_messages_and_neither_gets_one_of_the_others() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(1_000_000).await;
    for number in 0..40 {
        env.issued(&merchant, &format!("04000000{number:03}")).await;
    }
    let (one, other) = (as_worker(&env).await, as_worker(&env).await);
    let mut seen = BTreeSet::new();
    loop {
        let (ours, theirs) = tokio::join!(claimed(&one, 7), claimed(&other, 7));
        if ours.is_empty() && theirs.is_empty() {
            break;
        }
        for message in ours.iter().chain(&theirs) {
            assert!(seen.insert(message.id), "{message:?} was claimed twice");
        }
    }
    assert_eq!(seen.len(), 40);
}

#[tokio::test]
async fn a_message_is_repeated_under_the_same_id_until_it_is_marked_as_sent() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    env.issued(&merchant, "04000000001").await;
    let worker = as_worker(&env).await;
    let first = claimed(&worker, 10).await.remove(0);
    assert_eq!(claimed(&worker, 10).await.len(), 0, "its lease is live");

    env.sql("UPDATE outbox SET due_at = now()");
    let again = claimed(&worker, 10).await.remove(0);
    assert_eq!((again.id, again.attempt), (first.id, 2));
    ended(&worker, &again, DeliveryOutcome::Sent).await;
    env.sql("ALTER TABLE outbox DISABLE TRIGGER outbox_sends_once; UPDATE outbox SET due_at = now() - interval '1 h'");
    assert_eq!(claimed(&worker, 10).await.len(), 0);
    assert_eq!(env.sql("SELECT attempts, sent_at IS NOT NULL, given_up_at IS NULL FROM outbox"), "2|t|t");
}

#[tokio::test]
async fn a_message_claimed_more_often_than_is_counted_delays_no_other() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    let worn_out = env.issued(&merchant, "04000000001").await;
    env.issued(&merchant, "04000000002").await;
    env.sql(&format!("UPDATE outbox SET attempts = 32767 WHERE purchase_id = {}", worn_out.id.0));
    let mut attempts: Vec<u16> =
        claimed(&as_worker(&env).await, 10).await.iter().map(|message| message.attempt).collect();
    attempts.sort_unstable();
    assert_eq!(attempts, [1, ClaimedMessage::ATTEMPTS_COUNTED]);
}

#[tokio::test]
async fn only_the_latest_claim_says_that_a_message_failed_and_any_says_that_it_was_sent() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    env.issued(&merchant, "04000000001").await;
    let worker = as_worker(&env).await;
    let first = claimed(&worker, 1).await.remove(0);
    env.sql("UPDATE outbox SET due_at = now()");
    let second = claimed(&worker, 1).await.remove(0);

    ended(&worker, &first, DeliveryOutcome::GivenUp(GivenUp::Refused)).await;
    ended(&worker, &first, DeliveryOutcome::RetryAfter(Duration::ZERO)).await;
    let row = "SELECT attempts, due_at > now(), sent_at IS NOT NULL, given_up_because FROM outbox";
    assert_eq!(env.sql(row), "2|t|f|");
    ended(&worker, &second, DeliveryOutcome::RetryAfter(Duration::ZERO)).await;
    assert_eq!(env.sql(row), "2|f|f|");
    ended(&worker, &second, DeliveryOutcome::GivenUp(GivenUp::TooOften)).await;
    assert_eq!(env.sql(row), "2|f|f|TOO_OFTEN");
    assert_eq!(claimed(&worker, 1).await.len(), 0);
    ended(&worker, &first, DeliveryOutcome::Sent).await;
    assert_eq!(env.sql(row), "2|f|t|");
    for late in [DeliveryOutcome::RetryAfter(Duration::ZERO), DeliveryOutcome::GivenUp(GivenUp::TooOld)] {
        ended(&worker, &second, late).await;
    }
    assert_eq!(env.sql(row), "2|f|t|");
}

#[tokio::test]
async fn a_message_cannot_be_undone_and_a_purchase_has_one_kind_of_message() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    let order = env.issued(&merchant, "04000000001").await;
    for role in ["vendgate_api", "vendgate_worker", "vendgate_operator"] {
        for forbidden in ["UPDATE outbox SET kind = 'REFUNDED'", "TRUNCATE outbox"] {
            let said = env.refusal_in(role, forbidden);
            assert!(said.contains("permission denied"), "{role}: {forbidden}: {said}");
        }
        let said = env.refusal_in(role, "DELETE FROM outbox");
        let expected = if role == "vendgate_worker" { "is still to be sent" } else { "permission denied" };
        assert!(said.contains(expected), "{role}: {said}");
    }
    assert!(
        env.refusal_in("vendgate_api", "UPDATE outbox SET sent_at = now()").contains("permission denied")
    );
    assert!(env.refusal_of("DELETE FROM outbox").contains("is still to be sent"));
    assert!(env.refusal_of("TRUNCATE outbox").contains("append-only"));
    let refund = format!(
        "INSERT INTO outbox (purchase_id, kind, recipient, channel, written_at, due_at)
         VALUES ({}, 'REFUNDED', 'BENEFICIARY', 'SMS', now(), now())",
        order.id.0
    );
    assert!(env.refusal_of(&refund).contains("outbox_pkey"));
    env.sql("UPDATE outbox SET sent_at = now()");
    assert!(env.refusal_of("UPDATE outbox SET sent_at = NULL").contains("was sent"));
}

#[tokio::test]
async fn the_words_of_the_outbox_are_those_of_the_program() {
    let env = TestEnv::open().await;
    let listed = |column| -> BTreeSet<String> { env.listed("outbox", column).into_iter().collect() };
    assert_eq!(listed("kind"), NoticeKind::ALL.map(|kind| kind.as_str().to_owned()).into());
    assert_eq!(listed("recipient"), Recipient::ALL.map(|recipient| recipient.as_str().to_owned()).into());
    assert_eq!(listed("channel"), Channel::ALL.map(|channel| channel.as_str().to_owned()).into());
    assert_eq!(listed("given_up_because"), GivenUp::ALL.map(|why| why.as_str().to_owned()).into());
}
