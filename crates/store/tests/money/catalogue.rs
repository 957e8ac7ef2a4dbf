//! The catalogue that the operator maintains, and the subscribers for which an organisation may buy.

use std::collections::HashSet;

use catalogue::{AllowError, NewProvider};
use database::DatabaseError;
use money::{Currency, Rate};
use purchase::{AllowList, FeeSchedule, OrganisationId, ProductText, SubscriberFormat, Terms};
use vend::{Capabilities, Product, SubscriberIdentifier};

use crate::env::{Merchant, PROVIDER, TestEnv, act};

fn free() -> Terms {
    let fees = FeeSchedule::free(Currency::parse("BWP").unwrap());
    Terms { fees, commission: Rate::ZERO, minimum: None, maximum: None }
}

fn meters(numbers: impl IntoIterator<Item = u32>) -> Vec<SubscriberIdentifier> {
    numbers.into_iter().map(|number| SubscriberIdentifier::parse(&number.to_string()).unwrap()).collect()
}

impl TestEnv {
    async fn offers(&self, merchant: &Merchant, product: Product, provider: &str) {
        let to = merchant.authority.organisation;
        catalogue::put_offer(self.operator.database(), to, product, provider.into(), free(), act())
            .await
            .unwrap();
    }

    async fn second_provider(&self) {
        let provider =
            NewProvider { code: "WUC".into(), name: "Water".into(), declared: Capabilities::default() };
        catalogue::put_provider(self.operator.database(), provider, act()).await.unwrap();
    }

    async fn may_buy_for(&self, organisation: OrganisationId) -> AllowList {
        catalogue::read_catalogue(self.store.database(), organisation).await.unwrap().allowed
    }
}

fn rejected_by(outcome: Result<(), DatabaseError>) -> String {
    match outcome {
        Err(DatabaseError::Rejected { constraint, .. }) => constraint,
        other => panic!("not rejected: {other:?}"),
    }
}

#[tokio::test]
async fn a_product_has_another_name_only_where_the_operator_sets_one() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(0).await;
    env.offers(&merchant, Product::Water, PROVIDER).await;
    env.offers(&merchant, Product::Electricity, PROVIDER).await;
    let french =
        ProductText { language: "fr".into(), display_name: Some("Eau".into()), subscriber_id_label: None };
    catalogue::put_product_text(env.operator.database(), Product::Water, french.clone(), act())
        .await
        .unwrap();
    let label = ProductText { display_name: None, subscriber_id_label: Some("Compteur".into()), ..french };
    catalogue::put_product_text(env.operator.database(), Product::Water, label.clone(), act()).await.unwrap();

    let products = catalogue::read_catalogue(env.store.database(), merchant.authority.organisation)
        .await
        .unwrap()
        .products;
    let texts: Vec<_> = products.into_iter().map(|product| (product.product, product.texts)).collect();
    assert_eq!(texts, [(Product::Electricity, vec![]), (Product::Water, vec![label.clone()])]);

    let silent = ProductText { subscriber_id_label: None, ..label };
    let refused = catalogue::put_product_text(env.operator.database(), Product::Water, silent, act()).await;
    assert_eq!(rejected_by(refused), "product_texts_say_something");
    catalogue::remove_product_text(env.operator.database(), Product::Water, "fr".into(), act())
        .await
        .unwrap();
    let absent = catalogue::remove_product_text(env.operator.database(), Product::Water, "fr".into(), act())
        .await
        .unwrap_err();
    assert_eq!(absent.to_string(), "there is no entry in the catalogue for product_text:WATER/fr");
    let products = catalogue::list_products(env.store.database()).await.unwrap();
    assert!(products.iter().all(|product| product.texts.is_empty()));
    assert_eq!(env.count("audit_log WHERE action = 'product_text.changed'"), 2);
    assert_eq!(env.count("audit_log WHERE action = 'product_text.removed' AND actor = 'test_operator'"), 1);
}

