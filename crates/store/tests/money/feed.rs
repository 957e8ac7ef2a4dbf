//! The feed: everything that happened to an organisation's things, once, in an order that never changes, in whatever order it
//! is committed.

use std::time::Duration;

use back_office::{FeedKept, FeedSettings, Movement, Payment};
use feed::{EventType, Feed, FeedPage, Position};
use ledger::SystemAccount;
use purchase::{Event, Handling, OrganisationId};
use serde_json::json;
use tokio::time::{sleep, timeout};
use vend::{Doubt, Unclear};

use crate::env::{FIRST, Merchant, TestEnv, act, pula, vended};

/// How long anything may take. Other tests in the same cluster hold the feed back while they write.
const SOON: Duration = Duration::from_secs(30);

fn feed_of(env: &TestEnv) -> Feed {
    Feed::on(env.store.database().clone())
}

/// The types of the events on a page.
fn types(page: &FeedPage) -> Vec<&str> {
    page.events.iter().map(|event| event.kind.as_str()).collect()
}

async fn read(feed: &Feed, organisation: OrganisationId, after: Option<Position>) -> FeedPage {
    feed.events_after(organisation, after, &[], 1_000).await.unwrap().unwrap()
}

/// All events of an organisation, once so many can be read.
async fn events(env: &TestEnv, organisation: OrganisationId, count: usize) -> FeedPage {
    let feed = feed_of(env);
    let read = timeout(SOON, async {
        loop {
            let page = read(&feed, organisation, None).await;
            if page.events.len() >= count {
                return page;
            }
            sleep(Duration::from_millis(10)).await;
        }
    });
    let page = read.await.unwrap();
    assert_eq!(page.events.len(), count, "{:?}", types(&page));
    page
}

/// The statement that writes an event of this kind, as every writer does.
fn told(organisation: OrganisationId, kind: &str) -> String {
    format!("SELECT tell_feed({}, '{kind}', clock_timestamp(), '{{}}')", organisation.0)
}

async fn pays(env: &TestEnv, merchant: &Merchant, movement: Movement, minor: i64) {
    let amount = pula(minor);
    let payment = Payment {
        wallet: merchant.wallet,
        movement,
        amount,
        reference: Some(format!("BANK-{}-{minor}", merchant.wallet.0)),
    };
    back_office::pay(env.operator.database(), payment, act()).await.unwrap();
}

#[tokio::test]
async fn transactions_that_commit_out_of_order_never_fill_a_gap_that_was_read() {
    let env = TestEnv::open().await;
    let organisation = env.merchant_with(10_000).await.authority.organisation;
    let begun = events(&env, organisation, 1).await.next;
    let feed = feed_of(&env);
    let (first, second) = (env.session().await, env.session().await);
    first.batch_execute(&format!("BEGIN; {}", told(organisation, "first.begun"))).await.unwrap();
    second.batch_execute(&format!("BEGIN; {}", told(organisation, "second.begun"))).await.unwrap();
    second.batch_execute("COMMIT").await.unwrap();

    let early = read(&feed, organisation, Some(begun)).await;
    assert_eq!(types(&early), [""; 0], "the first one may still come before it");
    assert_eq!((early.next, early.has_more), (begun, false));

    first.batch_execute(&told(organisation, "first.went_on")).await.unwrap();
    first.batch_execute("COMMIT").await.unwrap();
    let all = events(&env, organisation, 4).await;
    assert_eq!(types(&all), ["wallet.topped_up", "first.begun", "first.went_on", "second.begun"]);
}

#[tokio::test]
async fn a_reader_among_many_writers_reads_what_a_later_reader_reads() {
    const WRITERS: usize = 6;
    const EACH: usize = 40;
    let env = TestEnv::open().await;
    let organisation = env.merchant_with(10_000).await.authority.organisation;
    let writes = (0..WRITERS).map(|writer| {
        let told = told(organisation, "wallet.low");
        let session = env.session();
        async move {
            let session = session.await;
            for step in 0..EACH {
                session.batch_execute(&format!("BEGIN; {told}")).await.unwrap();
                // Each writer commits after another time, so transactions end in another order than they began.
                sleep(Duration::from_millis(u64::try_from((writer * 7 + step * 5) % 12).unwrap())).await;
                let end = if step % 9 == 0 { "ROLLBACK" } else { "COMMIT" };
                session.batch_execute(end).await.unwrap();
            }
        }
    });
    let committed = WRITERS * (0..EACH).filter(|step| step % 9 != 0).count() + 1;
    let reads = async {
        let (feed, mut seen, mut after) = (feed_of(&env), Vec::new(), None);
        while seen.len() < committed {
            let page = feed.events_after(organisation, after, &[], 7).await.unwrap().unwrap();
            seen.extend(page.events.iter().map(|event| event.position));
            after = Some(page.next);
        }
        seen
    };
    let (_written, seen) = tokio::join!(futures_util::future::join_all(writes), timeout(SOON, reads));
    let seen = seen.unwrap();
    let later: Vec<_> =
        events(&env, organisation, committed).await.events.iter().map(|event| event.position).collect();
    assert_eq!(seen, later);
    assert!(later.is_sorted());
}

