//! The aggregator's list of our orders, page by page.

use std::num::NonZeroU32;

use chrono::{DateTime, SubsecRound, TimeDelta, Utc};
use clock::{Clock, SystemClock};
use provider::Provider;
use test_kit::simulator::open;
use utility_sim::{AirtimeSettings, SimulatorSettings};
use vend::{ListedSale, ListedState, Product, StatementPage, StatementRequest};

use super::env::{TestEnv, start_env};

const ACTIVE: &str = "26771000011";
const PROCESSING: &str = "26772000013";
/// One more than a page has.
const ORDERS: usize = 201;

fn open_env() -> TestEnv {
    let airtime = AirtimeSettings { report_lag_ms: 0, ..AirtimeSettings::default() };
    start_env(&SimulatorSettings { airtime, ..SimulatorSettings::default() })
}

async fn page(env: &TestEnv, from: DateTime<Utc>, until: DateTime<Utc>, number: u32) -> StatementPage {
    let page = NonZeroU32::new(number).unwrap();
    env.provider.statement(&StatementRequest { from, until, page }).await.unwrap()
}

#[tokio::test]
async fn the_orders_of_a_period_are_listed_page_by_page_with_what_became_of_them() {
    let env = open_env();
    let from = SystemClock.now().trunc_subsecs(0);
    let open_order = env.order_for(PROCESSING, "BWP 7.00");
    env.provider.vend(&open_order, &open()).await;
    let order = env.order_for(ACTIVE, "BWP 10.50");
    env.provider.vend(&order, &open()).await;
    for _ in 2..ORDERS {
        env.provider.vend(&env.order_for(ACTIVE, "BWP 1.00"), &open()).await;
    }
    let until = SystemClock.now() + TimeDelta::seconds(1);
    let (first, second) = (page(&env, from, until, 1).await, page(&env, from, until, 2).await);
    let in_all = u64::try_from(ORDERS).unwrap();
    assert_eq!((first.orders_in_all, second.orders_in_all), (in_all, in_all));
    assert_eq!((first.orders.len(), second.orders.len()), (ORDERS - 1, 1));
    assert!(page(&env, from, until, 3).await.orders.is_empty());

    let orders: Vec<_> = first.orders.iter().map(|order| order.as_ref().unwrap()).collect();
    assert!(orders.iter().all(|order| from <= order.ordered_at && order.ordered_at <= until), "{orders:?}");
    let open_orders = orders.iter().filter(|order| order.state == ListedState::StillOpen);
    assert_eq!(open_orders.count(), 1);
    let sold = ListedSale {
        reference: Some(order.reference.to_string()),
        product: Product::Airtime,
        subscriber: order.sale.subscriber.clone(),
        amount: order.sale.amount,
    };
    assert!(orders.iter().any(|order| order.state == ListedState::Vended(sold.clone())), "{orders:?}");

    let day = TimeDelta::days(1);
    assert_eq!(page(&env, from - day, from - TimeDelta::seconds(1), 1).await.orders_in_all, 0);
    assert_eq!(page(&env, until + TimeDelta::seconds(1), until + day, 1).await.orders_in_all, 0);
}
