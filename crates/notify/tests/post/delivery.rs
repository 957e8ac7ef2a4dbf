//! The outcomes of messages: sent once, retried, given up, and repeated only when the outcome of an attempt is unknown.

use std::time::Duration;

use notify::{Delivered, NotifySettings};
use tokio::time::timeout;

use crate::doubles::{Inbox, Mood};
use crate::env::TOKEN;
use crate::outbox::Outbox;

const TOKEN_SMS: (&str, &str) = ("BENEFICIARY", "SMS");
const RECEIPT_SMS: (&str, &str) = ("REQUESTER", "SMS");
const RECEIPT_EMAIL: (&str, &str) = ("REQUESTER", "EMAIL");
const ROWS: &str = "SELECT attempts, sent_at IS NOT NULL, given_up_because FROM outbox ORDER BY purchase_id";

fn settings() -> NotifySettings {
    NotifySettings { poll_ms: 10, ..NotifySettings::default() }
}

fn delivered(sent: u64, later: u64, given_up: u64) -> Delivered {
    Delivered { sent, later, given_up }
}

#[tokio::test]
async fn everything_that_is_due_is_sent_once_each_on_its_channel() {
    let outbox = Outbox::open().await;
    outbox.owes(1..41, &[TOKEN_SMS]);
    outbox.owes(41..43, &[TOKEN_SMS, RECEIPT_SMS, RECEIPT_EMAIL]);
    let (sms, email) = (Inbox::default(), Inbox::default());
    let notifier = outbox.notifier(Some(&sms), Some(&email), settings());
    assert_eq!(notifier.deliver_due().await.unwrap(), delivered(46, 0, 0));
    assert_eq!(notifier.deliver_due().await.unwrap(), delivered(0, 0, 0));

    let mut expected: Vec<String> = (1..43).map(|id| format!("{id}.issued.beneficiary.sms")).collect();
    expected.insert(41, "41.issued.requester.sms".into());
    expected.push("42.issued.requester.sms".into());
    assert_eq!(sms.names(), expected);
    assert_eq!(email.names(), ["41.issued.requester.email", "42.issued.requester.email"]);
    let first = sms.letters().into_iter().find(|letter| letter.id.purchase.0 == 7).unwrap();
    assert_eq!(first.to, "26771230007");
    assert!(first.text.contains("Token: 1234 5678 9012 3456 7890"), "{}", first.text);
}

#[tokio::test]
async fn a_crash_between_sending_and_recording_causes_one_repeat_under_the_same_id() {
    let outbox = Outbox::open().await;
    outbox.owes(1..2, &[TOKEN_SMS]);
    let dying = Inbox::that([Mood::AcceptsAndHangs]);
    let doomed = outbox.notifier(Some(&dying), None, settings());
    let dead = timeout(Duration::from_millis(500), doomed.deliver_due()).await;
    assert!(dead.is_err());
    assert_eq!(dying.names(), ["1.issued.beneficiary.sms"]);

    let other = Inbox::default();
    let living = outbox.notifier(Some(&other), None, settings());
    assert_eq!(living.deliver_due().await.unwrap(), delivered(0, 0, 0), "the lease has not ended");
    outbox.time_passes();
    for sent in [1, 0, 0] {
        assert_eq!(living.deliver_due().await.unwrap(), delivered(sent, 0, 0));
        outbox.time_passes();
    }
    assert_eq!(other.letters(), dying.letters(), "the same message");
}

#[tokio::test]
async fn two_notifiers_share_an_outbox_and_send_no_message_twice() {
    let outbox = Outbox::open().await;
    outbox.owes(1..61, &[TOKEN_SMS]);
    let inbox = Inbox::default();
    let batch = NotifySettings { at_once: 5, ..settings() };
    let (one, other) =
        (outbox.notifier(Some(&inbox), None, batch.clone()), outbox.notifier(Some(&inbox), None, batch));
    let (one, other) = tokio::join!(one.deliver_due(), other.deliver_due());
    assert_eq!(one.unwrap().sent + other.unwrap().sent, 60);
    let expected: Vec<String> = (1..61).map(|id| format!("{id}.issued.beneficiary.sms")).collect();
    assert_eq!(inbox.names(), expected);
}

#[tokio::test]
async fn a_busy_gateway_is_tried_again_later_and_later_until_it_is_often_enough() {
    let outbox = Outbox::open().await;
    outbox.owes(1..2, &[TOKEN_SMS]);
    let inbox = Inbox::that([Mood::IsBusy; 4]);
    let notifier = outbox.notifier(Some(&inbox), None, NotifySettings { attempts_max: 4, ..settings() });
    for seconds in [15, 30, 60] {
        assert_eq!(notifier.deliver_due().await.unwrap(), delivered(0, 1, 0));
        let pause: f64 = outbox.sql("SELECT extract(epoch FROM due_at - now()) FROM outbox").parse().unwrap();
        let shortest = f64::from(seconds) / 2.0;
        assert!(pause > shortest - 5.0 && pause <= f64::from(seconds), "{pause} s, not up to {seconds}");
        outbox.time_passes();
    }
    assert_eq!(notifier.deliver_due().await.unwrap(), delivered(0, 0, 1));
    assert_eq!(outbox.sql(ROWS), "4|f|TOO_OFTEN");

    outbox.owes(2..3, &[TOKEN_SMS]);
    assert_eq!(notifier.deliver_due().await.unwrap(), delivered(1, 0, 0));
}

