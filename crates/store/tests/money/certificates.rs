//! Certificates in the database: of what has ended, as it ended, and never another one.

use certificate::{Facts, Issued, Outcome, SigningKey};
use chrono::DateTime;
use purchase::{Event, OrganisationId, PurchaseId, RefusalSource};
use store::Reservation;
use vend::{Refusal, RefusalReason};

use crate::env::{FIRST, TestEnv, pula, vended};

fn issued(order: &Reservation, organisation: OrganisationId, outcome: Outcome<'_>, seed: u8) -> Issued {
    let facts = Facts {
        issuer: "https://api.example.com",
        organisation: organisation.0,
        purchase: order.id.0,
        reference: "TOP/2026/11/0000004217",
        external_reference: None,
        product: "ELECTRICITY",
        provider: "BPC",
        subscriber: None,
        total: pula(1_000),
        created_at: DateTime::UNIX_EPOCH,
        settled_at: DateTime::UNIX_EPOCH,
        outcome,
    };
    SigningKey::from_seed(&[seed; SigningKey::SEED_LENGTH]).certify(&facts).unwrap()
}

const SOLD: Outcome<'_> = Outcome::Sold { provider_transaction: "V1", tokens: None };
const NOT_SOLD: Outcome<'_> = Outcome::NotSold { reason: "meter_blocked" };

impl TestEnv {
    async fn keeps(&self, order: &Reservation, issued: Issued) -> Option<Issued> {
        self.store.keep_certificate(order.authority.organisation, order.id, issued).await.ok().flatten()
    }
}

#[tokio::test]
async fn the_database_keeps_no_certificate_of_an_open_purchase_or_of_another_end() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    let organisation = order.authority.organisation;
    for outcome in [SOLD, NOT_SOLD] {
        assert_eq!(env.keeps(&order, issued(&order, organisation, outcome, 7)).await, None);
    }
    env.records(&order, vended("V1", 1_000)).await;
    let stranger = OrganisationId(organisation.0 + 1);
    for wrong in [issued(&order, organisation, NOT_SOLD, 7), issued(&order, stranger, SOLD, 7)] {
        assert_eq!(env.keeps(&order, wrong).await, None);
    }
    let (other, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    let refusal = Refusal::because(RefusalReason::Blocked);
    env.records(&other, Event::Refused { fence: FIRST, refusal, source: RefusalSource::Answer }).await;
    assert_eq!(env.keeps(&other, issued(&order, organisation, NOT_SOLD, 7)).await, None);
    assert_eq!(env.count("certificates"), 0);
    assert!(env.keeps(&order, issued(&order, organisation, SOLD, 7)).await.is_some());
    assert!(env.keeps(&other, issued(&other, organisation, NOT_SOLD, 7)).await.is_some());
}

#[tokio::test]
async fn the_first_certificate_of_a_purchase_stays_and_nobody_changes_it() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.records(&order, vended("V1", 1_000)).await;
    let organisation = order.authority.organisation;
    let [first, second] = [7, 8].map(|seed| issued(&order, organisation, SOLD, seed));
    assert_eq!(env.keeps(&order, first.clone()).await, Some(first.clone()));
    assert_eq!(env.keeps(&order, second).await, Some(first.clone()));
    assert_eq!(env.store.find_certificate(organisation, order.id).await.unwrap(), Some(first.clone()));
    assert_eq!(env.store.find_certificate(OrganisationId(0), order.id).await.unwrap(), None);
    assert_eq!(env.store.find_certificate(organisation, PurchaseId(0)).await.unwrap(), None);
    let keys = env.store.list_certificate_keys().await.unwrap();
    assert!(keys.contains(&first.public_key), "{keys:?}");
    for change in [
        "UPDATE certificates SET certificate = 'a.b.c'",
        "DELETE FROM certificates",
        "TRUNCATE certificate_keys CASCADE",
    ] {
        assert!(env.refusal_of(change).contains("is append-only"), "{change}");
    }
}