#[tokio::test]
async fn events_after_a_restore_come_after_all_that_were_read_before() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10_000).await;
    let before = events(&env, merchant.authority.organisation, 1).await.next;
    // Another cluster has given out fewer transaction ids.
    env.sql("UPDATE feed_numbering SET numbered_by = 'another cluster', base = base - 1000000000");
    let restored = env.store_as(test_kit::database::SERVER).await;
    assert_eq!(env.sql("SELECT numbered_by = cluster_and_timeline() FROM feed_numbering"), "t");

    pays(&env, &merchant, Movement::TopUp, 100).await;
    let all = events(&env, merchant.authority.organisation, 2).await;
    assert!(all.events[1].position > before, "{all:?}");
    // Here is the same cluster again, so nothing is numbered anew.
    let base = "SELECT base FROM feed_numbering";
    let now = env.sql(base);
    drop(restored);
    drop(env.store_as(test_kit::database::WORKER).await);
    assert_eq!(env.sql(base), now);
}

#[tokio::test]
async fn a_purchase_is_accepted_once_and_ends_once() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.records(&order, vended("V1", 1_000)).await;
    let (refused, _) = env.reserved(&merchant, "04257670466", 1_000).await;
    env.records(&refused, Event::NeverSent { fence: FIRST }).await;
    // A vend after the end opens an incident, and changes no end.
    env.records(&refused, vended("V2", 1_000)).await;

    let page = events(&env, merchant.authority.organisation, 5).await;
    let told = [
        "wallet.topped_up",
        "purchase.accepted",
        "purchase.succeeded",
        "purchase.accepted",
        "purchase.failed",
    ];
    assert_eq!(types(&page), told);
    let succeeded = serde_json::to_value(page.events[2].body()).unwrap();
    let reserved = serde_json::to_value(page.events[1].body()).unwrap();
    let expected = |status: &str| {
        json!({ "purchase": {
            "id": order.id.0, "reference": order.reference.to_string(), "external_reference": "ref-04257670465",
            "status": status, "account_id": merchant.wallet.0,
            "product_type": "ELECTRICITY", "provider_code": test_kit::purchases::PROVIDER, "subscriber_identifier": "04257670465",
            "entry": "BWP 10.00", "entry_minor": 1_000, "total": "BWP 11.50", "total_minor": 1_150,
        } })
    };
    assert_eq!((&reserved["data"], &succeeded["data"]), (&expected("PENDING"), &expected("SUCCESSFUL")));
    assert_eq!(succeeded["id"], page.events[2].position.to_string());
    let ended = env.sql(&format!(
        "SELECT to_char(ended_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') FROM purchases WHERE id = {}",
        order.id.0
    ));
    assert_eq!(succeeded["occurred_at"], ended);

    let again = format!(
        "INSERT INTO feed_events (organisation_id, transaction_no, kind, at, purchase_id)
         VALUES ({}, 1, 'purchase.failed', now(), {})",
        merchant.authority.organisation.0, order.id.0
    );
    assert!(env.database.run_sql(&again).is_err(), "it has ended");
    for change in ["UPDATE feed_events SET kind = 'purchase.failed'", "TRUNCATE feed_events"] {
        assert!(env.database.run_sql(change).is_err(), "{change}");
    }
}

