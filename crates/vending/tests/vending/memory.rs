//! What the desk remembers for a while, and no longer: passed checks and catalogues.

use std::time::Duration;

use purchase::{FeeSchedule, PurchaseRequest, Terms};
use vend::{Customer, Product, RefusalReason, Unanswered};
use vending::{ConfirmError, Rejection};

use crate::town::{METER, NEIGHBOUR, Town, meter, pula, terms, until};

fn limited_to(maximum: &str) -> Customer {
    Customer { name: Some("K. MOLEFE".into()), barred: None, minimum: None, maximum: Some(pula(maximum)) }
}

#[tokio::test]
async fn a_passed_check_is_used_again_for_a_minute_and_its_limits_apply_afresh() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    town.utility.knows(meter(METER), limited_to("150"));
    shop.buys("100.00").await.unwrap();
    // It would be allowed more by now; nobody has asked.
    town.utility.knows(meter(METER), limited_to("400"));
    town.clock.advance(Duration::from_millis(59_999));
    let limit = Rejection::Limit { reason: RefusalReason::AboveMaximum, limit: pula("150.00") };
    assert_eq!(shop.buys("200.00").await, Err(ConfirmError::Rejected(limit)));
    shop.buys("150.00").await.unwrap();
    town.utility.saw(["check", "vend #1", "vend #2"]);

    town.clock.advance(Duration::from_millis(1));
    shop.buys("200.00").await.unwrap();
    town.utility.saw(["check", "vend #1", "vend #2", "check", "vend #3"]);
    town.closes().await;
}

#[tokio::test]
async fn using_a_passed_check_makes_it_no_younger() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    for _ in 0..3 {
        shop.buys("10.00").await.unwrap();
        town.clock.advance(Duration::from_secs(40));
    }
    town.utility.saw(["check", "vend #1", "vend #2", "check", "vend #3"]);
    town.closes().await;
}

#[tokio::test]
async fn a_quote_and_the_confirm_after_it_share_a_check() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.knows(meter(METER), limited_to("150"));
    let quote = shop.quotes("100.00").await.unwrap();
    assert_eq!(quote.subscriber_details.as_deref(), Some("K. MOLEFE"));
    assert_eq!(quote.units.map(|units| units.to_string()).as_deref(), Some("100.00 kWh"));
    assert_eq!((town.count("purchases"), quote.price.total), (0, pula("101.50")));
    let record = shop.buys("100.00").await.unwrap();
    assert_eq!(record.price, quote.price);
    assert_ne!((record.id, record.reference), (quote.id, quote.reference), "a quote's number is its own");
    town.utility.saw(["check", "quote", "vend #1"]);
    town.closes().await;
}

#[tokio::test]
async fn a_check_that_did_not_pass_is_not_remembered() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.utility.will_leave_unanswered([Unanswered::Unreachable]);
    shop.buys("100.00").await.unwrap_err();
    shop.buys("100.00").await.unwrap();
    town.utility.saw(["check", "check", "vend #1"]);
    town.closes().await;
}

#[tokio::test]
async fn a_catalogue_is_used_again_for_five_seconds() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let charge = async || shop.quotes("100.00").await.unwrap().price.charge;
    assert_eq!(charge().await, pula("1.50"));
    let dearer = FeeSchedule { fixed: pula("2.50"), ..terms().fees };
    let organisation = shop.authority.organisation;
    town.offers(organisation, Product::Electricity, Terms { fees: dearer, ..terms() }).await;
    town.clock.advance(Duration::from_millis(4_999));
    assert_eq!(charge().await, pula("1.50"));
    town.clock.advance(Duration::from_millis(1));
    assert_eq!(charge().await, pula("2.50"));
    town.closes().await;
}

#[tokio::test]
async fn the_desk_shows_accounts_and_products_to_their_owner_alone() {
    let town = Town::open().await;
    let (shop, other) = (town.shop_with("200.00").await, town.shop_with("50.00").await);
    shop.buys("100.00").await.unwrap();
    let (own, its) = (shop.authority.organisation, other.authority.organisation);

    let accounts = town.vending.accounts(own).await.unwrap();
    let shown: Vec<_> = accounts.iter().map(|account| (account.name.as_str(), account.available)).collect();
    assert_eq!(shown, [("Till", pula("98.50")), ("Commission", pula("1.00"))]);
    assert_eq!(town.vending.account(its, shop.wallet).await, Ok(None));
    assert!(town.vending.account(own, shop.wallet).await.unwrap().is_some());

    town.sql("DELETE FROM offers WHERE product <> 'ELECTRICITY'");
    town.clock.advance(Duration::from_secs(5));
    let products = town.vending.products(own).await.unwrap();
    let listed: Vec<_> = products.iter().map(|listing| (listing.product, listing.providers.len())).collect();
    assert_eq!(listed, [(Product::Electricity, 1)]);
    town.closes().await;
}

#[tokio::test]
async fn whoever_waits_for_a_providers_next_numbers_keeps_nobody_from_anothers() {
    let town = Town::open().await;
    let shop = town.shop_with("500.00").await;
    town.lets_the_neighbour_sell(shop.authority.organisation).await;
    let from_the_neighbour = |number: &str| PurchaseRequest {
        provider_code: NEIGHBOUR.into(),
        subscriber: meter(number),
        ..shop.request("100.00")
    };
    let quote = async |request: PurchaseRequest| town.vending.quote(&shop.authority, &request).await;
    // It has a block of numbers now, and the desk has one for quotes.
    quote(from_the_neighbour("04000000001")).await.unwrap();
    town.wire.holds_back();
    let others_meanwhile = async {
        until("a block is waited for", || town.wire.held_back() == 1).await;
        quote(from_the_neighbour("04000000002")).await.unwrap();
        assert_eq!(town.wire.held_back(), 1, "the first one is still waiting");
        town.wire.lets_go();
    };
    let (first, ()) = tokio::join!(quote(shop.request("100.00")), others_meanwhile);
    first.unwrap();
    town.closes().await;
}
