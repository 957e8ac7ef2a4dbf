//! Confirms that made no purchase: which roles write and read them, and how long they are stored.

use back_office::Purged;
use chrono::{DateTime, Utc};
use money::Money;
use purchase::RefusedConfirm;
use store::{RefusedQuery, Store};
use test_kit::database::OPERATOR;
use vend::Product;

use crate::{
    checks::as_worker,
    env::{Merchant, TestEnv},
};

fn at() -> DateTime<Utc> {
    DateTime::from_timestamp(1_795_172_400, 0).unwrap()
}

fn refused(merchant: &Merchant, request_id: &str) -> RefusedConfirm {
    RefusedConfirm {
        at: at(),
        authority: merchant.authority,
        subscriber: Some("04257670465".to_owned()),
        external_reference: Some("till-7/1".to_owned()),
        product: Some(Product::Electricity),
        provider_code: Some("BPC".to_owned()),
        amount: Some(Money::parse_wire("BWP 100.00").unwrap()),
        code: "meter_not_found",
        param: None,
        request_id: request_id.to_owned(),
    }
}

fn unread(merchant: &Merchant) -> RefusedConfirm {
    RefusedConfirm {
        subscriber: None,
        external_reference: None,
        product: None,
        provider_code: None,
        amount: None,
        code: "missing_field",
        param: Some("language".to_owned()),
        ..refused(merchant, "r-unread")
    }
}

/// The store in the operator's role.
async fn as_operator(env: &TestEnv) -> Store {
    env.store_as(OPERATOR).await
}

/// The ids of the requests that a query finds, in order.
async fn finds(operator: &Store, query: RefusedQuery) -> Vec<String> {
    let found = operator.list_refused_confirms(RefusedQuery { limit: 10, ..query }).await.unwrap();
    found.into_iter().map(|record| record.request_id).collect()
}

#[tokio::test]
async fn a_refused_confirm_is_found_by_whatever_is_known_of_it() {
    let env = TestEnv::open().await;
    let operator = &as_operator(&env).await;
    let (merchant, other) = (env.merchant_with(10).await, env.merchant_with(10).await);
    let theirs = RefusedConfirm { external_reference: Some("theirs".to_owned()), ..refused(&other, "r-3") };
    let another_meter = RefusedConfirm { subscriber: Some("07".to_owned()), ..refused(&merchant, "r-2") };
    env.store
        .keep_refused_confirms(vec![refused(&merchant, "r-1"), another_meter, theirs, unread(&merchant)])
        .await
        .unwrap();
    let all = RefusedQuery::default;
    assert_eq!(finds(operator, all()).await, ["r-unread", "r-3", "r-2", "r-1"]);
    let by_reference = RefusedQuery { external_reference: Some("till-7/1".to_owned()), ..all() };
    assert_eq!(finds(operator, by_reference).await, ["r-2", "r-1"]);
    let by_meter = RefusedQuery { subscriber: Some("04257670465".to_owned()), ..all() };
    assert_eq!(finds(operator, by_meter).await, ["r-3", "r-1"]);
    let of_the_other = RefusedQuery { organisation: Some(other.authority.organisation), ..all() };
    assert_eq!(finds(operator, of_the_other).await, ["r-3"]);
    let by_request = RefusedQuery { request_id: Some("r-2".to_owned()), ..all() };
    assert_eq!(finds(operator, by_request).await, ["r-2"]);

    let page = operator.list_refused_confirms(RefusedQuery { limit: 2, ..all() }).await.unwrap();
    let next = RefusedQuery { before: Some(page[1].id), ..all() };
    assert_eq!(finds(operator, next).await, ["r-2", "r-1"]);
}

#[tokio::test]
async fn a_refused_confirm_states_the_caller_the_request_and_the_answer() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10).await;
    env.store.keep_refused_confirms(vec![refused(&merchant, "r-1"), unread(&merchant)]).await.unwrap();
    let all = RefusedQuery { limit: 10, ..RefusedQuery::default() };
    let found = as_operator(&env).await.list_refused_confirms(all).await;
    let [unread, whole] = &found.unwrap()[..] else { panic!("two were kept") };
    assert_eq!(
        (whole.refused_at, whole.code.as_str(), whole.param.as_deref()),
        (at(), "meter_not_found", None)
    );
    assert_eq!(whole.amount.map(|amount| amount.to_string()).as_deref(), Some("BWP 100.00"));
    assert_eq!(
        (whole.product.as_deref(), whole.provider_code.as_deref()),
        (Some("ELECTRICITY"), Some("BPC"))
    );
    assert!(whole.organisation.is_some() && whole.client.is_some() && whole.user.is_some(), "{whole:?}");
    assert_eq!((unread.code.as_str(), unread.param.as_deref()), ("missing_field", Some("language")));
    assert_eq!((&unread.subscriber, &unread.amount, &unread.product), (&None, &None, &None));
}

#[tokio::test]
async fn servers_write_refused_confirms_operators_read_them_and_no_role_changes_them() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(10).await;
    env.store.keep_refused_confirms(vec![refused(&merchant, "r-1")]).await.unwrap();
    for (role, forbidden) in [
        ("vendgate_api", "SELECT subscriber_identifier FROM refused_confirms"),
        ("vendgate_api", "UPDATE refused_confirms SET code = 'x'"),
        ("vendgate_api", "DELETE FROM refused_confirms"),
        ("vendgate_worker", "SELECT subscriber_identifier FROM refused_confirms"),
        ("vendgate_worker", "UPDATE refused_confirms SET refused_at = now() - interval '1 year'"),
        ("vendgate_operator", "UPDATE refused_confirms SET code = 'x'"),
        ("vendgate_operator", "DELETE FROM refused_confirms"),
    ] {
        let said = env.refusal_in(role, forbidden);
        assert!(said.contains("permission denied"), "{role}: {forbidden}: {said}");
    }
    assert_eq!(env.sql("SET ROLE vendgate_operator; SELECT code FROM refused_confirms"), "meter_not_found");
}

#[tokio::test]
async fn a_refused_confirm_stays_for_thirty_days_and_then_goes() {
    let env = TestEnv::open().await;
    let (worker, merchant) = (as_worker(&env).await, env.merchant_with(10).await);
    env.store
        .keep_refused_confirms(vec![refused(&merchant, "young"), refused(&merchant, "old")])
        .await
        .unwrap();
    env.sql("UPDATE refused_confirms SET refused_at = now() - interval '29 days 23 hours'");
    assert_eq!(back_office::purge_expired(worker.database()).await.unwrap(), Purged::default());
    let said = env.refusal_in("vendgate_worker", "DELETE FROM refused_confirms");
    assert!(said.contains("within the last 30 days"), "{said}");

    env.sql(
        "UPDATE refused_confirms SET refused_at = now() - interval '30 days 1 hour' WHERE request_id = 'old'",
    );
    let expected = Purged { refused_confirms: 1, ..Purged::default() };
    assert_eq!(back_office::purge_expired(worker.database()).await.unwrap(), expected);
    assert_eq!(env.sql("SELECT request_id FROM refused_confirms"), "young");
}