#[tokio::test]
async fn doubt_is_reported_once_until_a_person_looks_into_it() {
    let env = TestEnv::open().await;
    let merchant = env.merchant(10_000, Handling::Managed).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    let why = || Unclear::from(Doubt::TimedOut);
    env.records(&order, Event::Lost { fence: FIRST, why: why() }).await;
    env.records(&order, Event::Claimed).await;
    let fence = FIRST.next();
    env.records(&order, Event::LeaseReleased { fence, why: why() }).await;
    env.sql(&format!(
        "UPDATE purchases SET window_closes_at = now() - interval '1 s' WHERE id = {}",
        order.id.0
    ));
    env.records(&order, Event::Claimed).await;
    env.records(&order, Event::WindowClosed { fence: fence.next() }).await;
    assert_eq!(env.state(order.id), "REVIEW");
    let page = events(&env, merchant.authority.organisation, 4).await;
    assert_eq!(
        types(&page),
        ["wallet.topped_up", "purchase.accepted", "purchase.pending", "purchase.in_review"]
    );
}

#[tokio::test]
async fn a_payment_and_a_low_wallet_are_told_with_their_amounts() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10_000).await;
    env.sql(&format!("UPDATE accounts SET low_balance = 9000 WHERE id = {}", merchant.wallet.0));
    pays(&env, &merchant, Movement::AdjustDown(SystemAccount::Funding), 500).await;
    pays(&env, &merchant, Movement::AdjustDown(SystemAccount::Funding), 501).await;
    // It is low already.
    pays(&env, &merchant, Movement::AdjustDown(SystemAccount::Funding), 7).await;
    let page = events(&env, merchant.authority.organisation, 5).await;
    let told = ["wallet.topped_up", "wallet.adjusted", "wallet.low", "wallet.adjusted", "wallet.adjusted"];
    assert_eq!(types(&page), told);
    let data = |index: usize| serde_json::to_value(page.events[index].body()).unwrap()["data"].clone();
    let account = json!({ "id": merchant.wallet.0, "name": data(0)["account"]["name"] });
    let low = json!({
        "account": account, "balance": "BWP 89.99", "balance_minor": 8_999, "low_balance": "BWP 90.00", "low_balance_minor": 9_000,
    });
    assert_eq!(data(2), low);
    assert!(data(4)["entry"].is_i64());
    assert_eq!(
        (&data(4)["amount"], &data(4)["amount_minor"], &data(4)["balance"], &data(4)["reference"]),
        (
            &json!("BWP -0.07"),
            &json!(-7),
            &json!("BWP 89.92"),
            &json!(format!("BANK-{}-7", merchant.wallet.0))
        )
    );
}

#[tokio::test]
async fn a_page_has_the_wanted_types_and_leads_past_the_others() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with(100_000).await, env.merchant_with(10_000).await);
    let organisation = merchant.authority.organisation;
    for number in 0..5 {
        let (order, _) = env.reserved(&merchant, &format!("0425767046{number}"), 1_000).await;
        env.records(&order, vended(&format!("V{number}"), 1_000)).await;
    }
    let all = events(&env, organisation, 11).await;
    let feed = feed_of(&env);
    let wanted = [EventType::PurchaseSucceeded];
    let first = feed.events_after(organisation, None, &wanted, 3).await.unwrap().unwrap();
    assert_eq!((types(&first).len(), first.has_more), (3, true));
    let second = feed.events_after(organisation, Some(first.next), &wanted, 3).await.unwrap().unwrap();
    assert_eq!((types(&second), second.has_more), (vec!["purchase.succeeded"; 2], false));
    let none = feed.events_after(organisation, None, &[EventType::WalletLow], 3).await.unwrap().unwrap();
    assert_eq!((types(&none).len(), none.next, none.has_more), (0, all.next, false));

    let theirs = events(&env, other.authority.organisation, 1).await.events[0].position;
    assert_eq!(feed.events_at(organisation, &[theirs]).await.unwrap(), [], "it is another organisation's");
    let mine = &all.events[4];
    assert_eq!(feed.events_at(organisation, &[mine.position]).await.unwrap().first(), Some(mine));
}

#[tokio::test]
async fn callers_that_wait_are_woken_by_an_event_that_they_want() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with(10_000).await, env.merchant_with(10_000).await);
    let organisation = merchant.authority.organisation;
    let begun = events(&env, organisation, 1).await.next;
    let feed = feed_of(&env);
    let wants =
        |types: &'static [EventType], wait| feed.events_within(organisation, Some(begun), types, 10, wait);
    let any = wants(&[], SOON);
    let low = wants(&[EventType::WalletLow], Duration::from_secs(2));
    let act = async {
        // An event of another organisation wakes neither.
        pays(&env, &other, Movement::TopUp, 100).await;
        sleep(Duration::from_millis(500)).await;
        pays(&env, &merchant, Movement::TopUp, 100).await;
    };
    let (any, low, ()) = tokio::join!(any, low, act);
    let (any, low) = (any.unwrap().unwrap(), low.unwrap().unwrap());
    assert_eq!((types(&any), types(&low)), (vec!["wallet.topped_up"], vec![]));
    assert_eq!(low.next, any.next, "the next call does not look at it again");

    let (ended, ()) = tokio::join!(timeout(SOON / 2, wants(&[EventType::WalletLow], SOON)), async {
        sleep(Duration::from_millis(200)).await;
        feed.end_waits();
    });
    assert!(ended.is_ok(), "a process that stops keeps no caller waiting");
}

