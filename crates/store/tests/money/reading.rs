//! Reading back: a record equals what was written. Without the sealing keys the database reveals no token.

use purchase::{RefusalSource, Success};
use store::RetryKey;
use vend::{Product, SubscriberIdentifier};

use crate::env::{FIRST, TOKEN, TestEnv, pula, vend, vended};

#[tokio::test]
async fn a_purchase_is_read_back_as_it_was_written() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(20_000).await;
    let (order, reserved) = env.reserved(&merchant, "04257670465", 10_000).await;
    let recorded = env.records(&order, vended("V1", 10_000)).await;

    let record = env.store.get_record(order.id).await.unwrap();
    assert_eq!((record.id, &record.reference, record.account), (order.id, &order.reference, merchant.wallet));
    let caller = (record.organisation, record.client, record.user);
    assert_eq!(caller, (merchant.authority.organisation, merchant.authority.client, merchant.authority.user));
    assert_eq!((record.price, record.created_at), (order.price, reserved.at));
    assert_eq!(record.subscriber, order.request.subscriber);
    assert_eq!(record.source_channel, order.request.source_channel);
    assert_eq!((record.language.as_str(), record.product), ("en", Product::Electricity));
    assert_eq!(record.external_reference, order.request.external_reference);
    assert_eq!((record.comment, record.notifications), (order.request.comment, order.request.notifications));
    assert_eq!(record.subscriber_details, order.subscriber_details);
    assert_eq!((record.lifecycle, record.failure), (recorded.lifecycle, None));
    let sold = vend("V1", 10_000);
    let success = Success {
        tokens: sold.tokens,
        units: sold.units,
        provider_transaction: sold.provider_transaction,
        breakdown: sold.breakdown,
        subscriber_details: sold.subscriber_details,
    };
    assert_eq!(record.success, Some(success));
}

#[tokio::test]
async fn no_token_is_readable_in_the_database() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    env.records(&order, vended("V1", 10_000)).await;
    env.records(&order, vended("V2", 10_000)).await;
    for table in
        ["purchases", "provider_replies", "incidents", "purchase_events", "audit_log", "journal_entries"]
    {
        // Bytes are also dumped as text, so that a hexadecimal dump hides nothing.
        let dump =
            env.sql(&format!("SELECT t::text, encode(convert_to(t::text, 'UTF8'), 'escape') FROM {table} t"));
        assert!(!dump.contains(TOKEN), "{table}: {dump}");
        assert!(!dump.contains(&hex::encode(TOKEN)), "{table}: {dump}");
    }
    assert_eq!(env.count("provider_replies WHERE octet_length(sealed_reply) > 28"), 2);
    assert_eq!(env.count("incidents WHERE sealed_token IS NOT NULL AND token_key_id = 1"), 1);
}

#[tokio::test]
async fn a_sealed_token_opens_only_at_its_own_purchase() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (one, _) = env.reserved(&merchant, "04000000001", 10_000).await;
    let (other, _) = env.reserved(&merchant, "04000000002", 10_000).await;
    env.records(&one, vended("V1", 10_000)).await;
    env.records(&other, vended("V2", 10_000)).await;
    env.sql(&format!(
        "ALTER TABLE purchases DISABLE TRIGGER ALL;
         UPDATE purchases SET sealed_token = (SELECT sealed_token FROM purchases WHERE id = {}) WHERE id = {};
         ALTER TABLE purchases ENABLE TRIGGER ALL",
        one.id.0, other.id.0
    ));
    assert!(env.store.get_record(one.id).await.is_ok());
    let moved = env.store.get_record(other.id).await.unwrap_err();
    assert_eq!(moved.to_string(), format!("the token of purchase {} cannot be opened", other.id.0));
}

#[tokio::test]
async fn a_retry_finds_the_newest_purchase_of_its_key_among_its_own() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with(50_000).await, env.merchant_with(50_000).await);
    let (first, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    let busy = vend::Refusal::because(vend::RefusalReason::Busy);
    env.records(
        &first,
        purchase::Event::Refused { fence: FIRST, refusal: busy, source: RefusalSource::Answer },
    )
    .await;
    let (second, _) = env.reserved(&merchant, "04257670465", 2_000).await;
    env.reserved(&other, "04257670465", 3_000).await;

    let mut key = RetryKey {
        organisation: merchant.authority.organisation,
        subscriber: SubscriberIdentifier::parse("04257670465").unwrap(),
        external_reference: "ref-04257670465".into(),
        product: None,
    };
    let found = env.store.find_for_retry(key.clone()).await.unwrap().unwrap();
    assert_eq!((found.record.id, found.record.price.net), (second.id, pula(2_000)));
    key.product = Some(Product::Water);
    assert!(env.store.find_for_retry(key).await.unwrap().is_none());
}

