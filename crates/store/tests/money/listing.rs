//! The list of purchases that an integrator reads: its own, newest first, page by page.

use chrono::{DateTime, Utc};
use purchase::{Event, Page, Position, PurchaseId, PurchaseStatus, RefusalSource, Selection, UserId};
use store::RetryKey;
use vend::{Refusal, RefusalReason, SubscriberIdentifier};

use crate::env::{FIRST, Merchant, TOKEN, TestEnv, vended};

fn of(subscriber: &str) -> Option<SubscriberIdentifier> {
    SubscriberIdentifier::parse(subscriber).ok()
}

fn refused(reason: RefusalReason) -> Event {
    Event::Refused { fence: FIRST, refusal: Refusal::because(reason), source: RefusalSource::Answer }
}

fn ids(page: &Page) -> Vec<PurchaseId> {
    page.purchases.iter().map(|with_buyer| with_buyer.record.id).collect()
}

impl TestEnv {
    async fn page(
        &self,
        merchant: &Merchant,
        selection: &Selection,
        after: Option<Position>,
        limit: u16,
    ) -> Page {
        let listed =
            self.store.list_with_buyers(merchant.authority.organisation, selection.clone(), after, limit);
        listed.await.unwrap()
    }

    /// Every purchase of a selection, read in pages of this length.
    async fn pages(&self, merchant: &Merchant, selection: &Selection, limit: u16) -> Vec<PurchaseId> {
        let (mut read, mut after) = (Vec::new(), None);
        loop {
            let page = self.page(merchant, selection, after, limit).await;
            read.extend(ids(&page));
            after = page.next;
            if after.is_none() {
                return read;
            }
            assert_eq!(page.purchases.len(), usize::from(limit), "only the last page is shorter");
        }
    }

    /// The same purchases, read with SQL, newest first.
    fn expected(&self, merchant: &Merchant, fitting: &str) -> Vec<PurchaseId> {
        let (organisation, order) = (merchant.authority.organisation.0, "created_at DESC, id DESC");
        let rows = self.sql(&format!(
            "SELECT id FROM purchases WHERE organisation_id = {organisation} AND {fitting} ORDER BY {order}"
        ));
        rows.lines().map(|id| PurchaseId(id.parse().unwrap())).collect()
    }
}

#[tokio::test]
async fn a_purchase_is_read_by_its_own_organisation_with_the_name_of_its_buyer() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with(50_000).await, env.merchant_with(50_000).await);
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    env.records(&order, vended("V1", 10_000)).await;

    let with_buyer =
        env.store.find_with_buyer(merchant.authority.organisation, order.id).await.unwrap().unwrap();
    assert_eq!(with_buyer.record, env.store.get_record(order.id).await.unwrap());
    let tokens = with_buyer.record.success.as_ref().unwrap().tokens.as_ref().unwrap();
    assert_eq!(tokens.wire_form(), TOKEN);
    assert_eq!((with_buyer.buyer.id, with_buyer.buyer.username.as_str()), (merchant.authority.user, "till"));
    assert_eq!((with_buyer.buyer.full_name.as_str(), with_buyer.buyer.is_active), ("Till", true));
    assert!(!format!("{with_buyer:?}").contains(TOKEN));

    let foreign = env.store.find_with_buyer(other.authority.organisation, order.id).await.unwrap();
    assert_eq!(foreign, None);
    let unknown =
        env.store.find_with_buyer(merchant.authority.organisation, PurchaseId(i64::MAX)).await.unwrap();
    assert_eq!(unknown, None);
    assert!(env.page(&other, &Selection::default(), None, 10).await.purchases.is_empty());
}

#[tokio::test]
async fn a_purchase_by_a_colleague_shows_the_colleague() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 10_000).await;
    let colleague = env.sql(&format!(
        "INSERT INTO users (organisation_id, username, password_hash, full_name, phone_number, role, status)
         VALUES ({}, 'neo', '$argon2id$', 'Neo', '26771000000', 'INTEGRATOR', 'SUSPENDED') RETURNING id",
        merchant.authority.organisation.0
    ));
    let colleague: i64 = colleague.lines().next().unwrap().parse().unwrap();
    env.sql(&format!("UPDATE purchases SET user_id = {colleague} WHERE id = {}", order.id.0));
    let page = env.page(&merchant, &Selection::default(), None, 1).await;
    let buyer = &page.purchases[0].buyer;
    assert_eq!((buyer.id, buyer.username.as_str(), buyer.is_active), (UserId(colleague), "neo", false));
    assert_eq!(buyer.phone_number.as_deref(), Some("26771000000"));
}

