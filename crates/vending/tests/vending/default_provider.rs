//! Requests that name no provider: whom the organisation has chosen for them.

use std::time::Duration;

use purchase::PurchaseRequest;
use vend::Product;
use vending::Rejection;

use crate::town::{NEIGHBOUR, PROVIDER, Shop, Town};

const NO_DEFAULT: Result<String, Rejection> = Err(Rejection::NoDefaultProvider);

impl Shop<'_> {
    async fn default_provider(&self, product: Product) -> Result<String, Rejection> {
        self.town.vending.default_provider(self.authority.organisation, product).await
    }
}

#[tokio::test]
async fn a_purchase_goes_through_the_provider_that_the_organisation_has_chosen() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let organisation = shop.authority.organisation;
    town.lets_the_neighbour_sell(organisation).await;
    town.defaults_to(organisation, Product::Electricity, NEIGHBOUR).await;

    let provider_code = shop.default_provider(Product::Electricity).await.unwrap();
    assert_eq!(provider_code, NEIGHBOUR);
    let record = shop.confirms(PurchaseRequest { provider_code, ..shop.request("100.00") }).await.unwrap();

    assert_eq!(record.provider_code, NEIGHBOUR);
    town.neighbour.saw(["check", "vend #1"]);
    town.utility.saw([]);
    shop.has("98.50", "0");
    town.closes().await;
}

#[tokio::test]
async fn a_choice_is_one_organisations_own_and_for_one_product() {
    let town = Town::open().await;
    let (shop, other) = (town.shop_with("200.00").await, town.shop_with("200.00").await);
    town.sql("DELETE FROM offers WHERE product = 'AIRTIME'");
    town.defaults_to(shop.authority.organisation, Product::Electricity, PROVIDER).await;
    assert_eq!(shop.default_provider(Product::Electricity).await, Ok(PROVIDER.to_owned()));
    assert_eq!(shop.default_provider(Product::Water).await, NO_DEFAULT, "it offers water, chosen by nobody");
    assert_eq!(shop.default_provider(Product::Airtime).await, NO_DEFAULT, "nobody sells it airtime");
    assert_eq!(other.default_provider(Product::Electricity).await, NO_DEFAULT);
    town.utility.saw([]);
    town.closes().await;
}

#[tokio::test]
async fn another_choice_is_seen_when_the_catalogue_is_read_anew() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    let organisation = shop.authority.organisation;
    town.lets_the_neighbour_sell(organisation).await;
    let chosen = || shop.default_provider(Product::Electricity);
    assert_eq!(chosen().await, NO_DEFAULT);
    for (before, after) in [(NO_DEFAULT, PROVIDER), (Ok(PROVIDER.to_owned()), NEIGHBOUR)] {
        town.defaults_to(organisation, Product::Electricity, after).await;
        town.clock.advance(Duration::from_millis(4_999));
        assert_eq!(chosen().await, before);
        town.clock.advance(Duration::from_millis(1));
        assert_eq!(chosen().await, Ok(after.to_owned()));
    }
    town.closes().await;
}

#[tokio::test]
async fn while_the_catalogue_cannot_be_read_nothing_is_said_about_a_choice() {
    let town = Town::open().await;
    let shop = town.shop_with("200.00").await;
    town.wire.is_cut();
    let asked = shop.default_provider(Product::Electricity).await;
    assert!(matches!(asked, Err(Rejection::Overloaded | Rejection::Internal)), "{asked:?}");
    town.wire.is_mended();
    town.closes().await;
}