#[tokio::test]
async fn accounts_and_catalogue_are_read_as_the_operator_entered_them() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(12_345).await;
    let accounts = env.store.list_accounts(merchant.authority.organisation).await.unwrap();
    let balances: Vec<_> =
        accounts.iter().map(|account| (account.name.as_str(), account.available)).collect();
    assert_eq!(balances, [("Till", pula(12_345)), ("Commission", pula(0))]);

    let bwp = money::Currency::parse("BWP").unwrap();
    let fees = purchase::FeeSchedule {
        rate: money::Rate::parse("0.015").unwrap(),
        ..purchase::FeeSchedule::free(bwp)
    };
    let terms = purchase::Terms {
        fees,
        commission: money::Rate::parse("0.01").unwrap(),
        minimum: Some(pula(500)),
        maximum: None,
    };
    let organisation = merchant.authority.organisation;
    let provider = crate::env::PROVIDER.to_owned();
    catalogue::put_offer(
        env.operator.database(),
        organisation,
        Product::Electricity,
        provider,
        terms,
        crate::env::act(),
    )
    .await
    .unwrap();
    let catalogue = catalogue::read_catalogue(env.store.database(), organisation).await.unwrap();
    assert_eq!(catalogue.products.len(), 1);
    let offer = &catalogue.products[0].offers[0];
    assert_eq!((offer.provider_name.as_str(), offer.terms), ("Botswana Power", terms));
    assert_eq!(catalogue.accounts.len(), 2);
    assert_eq!(env.count("audit_log WHERE action = 'offer.changed'"), 1);
    assert_eq!(
        env.count("audit_log WHERE action = 'account.topped_up' AND reason = 'bank transfer 4711'"),
        1
    );
}

#[tokio::test]
async fn names_of_calls_never_repeat_even_when_the_six_digits_run_out() {
    let env = TestEnv::open().await;
    let first = env.store.take_call_ids("BPC", 100).await.unwrap();
    let second = env.store.take_call_ids("BPC", 100).await.unwrap();
    assert_eq!((first.first, first.last, second.first), (1, 100, 101));
    assert!(second.at >= first.at);
    env.sql(
        "UPDATE provider_call_counters SET next_number = 999950, last_instant = now() + interval '1 day'",
    );
    let wrapped = env.store.take_call_ids("BPC", 100).await.unwrap();
    let next = env.store.take_call_ids("BPC", 100).await.unwrap();
    assert_eq!((wrapped.first, wrapped.last, next.first), (1, 100, 101));
    let kept = env.sql("SELECT last_instant > now() + interval '23 hours' FROM provider_call_counters");
    assert_eq!(kept, "t", "the instant never goes back");
    assert_eq!(next.at, wrapped.at);
}

/// As if the database had been restored from a backup of this moment: the sequence is that of the backup, and the timeline
/// is another one.
fn is_restored(env: &TestEnv, sequence: &str) {
    env.sql(&format!("SELECT setval('purchase_ids', {sequence})"));
    env.sql("UPDATE purchase_numbers SET given_out_by = 'the server of before'");
}

#[tokio::test]
async fn no_purchase_number_is_given_out_twice_though_the_database_is_restored() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    env.reserved(&merchant, "04257670465", 10_000).await;
    let backup = env.sql("SELECT last_value FROM purchase_ids");
    let lost = env.store.take_purchase_ids(500).await.unwrap();
    is_restored(&env, &backup);
    // Servers ask together, as they do after an outage.
    let (one, other) = tokio::join!(env.store.take_purchase_ids(500), env.store.take_purchase_ids(500));
    let mut after = [one.unwrap(), other.unwrap()].concat();
    after.sort_unstable();
    assert!(lost.last() < after.first(), "{lost:?} {after:?}");
    after.dedup();
    assert_eq!(after.len(), 1000);
    let then = env.store.take_purchase_ids(1).await.unwrap()[0];
    assert!(then.0 < after.first().unwrap().0 + 2_000, "numbers are skipped once");
}

#[tokio::test]
async fn more_numbers_are_skipped_the_older_the_backup_is() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(100_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    env.sql(&format!("UPDATE purchases SET created_at = now() - interval '1 day' WHERE id = {}", order.id.0));
    let before = env.store.take_purchase_ids(1).await.unwrap()[0].0;
    is_restored(&env, &before.to_string());
    let after = env.store.take_purchase_ids(1).await.unwrap()[0].0;
    assert!(
        after - before > 86_400 * 1_000,
        "a thousand for each second of the day that is lost: {before} {after}"
    );
}

#[tokio::test]
async fn the_request_that_made_a_purchase_is_on_its_record_and_bounded() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let named = |id: &str, order| store::Reservation { request_id: Some(id.to_owned()), ..order };
    let longest = "r".repeat(128);
    let order = named(&longest, env.order(&merchant, "04000000001", 1_000).await);
    env.store.reserve(order.clone()).await.unwrap();
    assert_eq!(env.store.get_record(order.id).await.unwrap().request_id, Some(longest.clone()));
    let (unnamed, _) = env.reserved(&merchant, "04000000002", 1_000).await;
    assert_eq!(env.store.get_record(unnamed.id).await.unwrap().request_id, None);
    let longer = named(&format!("{longest}r"), env.order(&merchant, "04000000003", 1_000).await);
    let refused = env.store.reserve(longer).await;
    assert!(matches!(refused, Err(store::ReserveError::Failed(_))), "{refused:?}");
}
