//! Purchases as an integrator reads them back: its own, newest first, page by page.

use chrono::{DateTime, Utc};
use purchase::{Fact, Page, Place, PurchaseId, PurchaseStatus, Selection, Told, UserId};
use store::RetryKey;
use vend::{Refusal, RefusalReason, SubscriberIdentifier};

use crate::town::{FIRST, Shop, TOKEN, Town, vended};

fn of(subscriber: &str) -> Option<SubscriberIdentifier> {
    SubscriberIdentifier::parse(subscriber).ok()
}

fn refused(reason: RefusalReason) -> Fact {
    Fact::Refused { fence: FIRST, refusal: Refusal::because(reason), told: Told::InAnswer }
}

fn ids(page: &Page) -> Vec<PurchaseId> {
    page.purchases.iter().map(|filed| filed.record.id).collect()
}

impl Town {
    async fn page(&self, shop: &Shop, selection: &Selection, after: Option<Place>, limit: u16) -> Page {
        let listed = self.store.list_filed(shop.authority.organisation, selection.clone(), after, limit);
        listed.await.unwrap()
    }

    /// Every purchase of a selection, read in pages of this length.
    async fn pages(&self, shop: &Shop, selection: &Selection, limit: u16) -> Vec<PurchaseId> {
        let (mut read, mut after) = (Vec::new(), None);
        loop {
            let page = self.page(shop, selection, after, limit).await;
            read.extend(ids(&page));
            after = page.next;
            if after.is_none() {
                return read;
            }
            assert_eq!(page.purchases.len(), usize::from(limit), "only the last page is shorter");
        }
    }

    /// The same as the database sees it, newest first.
    fn expected(&self, shop: &Shop, fitting: &str) -> Vec<PurchaseId> {
        let (organisation, order) = (shop.authority.organisation.0, "created_at DESC, id DESC");
        let rows = self.sql(&format!(
            "SELECT id FROM purchases WHERE organisation_id = {organisation} AND {fitting} ORDER BY {order}"
        ));
        rows.lines().map(|id| PurchaseId(id.parse().unwrap())).collect()
    }
}

#[tokio::test]
async fn a_purchase_is_read_by_its_own_organisation_with_the_name_of_whoever_bought() {
    let town = Town::open().await;
    let (shop, stranger) = (town.shop_with(50_000).await, town.shop_with(50_000).await);
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    town.records(&order, vended("V1", 10_000)).await;

    let filed = town.store.find_filed(shop.authority.organisation, order.id).await.unwrap().unwrap();
    assert_eq!(filed.record, town.store.get_record(order.id).await.unwrap());
    let tokens = filed.record.success.as_ref().unwrap().tokens.as_ref().unwrap();
    assert_eq!(tokens.wire_form(), TOKEN);
    assert_eq!((filed.buyer.id, filed.buyer.username.as_str()), (shop.authority.user, "till"));
    assert_eq!((filed.buyer.full_name.as_str(), filed.buyer.is_active), ("Till", true));
    assert!(!format!("{filed:?}").contains(TOKEN));

    let foreign = town.store.find_filed(stranger.authority.organisation, order.id).await.unwrap();
    assert_eq!(foreign, None);
    let unknown = town.store.find_filed(shop.authority.organisation, PurchaseId(i64::MAX)).await.unwrap();
    assert_eq!(unknown, None);
    assert!(town.page(&stranger, &Selection::default(), None, 10).await.purchases.is_empty());
}

#[tokio::test]
async fn a_purchase_by_a_colleague_shows_the_colleague() {
    let town = Town::open().await;
    let shop = town.shop_with(50_000).await;
    let (order, _) = town.reserved(&shop, "04257670465", 10_000).await;
    let colleague = town.sql(&format!(
        "INSERT INTO users (organisation_id, username, password_hash, full_name, phone_number, role, status)
         VALUES ({}, 'neo', '$argon2id$', 'Neo', '26771000000', 'INTEGRATOR', 'SUSPENDED') RETURNING id",
        shop.authority.organisation.0
    ));
    let colleague: i64 = colleague.lines().next().unwrap().parse().unwrap();
    town.sql(&format!("UPDATE purchases SET user_id = {colleague} WHERE id = {}", order.id.0));
    let page = town.page(&shop, &Selection::default(), None, 1).await;
    let buyer = &page.purchases[0].buyer;
    assert_eq!((buyer.id, buyer.username.as_str(), buyer.is_active), (UserId(colleague), "neo", false));
    assert_eq!(buyer.phone_number.as_deref(), Some("26771000000"));
}

