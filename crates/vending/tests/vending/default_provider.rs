//! Requests that name no provider: the provider that is chosen for the organisation.

use std::time::Duration;

use purchase::PurchaseRequest;
use vend::Product;
use vending::Rejection;

use crate::env::{Merchant, NEIGHBOUR, PROVIDER, TestEnv};

const NO_DEFAULT: Result<String, Rejection> = Err(Rejection::NoDefaultProvider);

impl Merchant<'_> {
    async fn default_provider(&self, product: Product) -> Result<String, Rejection> {
        self.env.vending.default_provider(self.authority.organisation, product).await
    }
}

#[tokio::test]
async fn a_purchase_goes_through_the_provider_that_the_organisation_has_chosen() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let organisation = merchant.authority.organisation;
    env.lets_the_neighbour_sell(organisation).await;
    env.defaults_to(organisation, Product::Electricity, NEIGHBOUR).await;

    let provider_code = merchant.default_provider(Product::Electricity).await.unwrap();
    assert_eq!(provider_code, NEIGHBOUR);
    let record =
        merchant.confirms(PurchaseRequest { provider_code, ..merchant.request("100.00") }).await.unwrap();

    assert_eq!(record.provider_code, NEIGHBOUR);
    env.neighbour.saw(["check", "vend #1"]);
    env.utility.saw([]);
    merchant.has("98.50", "0");
    env.closes().await;
}

#[tokio::test]
async fn a_choice_is_one_organisations_own_and_for_one_product() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with("200.00").await, env.merchant_with("200.00").await);
    env.sql("DELETE FROM offers WHERE product = 'AIRTIME'");
    env.defaults_to(merchant.authority.organisation, Product::Electricity, PROVIDER).await;
    assert_eq!(merchant.default_provider(Product::Electricity).await, Ok(PROVIDER.to_owned()));
    assert_eq!(
        merchant.default_provider(Product::Water).await,
        NO_DEFAULT,
        "water is offered without a default"
    );
    assert_eq!(merchant.default_provider(Product::Airtime).await, NO_DEFAULT, "airtime is not offered");
    assert_eq!(other.default_provider(Product::Electricity).await, NO_DEFAULT);
    env.utility.saw([]);
    env.closes().await;
}

#[tokio::test]
async fn another_choice_is_seen_when_the_catalogue_is_read_anew() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let organisation = merchant.authority.organisation;
    env.lets_the_neighbour_sell(organisation).await;
    let chosen = || merchant.default_provider(Product::Electricity);
    assert_eq!(chosen().await, NO_DEFAULT);
    for (before, after) in [(NO_DEFAULT, PROVIDER), (Ok(PROVIDER.to_owned()), NEIGHBOUR)] {
        env.defaults_to(organisation, Product::Electricity, after).await;
        env.clock.advance(Duration::from_millis(4_999));
        assert_eq!(chosen().await, before);
        env.clock.advance(Duration::from_millis(1));
        assert_eq!(chosen().await, Ok(after.to_owned()));
    }
    env.closes().await;
}

#[tokio::test]
async fn while_the_catalogue_cannot_be_read_nothing_is_said_about_a_choice() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    env.wire.is_cut();
    let asked = merchant.default_provider(Product::Electricity).await;
    assert!(matches!(asked, Err(Rejection::Overloaded | Rejection::Internal)), "{asked:?}");
    env.wire.is_restored();
    env.closes().await;
}
