//! What the vending service remembers for a while, and no longer: passed checks and catalogues.

use std::time::Duration;

use purchase::{FeeSchedule, PurchaseRequest, Terms};
use vend::{Customer, Product, RefusalReason, Unanswered};
use vending::{ConfirmError, Rejection};

use crate::env::{METER, NEIGHBOUR, TestEnv, meter, pula, terms, until};

fn limited_to(maximum: &str) -> Customer {
    Customer { name: Some("K. MOLEFE".into()), barred: None, minimum: None, maximum: Some(pula(maximum)) }
}

#[tokio::test]
async fn a_passed_check_is_used_again_for_a_minute_and_its_limits_apply_afresh() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    env.utility.knows(meter(METER), limited_to("150"));
    merchant.buys("100.00").await.unwrap();
    // The limit is higher now, but the provider was not asked again.
    env.utility.knows(meter(METER), limited_to("400"));
    env.clock.advance(Duration::from_millis(59_999));
    let limit = Rejection::Limit { reason: RefusalReason::AboveMaximum, limit: pula("150.00") };
    assert_eq!(merchant.buys("200.00").await, Err(ConfirmError::Rejected(limit)));
    merchant.buys("150.00").await.unwrap();
    env.utility.saw(["check", "vend #1", "vend #2"]);

    env.clock.advance(Duration::from_millis(1));
    merchant.buys("200.00").await.unwrap();
    env.utility.saw(["check", "vend #1", "vend #2", "check", "vend #3"]);
    env.closes().await;
}

#[tokio::test]
async fn using_a_passed_check_makes_it_no_younger() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    for _ in 0..3 {
        merchant.buys("10.00").await.unwrap();
        env.clock.advance(Duration::from_secs(40));
    }
    env.utility.saw(["check", "vend #1", "vend #2", "check", "vend #3"]);
    env.closes().await;
}

#[tokio::test]
async fn a_quote_and_the_confirm_after_it_share_a_check() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.knows(meter(METER), limited_to("150"));
    let quote = merchant.quotes("100.00").await.unwrap();
    assert_eq!(quote.subscriber_details.as_deref(), Some("K. MOLEFE"));
    assert_eq!(quote.units.map(|units| units.to_string()).as_deref(), Some("100.00 kWh"));
    assert_eq!((env.count("purchases"), quote.price.total), (0, pula("101.50")));
    let record = merchant.buys("100.00").await.unwrap();
    assert_eq!(record.price, quote.price);
    assert_ne!((record.id, record.reference), (quote.id, quote.reference), "a quote's number is its own");
    env.utility.saw(["check", "quote", "vend #1"]);
    env.closes().await;
}

#[tokio::test]
async fn a_check_that_did_not_pass_is_not_remembered() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.utility.will_leave_unanswered([Unanswered::Unreachable]);
    merchant.buys("100.00").await.unwrap_err();
    merchant.buys("100.00").await.unwrap();
    env.utility.saw(["check", "check", "vend #1"]);
    env.closes().await;
}

#[tokio::test]
async fn a_catalogue_is_used_again_for_five_seconds() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let charge = async || merchant.quotes("100.00").await.unwrap().price.charge;
    assert_eq!(charge().await, pula("1.50"));
    let dearer = FeeSchedule { fixed: pula("2.50"), ..terms().fees };
    let organisation = merchant.authority.organisation;
    env.offers(organisation, Product::Electricity, Terms { fees: dearer, ..terms() }).await;
    env.clock.advance(Duration::from_millis(4_999));
    assert_eq!(charge().await, pula("1.50"));
    env.clock.advance(Duration::from_millis(1));
    assert_eq!(charge().await, pula("2.50"));
    env.closes().await;
}

#[tokio::test]
async fn accounts_and_products_are_shown_to_their_owner_alone() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with("200.00").await, env.merchant_with("50.00").await);
    merchant.buys("100.00").await.unwrap();
    let (own, its) = (merchant.authority.organisation, other.authority.organisation);

    let accounts = env.vending.accounts(own).await.unwrap();
    let shown: Vec<_> = accounts.iter().map(|account| (account.name.as_str(), account.available)).collect();
    assert_eq!(shown, [("Till", pula("98.50")), ("Commission", pula("1.00"))]);
    assert_eq!(env.vending.account(its, merchant.wallet).await, Ok(None));
    assert!(env.vending.account(own, merchant.wallet).await.unwrap().is_some());

    env.sql("DELETE FROM offers WHERE product <> 'ELECTRICITY'");
    env.clock.advance(Duration::from_secs(5));
    let products = env.vending.products(own).await.unwrap();
    let listed: Vec<_> = products.iter().map(|listing| (listing.product, listing.providers.len())).collect();
    assert_eq!(listed, [(Product::Electricity, 1)]);
    env.closes().await;
}

#[tokio::test]
async fn waiting_for_the_numbers_of_one_provider_does_not_delay_another_provider() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("500.00").await;
    env.lets_the_neighbour_sell(merchant.authority.organisation).await;
    let from_the_neighbour = |number: &str| PurchaseRequest {
        provider_code: NEIGHBOUR.into(),
        subscriber: meter(number),
        ..merchant.request("100.00")
    };
    let quote = async |request: PurchaseRequest| env.vending.quote(&merchant.authority, &request).await;
    // That provider has a block of numbers now, and the service has one for quotes.
    quote(from_the_neighbour("04000000001")).await.unwrap();
    env.wire.holds_back();
    let others_meanwhile = async {
        until("a block is waited for", || env.wire.held_back() == 1).await;
        quote(from_the_neighbour("04000000002")).await.unwrap();
        assert_eq!(env.wire.held_back(), 1, "the first one is still waiting");
        env.wire.lets_continue();
    };
    let (first, ()) = tokio::join!(quote(merchant.request("100.00")), others_meanwhile);
    first.unwrap();
    env.closes().await;
}