#[tokio::test]
async fn old_events_are_deleted_in_order_and_a_reader_who_missed_some_is_told() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10_000).await;
    let organisation = merchant.authority.organisation;
    let first = events(&env, organisation, 1).await.next;
    pays(&env, &merchant, Movement::TopUp, 100).await;
    let second = events(&env, organisation, 2).await.next;
    pays(&env, &merchant, Movement::TopUp, 200).await;
    let all = events(&env, organisation, 3).await;
    env.sql(&format!(
        "SET session_replication_role = replica;
         UPDATE feed_events SET at = at - interval '8 days' WHERE organisation_id = {} AND id <= {}",
        organisation.0, second.number
    ));
    let deleted = |days: i32| {
        env.database.run_sql(&format!("SELECT delete_old_events({}, {days}, 100)", organisation.0))
    };
    assert!(deleted(6).is_err(), "events are kept for a week at least");
    assert_eq!(deleted(9).unwrap(), "0");
    assert_eq!(deleted(7).unwrap(), "2");
    assert_eq!(deleted(7).unwrap(), "0");

    let feed = feed_of(&env);
    assert_eq!(
        feed.events_after(organisation, Some(first), &[], 10).await.unwrap(),
        None,
        "it has missed one"
    );
    let rest = feed.events_after(organisation, Some(second), &[], 10).await.unwrap().unwrap();
    assert_eq!(rest.events, all.events[2..]);
    assert_eq!(read(&feed, organisation, None).await.events, all.events[2..]);
}

#[tokio::test]
async fn a_secret_that_ends_soon_is_reported_once_for_each_end() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10_000).await;
    let organisation = merchant.authority.organisation;
    let tell = || env.sql("SELECT tell_feed_of_expiring_secrets(30)");
    assert_eq!(tell(), "0", "it has no end");
    let ends = |within: &str| {
        env.sql(&format!(
            "UPDATE client_secrets SET expires_at = now() + interval '{within}' WHERE oauth_client_id = {}",
            merchant.authority.client.0
        ))
    };
    ends("31 days");
    assert_eq!(tell(), "0");
    ends("29 days");
    assert_eq!((tell(), tell()), ("1".to_owned(), "0".to_owned()));
    ends("7 days");
    assert_eq!(tell(), "1");
    let page = events(&env, organisation, 3).await;
    assert_eq!(types(&page)[1..], ["client.secret_expiring"; 2]);
    let data = serde_json::to_value(page.events[2].body()).unwrap()["data"].clone();
    assert!(data["client"]["client_id"].as_str().unwrap().starts_with("vg_test_"), "{data}");
    assert!(data["secret"]["expires_at"].as_str().unwrap().ends_with('Z'), "{data}");
}

#[tokio::test]
async fn the_worker_reports_secrets_and_deletes_old_events_as_its_settings_say() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10_000).await;
    let organisation = merchant.authority.organisation;
    events(&env, organisation, 1).await;
    env.sql(&format!(
        "SET session_replication_role = replica; UPDATE feed_events SET at = at - interval '40 days';
         UPDATE client_secrets SET expires_at = now() + interval '13 days' WHERE oauth_client_id = {}",
        merchant.authority.client.0
    ));
    let (worker, settings) = (crate::checks::as_worker(&env).await, FeedSettings::default());
    assert!(settings.checked().is_ok() && FeedSettings { kept_days: 6, ..settings }.checked().is_err());
    let kept = || back_office::keep_feed(worker.database(), settings);
    assert_eq!(kept().await.unwrap(), FeedKept { secrets_told: 1, events_deleted: 1 });
    assert_eq!(kept().await.unwrap(), FeedKept::default());
    assert_eq!(types(&events(&env, organisation, 1).await), ["client.secret_expiring"]);
    let progress = &mut back_office::CheckProgress::default();
    assert_eq!(back_office::check_books(&worker, progress).await.unwrap(), []);
}