#[tokio::test]
async fn the_operator_sees_everything_that_it_entered() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(0).await;
    let format = SubscriberFormat::new(Some(11), Some(13), Some("^[0-9]+$")).unwrap();
    catalogue::put_product(
        env.operator.database(),
        Product::Electricity,
        format,
        Some("On the meter".into()),
        act(),
    )
    .await
    .unwrap();
    env.second_provider().await;

    let products = catalogue::list_products(env.store.database()).await.unwrap();
    let named: Vec<_> = products.iter().map(|listed| listed.product).collect();
    assert_eq!(named, [Product::Airtime, Product::Electricity, Product::Water]);
    let electricity = &products[1];
    let format =
        (electricity.format.length_min(), electricity.format.length_max(), electricity.format.pattern());
    assert_eq!(format, (Some(11), Some(13), Some("^[0-9]+$")));
    assert_eq!(electricity.hint.as_deref(), Some("On the meter"));
    let providers = catalogue::list_providers(env.store.database()).await.unwrap();
    let named: Vec<_> = providers.iter().map(|listed| (listed.code.as_str(), listed.name.as_str())).collect();
    assert_eq!(named, [("BPC", "Botswana Power"), ("WUC", "Water")]);

    assert!(
        catalogue::list_offers(env.store.database(), merchant.authority.organisation)
            .await
            .unwrap()
            .is_empty()
    );
    env.offers(&merchant, Product::Water, "WUC").await;
    env.offers(&merchant, Product::Electricity, PROVIDER).await;
    let offers = catalogue::list_offers(env.store.database(), merchant.authority.organisation).await.unwrap();
    let listed: Vec<_> =
        offers.iter().map(|listed| (listed.offer.product, listed.offer.provider_code.as_str())).collect();
    assert_eq!(listed, [(Product::Electricity, "BPC"), (Product::Water, "WUC")]);
    assert_eq!(offers[0].offer.terms, free());
}

#[tokio::test]
async fn an_offer_goes_when_it_is_removed_but_not_while_it_is_the_default() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with(0).await, env.merchant_with(0).await);
    let organisation = merchant.authority.organisation;
    env.second_provider().await;
    for provider in [PROVIDER, "WUC"] {
        env.offers(&merchant, Product::Water, provider).await;
    }
    let operator = &env.operator;
    let default = |provider: &str| {
        catalogue::put_default_provider(
            operator.database(),
            organisation,
            Product::Water,
            provider.to_owned(),
            act(),
        )
    };
    let remove = |provider: &str| {
        catalogue::remove_offer(operator.database(), organisation, Product::Water, provider.to_owned(), act())
    };

    default(PROVIDER).await.unwrap();
    default("WUC").await.unwrap();
    let found =
        catalogue::find_default_provider(env.store.database(), organisation, Product::Water).await.unwrap();
    assert_eq!(found.as_deref(), Some("WUC"));
    let products = catalogue::read_catalogue(env.store.database(), organisation).await.unwrap().products;
    assert_eq!(products[0].default_provider.as_deref(), Some("WUC"));
    assert_eq!(rejected_by(default("NOBODY").await), "default_provider_needs_its_offer");
    let elsewhere = catalogue::put_default_provider(
        operator.database(),
        other.authority.organisation,
        Product::Water,
        "WUC".into(),
        act(),
    );
    assert_eq!(rejected_by(elsewhere.await), "default_provider_needs_its_offer");

    assert_eq!(rejected_by(remove("WUC").await), "default_provider_needs_its_offer");
    remove(PROVIDER).await.unwrap();
    assert!(matches!(remove(PROVIDER).await, Err(DatabaseError::Absent { .. })));
    catalogue::remove_default_provider(operator.database(), organisation, Product::Water, act())
        .await
        .unwrap();
    remove("WUC").await.unwrap();
    assert!(catalogue::read_catalogue(env.store.database(), organisation).await.unwrap().products.is_empty());
    assert_eq!(
        catalogue::find_default_provider(env.store.database(), organisation, Product::Water).await.unwrap(),
        None
    );
    assert_eq!(env.count("audit_log WHERE action = 'offer.removed'"), 2, "a refused removal is not recorded");
    assert_eq!(env.count("audit_log WHERE action = 'default_provider.changed'"), 2);
}

