//! Pauses of a provider: the reserve obeys them from their commit on, and nothing else does.

use catalogue::{ListedPause, NewPause, Resumed, list_pauses, pause_provider, resume_provider};
use chrono::{DateTime, TimeDelta, Utc};
use database::DatabaseError;
use purchase::{Event, StateName};
use store::{Reservation, ReserveRefusal};
use vend::{Doubt, Product};

use crate::env::{FIRST, Merchant, PROVIDER, TestEnv, act, refusal, vended};

impl TestEnv {
    async fn pauses(&self, pause: NewPause) -> ListedPause {
        pause_provider(self.operator.database(), PROVIDER.to_owned(), pause, false, act()).await.unwrap()
    }

    async fn resumes(&self, resumed: Resumed) -> Result<Vec<ListedPause>, DatabaseError> {
        resume_provider(self.operator.database(), PROVIDER.to_owned(), resumed, false, act()).await
    }

    fn now(&self) -> DateTime<Utc> {
        let now = self.sql("SELECT to_json(now())#>>'{}'");
        now.parse().unwrap()
    }

    async fn order_of(&self, merchant: &Merchant, product: Product) -> Reservation {
        let mut order = self.order(merchant, "04257670465", 1_000).await;
        order.request.product = product;
        order
    }

    async fn reserve_is_refused(&self, merchant: &Merchant, product: Product) -> ReserveRefusal {
        refusal(self.store.reserve(self.order_of(merchant, product).await).await)
    }
}

#[tokio::test]
async fn no_purchase_of_a_paused_provider_is_reserved_from_the_commit_of_the_pause_on() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let priced_before = env.order(&merchant, "04257670465", 1_000).await;
    let pause = env.pauses(NewPause::default()).await;
    assert!(pause.is_in_force);

    assert_eq!(refusal(env.store.reserve(priced_before).await), ReserveRefusal::Paused { until: None });
    for product in Product::ALL {
        let refused = env.reserve_is_refused(&merchant, product).await;
        assert_eq!(refused, ReserveRefusal::Paused { until: None });
    }
    assert_eq!((env.balances(merchant.wallet).as_str(), env.count("purchases")), ("50000|0", 0));

    assert_eq!(env.resumes(Resumed::InForce).await.unwrap(), [pause]);
    env.reserved(&merchant, "04257670465", 1_000).await;
}

#[tokio::test]
async fn a_pause_is_for_its_product_and_its_time_only() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (now, hour) = (env.now(), TimeDelta::hours(1));
    let later = NewPause { starts_at: Some(now + hour), ..NewPause::default() };
    let later = env.pauses(later).await;
    assert!(!later.is_in_force);
    let over = (now - hour, now - TimeDelta::minutes(1));
    env.pauses(NewPause { starts_at: Some(over.0), ends_at: Some(over.1), ..NewPause::default() }).await;
    let until = now + hour;
    let water = NewPause { product: Some(Product::Water), ends_at: Some(until), ..NewPause::default() };
    env.pauses(water).await;

    env.store.reserve(env.order_of(&merchant, Product::Electricity).await).await.unwrap();
    let paused = ReserveRefusal::Paused { until: Some(until) };
    assert_eq!(env.reserve_is_refused(&merchant, Product::Water).await, paused);
    let listed = list_pauses(env.operator.database()).await.unwrap();
    assert_eq!(listed.iter().map(|pause| pause.is_in_force).collect::<Vec<_>>(), [true, false]);

    let longer = NewPause { ends_at: Some(until + hour), ..NewPause::default() };
    env.pauses(longer).await;
    let paused = ReserveRefusal::Paused { until: Some(until + hour) };
    assert_eq!(env.reserve_is_refused(&merchant, Product::Water).await, paused, "the last of two ends");
    env.pauses(NewPause::default()).await;
    let paused = ReserveRefusal::Paused { until: None };
    assert_eq!(env.reserve_is_refused(&merchant, Product::Water).await, paused, "one has no end");

    env.resumes(Resumed::InForce).await.unwrap();
    let left = list_pauses(env.operator.database()).await.unwrap();
    assert_eq!(left, std::slice::from_ref(&later), "what is still to come stays");
    env.resumes(Resumed::One(later.id)).await.unwrap();
    for nothing in [Resumed::InForce, Resumed::One(later.id)] {
        let refused = env.resumes(nothing).await;
        assert!(matches!(refused, Err(DatabaseError::Absent { .. })), "{refused:?}");
    }
    env.store.reserve(env.order_of(&merchant, Product::Water).await).await.unwrap();
    let backwards = NewPause { ends_at: Some(now), ..NewPause::default() };
    let refused = pause_provider(env.operator.database(), PROVIDER.to_owned(), backwards, false, act()).await;
    assert!(matches!(refused, Err(DatabaseError::Rejected { .. })), "{refused:?}");
}

#[tokio::test]
async fn what_was_open_when_its_provider_was_paused_is_recorded_as_ever() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    let (order, _) = env.reserved(&merchant, "04257670465", 1_000).await;
    env.pauses(NewPause::default()).await;
    env.records(&order, Event::Lost { fence: FIRST, why: Doubt::TimedOut.into() }).await;
    let recorded = env.records(&order, vended("T-1", 1_000)).await;
    assert_eq!(recorded.lifecycle.state.name(), StateName::Successful);
    assert_eq!(env.balances(merchant.wallet), "48850|0");
}

#[tokio::test]
async fn the_database_remembers_an_offer_that_was_removed_until_it_is_made_again() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with(50_000).await;
    env.order(&merchant, "04257670465", 1_000).await;
    let organisation = merchant.authority.organisation;
    let had = async || {
        let read = catalogue::read_catalogue(env.store.database(), organisation).await.unwrap();
        read.had_offer(Product::Water, PROVIDER)
    };
    assert!(!had().await);
    env.sql("DELETE FROM offers WHERE product = 'WATER'");
    assert!(had().await);
    let again = format!(
        "INSERT INTO offers (organisation_id, product, provider_code, currency) VALUES ({}, 'WATER', '{PROVIDER}', 'BWP')",
        organisation.0
    );
    env.sql(&again);
    assert!(!had().await);
}