#[tokio::test]
async fn every_selection_is_read_page_by_page_newest_first_and_completely() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with(900_000).await, env.merchant_with(900_000).await);
    for round in 0..9 {
        let meter = format!("0400000000{}", round % 3);
        let (order, _) = env.reserved(&merchant, &meter, 1_000).await;
        let event = match round % 3 {
            0 => refused(RefusalReason::Blocked),
            1 => vended(&format!("V{round}"), 1_000),
            _ => vended(&format!("W{round}"), 1_000),
        };
        env.records(&order, event).await;
        env.reserved(&other, &format!("0500000000{round}"), 1_000).await;
    }
    for meter in ["04000000000", "04000000009"] {
        env.reserved(&merchant, meter, 1_000).await;
    }
    env.sql("UPDATE purchases SET created_at = date_trunc('second', created_at) WHERE id % 2 = 0");

    let middle: DateTime<Utc> = env.page(&merchant, &Selection::default(), None, 5).await.next.unwrap().at;
    let at = middle.to_rfc3339();
    let reference = Some("ref-04000000001".to_owned());
    let cases = [
        (Selection::default(), "true".to_owned()),
        (
            Selection { status: Some(PurchaseStatus::Pending), ..Selection::default() },
            "ended_at IS NULL".into(),
        ),
        (
            Selection { status: Some(PurchaseStatus::Successful), ..Selection::default() },
            "state = 'SUCCESSFUL'".into(),
        ),
        (
            Selection { status: Some(PurchaseStatus::Failed), ..Selection::default() },
            "state = 'FAILED'".into(),
        ),
        (
            Selection { subscriber: of("04000000000"), ..Selection::default() },
            "subscriber_identifier = '04000000000'".into(),
        ),
        (
            Selection {
                subscriber: of("04000000000"),
                status: Some(PurchaseStatus::Pending),
                ..Selection::default()
            },
            "subscriber_identifier = '04000000000' AND state = 'IN_FLIGHT'".into(),
        ),
        (
            Selection { external_reference: reference.clone(), ..Selection::default() },
            "external_reference = 'ref-04000000001'".into(),
        ),
        (
            Selection {
                external_reference: reference,
                subscriber: of("04000000000"),
                ..Selection::default()
            },
            "false".into(),
        ),
        (Selection { from: Some(middle), ..Selection::default() }, format!("created_at >= '{at}'")),
        (Selection { to: Some(middle), ..Selection::default() }, format!("created_at < '{at}'")),
        (Selection { from: Some(middle), to: Some(middle), ..Selection::default() }, "false".into()),
    ];
    for (selection, fitting) in cases {
        let expected = env.expected(&merchant, &fitting);
        for limit in [1, 2, 100] {
            assert_eq!(env.pages(&merchant, &selection, limit).await, expected, "{selection:?}");
        }
    }
    assert_eq!(env.expected(&merchant, "true").len(), 11);
}

#[tokio::test]
async fn a_purchase_made_between_two_pages_does_not_shift_them() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(900_000).await;
    for number in 0..6 {
        env.reserved(&merchant, &format!("0400000000{number}"), 1_000).await;
    }
    let before = env.expected(&merchant, "true");
    let first = env.page(&merchant, &Selection::default(), None, 3).await;
    let (newest, _) = env.reserved(&merchant, "04000000009", 1_000).await;
    let second = env.page(&merchant, &Selection::default(), first.next, 3).await;
    assert_eq!([ids(&first), ids(&second)].concat(), before);
    assert_eq!(second.next, None);
    assert_eq!(ids(&env.page(&merchant, &Selection::default(), None, 1).await), [newest.id]);
}

#[tokio::test]
async fn a_token_that_cannot_be_opened_is_missing_from_a_list_and_ends_no_list() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(900_000).await;
    for number in 0..3 {
        let (order, _) = env.reserved(&merchant, &format!("0400000000{number}"), 1_000).await;
        env.records(&order, vended(&format!("V{number}"), 1_000)).await;
    }
    let sold = env.expected(&merchant, "true");
    env.sql(&format!(
        "ALTER TABLE purchases DISABLE TRIGGER ALL;
         UPDATE purchases SET token_key_id = 9 WHERE id = {};
         ALTER TABLE purchases ENABLE TRIGGER ALL",
        sold[1].0
    ));
    let page = env.page(&merchant, &Selection::default(), None, 100).await;
    assert_eq!(ids(&page), sold);
    let tokens =
        page.purchases.iter().map(|with_buyer| with_buyer.record.success.as_ref().unwrap().tokens.is_some());
    assert_eq!(tokens.collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(env.pages(&merchant, &Selection::default(), 1).await, sold);

    let alone = env.store.find_with_buyer(merchant.authority.organisation, sold[1]).await.unwrap_err();
    assert_eq!(alone.to_string(), format!("the token of purchase {} cannot be opened", sold[1].0));
    let key = RetryKey {
        organisation: merchant.authority.organisation,
        subscriber: SubscriberIdentifier::parse("04000000001").unwrap(),
        external_reference: "ref-04000000001".to_owned(),
        product: None,
    };
    assert_eq!(env.store.find_for_retry(key).await.unwrap_err().to_string(), alone.to_string());
}