#[tokio::test]
async fn staging_limits_purchases_to_the_allow_list_and_production_does_not() {
    let env = TestEnv::open().await;
    let (merchant, other) = (env.merchant_with(0).await, env.merchant_with(0).await);
    let organisation = merchant.authority.organisation;
    env.sql("UPDATE organisations SET environment = 'STAGING'");
    assert_eq!(env.may_buy_for(organisation).await, AllowList::Only(HashSet::new()));

    let twice = [meters([1, 2, 2]), meters([1])].concat();
    assert_eq!(catalogue::allow(env.operator.database(), organisation, twice, act()).await.unwrap(), 2);
    assert_eq!(
        catalogue::allow(env.operator.database(), organisation, meters([2, 3]), act()).await.unwrap(),
        1
    );
    assert_eq!(
        catalogue::disallow(env.operator.database(), organisation, meters([1, 9]), act()).await.unwrap(),
        1
    );
    assert_eq!(catalogue::list_allowed(env.store.database(), organisation).await.unwrap(), meters([2, 3]));
    assert_eq!(env.may_buy_for(organisation).await, AllowList::Only(meters([2, 3]).into_iter().collect()));
    assert_eq!(env.may_buy_for(other.authority.organisation).await, AllowList::Only(HashSet::new()));
    assert_eq!(env.may_buy_for(OrganisationId(0)).await, AllowList::Only(HashSet::new()));

    env.sql(&format!("UPDATE organisations SET environment = 'PRODUCTION' WHERE id = {}", organisation.0));
    assert_eq!(env.may_buy_for(organisation).await, AllowList::Unrestricted);
    let lines =
        format!("audit_log WHERE action LIKE 'allow_list.%' AND organisation_id = {}", organisation.0);
    assert_eq!(env.count(&lines), 3);
    assert_eq!(env.count("audit_log WHERE details -> 'subscribers' = '[\"1\", \"9\"]'"), 1);
}

#[tokio::test]
async fn an_allow_list_stays_short_enough_to_be_kept_in_memory() {
    let env = TestEnv::open().await;
    let organisation = env.merchant_with(0).await.authority.organisation;
    catalogue::allow(env.operator.database(), organisation, meters(1..=990), act()).await.unwrap();
    // Each call fits alone. Two calls at once must not both succeed.
    let (one, other) = tokio::join!(
        catalogue::allow(env.operator.database(), organisation, meters(2001..=2010), act()),
        catalogue::allow(env.operator.database(), organisation, meters(3001..=3010), act()),
    );
    let outcomes = [one, other].map(|outcome| match outcome {
        Ok(added) => added,
        Err(AllowError::Full) => 0,
        Err(failed) => panic!("{failed:?}"),
    });
    assert_eq!(outcomes.iter().sum::<usize>(), 10);
    let full =
        catalogue::allow(env.operator.database(), organisation, meters([4000]), act()).await.unwrap_err();
    assert_eq!(full.to_string(), "an organisation's allow-list names at most 1000 subscribers");
    catalogue::allow(env.operator.database(), organisation, meters([1]), act()).await.unwrap();
    assert_eq!(
        catalogue::list_allowed(env.store.database(), organisation).await.unwrap().len(),
        AllowList::LENGTH_MAX
    );

    let unknown =
        catalogue::allow(env.operator.database(), OrganisationId(0), meters([1]), act()).await.unwrap_err();
    assert!(
        matches!(unknown, AllowError::Database(DatabaseError::Absent { what: "organisation", .. })),
        "{unknown:?}"
    );
}

#[tokio::test]
async fn the_servers_cannot_change_the_catalogue() {
    let env = TestEnv::open().await;
    for forbidden in [
        "DELETE FROM allowed_subscribers",
        "INSERT INTO allowed_subscribers VALUES (1, '04257670465')",
        "DELETE FROM default_providers",
        "UPDATE product_texts SET display_name = ''",
        "DELETE FROM offers",
    ] {
        assert!(env.refusal_in("vendgate_api", forbidden).contains("permission denied"), "{forbidden}");
    }
    let broken = "INSERT INTO allowed_subscribers SELECT id, 'a b' FROM organisations";
    env.merchant_with(0).await;
    assert!(env.refusal_of(broken).contains("allowed_subscribers_subscriber_identifier_check"));
}