#[tokio::test]
async fn every_selection_is_read_page_by_page_newest_first_and_completely() {
    let town = Town::open().await;
    let (shop, stranger) = (town.shop_with(900_000).await, town.shop_with(900_000).await);
    for round in 0..9 {
        let meter = format!("0400000000{}", round % 3);
        let (order, _) = town.reserved(&shop, &meter, 1_000).await;
        let fact = match round % 3 {
            0 => refused(RefusalReason::Blocked),
            1 => vended(&format!("V{round}"), 1_000),
            _ => vended(&format!("W{round}"), 1_000),
        };
        town.records(&order, fact).await;
        town.reserved(&stranger, &format!("0500000000{round}"), 1_000).await;
    }
    for meter in ["04000000000", "04000000009"] {
        town.reserved(&shop, meter, 1_000).await;
    }
    town.sql("UPDATE purchases SET created_at = date_trunc('second', created_at) WHERE id % 2 = 0");

    let middle: DateTime<Utc> = town.page(&shop, &Selection::default(), None, 5).await.next.unwrap().at;
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
        let expected = town.expected(&shop, &fitting);
        for limit in [1, 2, 100] {
            assert_eq!(town.pages(&shop, &selection, limit).await, expected, "{selection:?}");
        }
    }
    assert_eq!(town.expected(&shop, "true").len(), 11);
}

#[tokio::test]
async fn what_is_bought_while_one_turns_the_pages_moves_nothing() {
    let town = Town::open().await;
    let shop = town.shop_with(900_000).await;
    for number in 0..6 {
        town.reserved(&shop, &format!("0400000000{number}"), 1_000).await;
    }
    let before = town.expected(&shop, "true");
    let first = town.page(&shop, &Selection::default(), None, 3).await;
    let (newest, _) = town.reserved(&shop, "04000000009", 1_000).await;
    let second = town.page(&shop, &Selection::default(), first.next, 3).await;
    assert_eq!([ids(&first), ids(&second)].concat(), before);
    assert_eq!(second.next, None);
    assert_eq!(ids(&town.page(&shop, &Selection::default(), None, 1).await), [newest.id]);
}

#[tokio::test]
async fn a_token_that_cannot_be_opened_is_missing_from_a_list_and_ends_no_list() {
    let town = Town::open().await;
    let shop = town.shop_with(900_000).await;
    for number in 0..3 {
        let (order, _) = town.reserved(&shop, &format!("0400000000{number}"), 1_000).await;
        town.records(&order, vended(&format!("V{number}"), 1_000)).await;
    }
    let sold = town.expected(&shop, "true");
    town.sql(&format!(
        "ALTER TABLE purchases DISABLE TRIGGER ALL;
         UPDATE purchases SET token_key_id = 9 WHERE id = {};
         ALTER TABLE purchases ENABLE TRIGGER ALL",
        sold[1].0
    ));
    let page = town.page(&shop, &Selection::default(), None, 100).await;
    assert_eq!(ids(&page), sold);
    let tokens = page.purchases.iter().map(|filed| filed.record.success.as_ref().unwrap().tokens.is_some());
    assert_eq!(tokens.collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(town.pages(&shop, &Selection::default(), 1).await, sold);

    let alone = town.store.find_filed(shop.authority.organisation, sold[1]).await.unwrap_err();
    assert_eq!(alone.to_string(), format!("the token of purchase {} cannot be opened", sold[1].0));
    let key = RetryKey {
        organisation: shop.authority.organisation,
        subscriber: SubscriberIdentifier::parse("04000000001").unwrap(),
        external_reference: "ref-04000000001".to_owned(),
        product: None,
    };
    assert_eq!(town.store.find_for_retry(key).await.unwrap_err().to_string(), alone.to_string());
}