#[tokio::test]
async fn a_message_that_cannot_be_sent_or_used_is_given_up_with_a_reason() {
    let outbox = Outbox::open().await;
    outbox.owes(1..2, &[TOKEN_SMS]);
    let refusing = outbox.notifier(Some(&Inbox::that([Mood::Refuses])), None, settings());
    assert_eq!(refusing.deliver_due().await.unwrap(), delivered(0, 0, 1));

    outbox.owes(2..3, &[RECEIPT_EMAIL]);
    outbox.sql("UPDATE outbox SET due_at = now() - interval '61 minutes' WHERE purchase_id = 2");
    assert_eq!(refusing.deliver_due().await.unwrap(), delivered(0, 0, 1));

    outbox.owes(3..4, &[RECEIPT_SMS]);
    outbox.sql("UPDATE users SET phone_number = NULL");
    let inbox = Inbox::default();
    let notifier = outbox.notifier(Some(&inbox), None, settings());
    assert_eq!(notifier.deliver_due().await.unwrap(), delivered(0, 0, 1));

    outbox.owes(4..5, &[TOKEN_SMS]);
    outbox.sql("UPDATE outbox SET written_at = now() - interval '25 hours' WHERE purchase_id = 4");
    assert_eq!(notifier.deliver_due().await.unwrap(), delivered(0, 0, 1));

    assert_eq!(outbox.sql(ROWS), "1|f|REFUSED\n1|f|NO_CHANNEL\n1|f|NOBODY\n1|f|TOO_OLD");
    assert_eq!(inbox.names(), Vec::<String>::new());
}

#[tokio::test]
async fn a_worker_without_a_gateway_leaves_its_messages_to_the_workers_that_have_one() {
    let outbox = Outbox::open().await;
    outbox.owes(1..4, &[RECEIPT_EMAIL]);
    outbox.sql("UPDATE outbox SET due_at = now() - purchase_id * interval '29 minutes'");
    let without = outbox.notifier(Some(&Inbox::default()), None, settings());
    assert_eq!(without.deliver_due().await.unwrap(), delivered(0, 0, 1), "87 minutes overdue");
    assert_eq!(outbox.sql(ROWS), "0|f|\n0|f|\n1|f|NO_CHANNEL");

    let email = Inbox::default();
    let with = outbox.notifier(None, Some(&email), settings());
    assert_eq!(with.deliver_due().await.unwrap(), delivered(2, 0, 0));
    assert_eq!(email.names(), ["1.issued.requester.email", "2.issued.requester.email"]);
}

#[tokio::test]
async fn a_channel_that_is_off_on_purpose_gives_up_at_once_if_told_so() {
    let outbox = Outbox::open().await;
    outbox.owes(1..2, &[RECEIPT_EMAIL]);
    let nowhere = outbox.notifier(None, None, NotifySettings { unserved_for_ms: 0, ..settings() });
    assert_eq!(nowhere.deliver_due().await.unwrap(), delivered(0, 0, 1));
    assert_eq!(outbox.sql(ROWS), "1|f|NO_CHANNEL");
}

#[tokio::test]
async fn a_token_that_cannot_be_unsealed_now_is_retried_and_delays_no_other_message() {
    let outbox = Outbox::open().await;
    outbox.owes(1..3, &[TOKEN_SMS]);
    let sealed_with = |key: u32| {
        outbox.sql(&format!(
            "SET session_replication_role = replica; UPDATE purchases SET token_key_id = {key} WHERE id = 1"
        ))
    };
    sealed_with(9);
    let inbox = Inbox::default();
    let notifier = outbox.notifier(Some(&inbox), None, settings());
    assert_eq!(notifier.deliver_due().await.unwrap(), delivered(1, 1, 0));
    sealed_with(1);
    outbox.time_passes();
    assert_eq!(notifier.deliver_due().await.unwrap(), delivered(1, 0, 0));
    assert!(inbox.letters().iter().all(|letter| letter.text.replace(' ', "").contains(TOKEN)));
}

#[tokio::test]
async fn a_channel_that_hangs_delays_only_its_own_messages_and_a_stop_waits_for_them() {
    let outbox = Outbox::open().await;
    outbox.owes(1..2, &[RECEIPT_EMAIL]);
    outbox.owes(2..30, &[TOKEN_SMS]);
    let (sms, email) = (Inbox::default(), Inbox::that([Mood::AcceptsAndHangs]));
    let notifier = outbox.notifier(Some(&sms), Some(&email), settings());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move { notifier.run(async { drop(stopped.await) }).await });
    let all = timeout(Duration::from_secs(20), async {
        while sms.letters().len() < 28 || email.letters().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    assert!(all.await.is_ok(), "{} were sent", sms.letters().len());
    stop.send(()).unwrap();
    assert!(!running.is_finished(), "the e-mail is still under way");
    running.abort();
}

#[tokio::test]
async fn a_notifier_that_has_nothing_under_way_stops_when_it_is_told_to() {
    let outbox = Outbox::open().await;
    outbox.owes(1..2, &[TOKEN_SMS]);
    let sms = Inbox::default();
    let notifier = outbox.notifier(Some(&sms), None, settings());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(async move { notifier.run(async { drop(stopped.await) }).await });
    let sent = timeout(Duration::from_secs(20), async {
        while sms.letters().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    assert!(sent.await.is_ok());
    stop.send(()).unwrap();
    assert!(timeout(Duration::from_secs(20), running).await.is_ok());
    assert_eq!(outbox.sql(ROWS), "1|t|", "the sent message is recorded");
}
