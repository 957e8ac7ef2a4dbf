//! A provider whose sales are paused: it is asked for nothing new, and what is open is settled. An offer that was removed.

use std::time::Duration;

use catalogue::NewPause;
use chrono::{DateTime, Utc};
use provider::scripted::NextVend::VendsButReplyIsLost;
use purchase::PurchaseRequest;
use vend::Product;
use vending::{ConfirmError, PauseListing, Rejection, WorkDone};

use crate::env::{METER, PROVIDER, TestEnv, assert_unknown, meter};

const CATALOGUE_REUSE_AND_MORE: Duration = Duration::from_secs(6);
const FIRST_LOOK: Duration = Duration::from_secs(5);

fn paused() -> Rejection {
    Rejection::Paused { provider_code: PROVIDER.to_owned(), until: None }
}

fn removed() -> Rejection {
    Rejection::OfferRemoved { provider_code: PROVIDER.to_owned() }
}

#[tokio::test]
async fn a_paused_provider_is_asked_for_nothing_new_and_settles_what_is_open() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    for subscriber in [METER, "04257670467"] {
        env.utility.will([VendsButReplyIsLost]);
        let request = PurchaseRequest { subscriber: meter(subscriber), ..merchant.request("50.00") };
        assert_unknown(&merchant.confirms(request).await);
    }
    env.pauses(NewPause::default()).await;
    let asked = env.utility.vends().len();

    let another = || PurchaseRequest { subscriber: meter("04257670466"), ..merchant.request("10.00") };
    // The catalogue in memory does not have the pause yet: the reserve has.
    assert_eq!(merchant.confirms(another()).await, Err(ConfirmError::Rejected(paused())));
    env.utility.saw(["check", "vend #1", "check", "vend #2", "check"]);
    env.clock.advance(CATALOGUE_REUSE_AND_MORE);
    assert_eq!(merchant.confirms(another()).await, Err(ConfirmError::Rejected(paused())));
    assert_eq!(merchant.quotes("10.00").await.unwrap_err(), paused());
    assert_eq!(merchant.tries("10.00").await.unwrap_err(), paused());
    assert_eq!(env.utility.vends().len(), asked);

    merchant.retries().await.unwrap();
    env.time_passes(FIRST_LOOK);
    assert_eq!(env.vending.work_once().await, WorkDone { claimed: 1, ended: 1 });
    merchant.has("97.00", "0");
    env.closes().await;
}

#[tokio::test]
async fn the_list_of_products_shows_the_pause_that_lasts_longest_and_a_wait() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    let [soon, late] =
        ["2098-01-01T00:00:00Z", "2099-01-01T00:00:00Z"].map(|at| at.parse::<DateTime<Utc>>().unwrap());
    for (ends_at, notice) in [(late, "Works at the utility"), (soon, "A short test")] {
        let notice = Some(notice.to_owned());
        let product = Some(Product::Electricity);
        env.pauses(NewPause { product, ends_at: Some(ends_at), notice, ..NewPause::default() }).await;
    }
    let shown = |products: Vec<vending::ProductListing>, product| {
        let listed = products.into_iter().find(|listed| listed.product == product).unwrap();
        listed.providers[0].pause.clone()
    };
    let products = env.vending.products(merchant.authority.organisation).await.unwrap();
    assert_eq!(shown(products.clone(), Product::Water), None);
    let pause = PauseListing { until: Some(late), notice: Some("Works at the utility".to_owned()) };
    assert_eq!(shown(products, Product::Electricity), Some(pause));

    let Err(ConfirmError::Rejected(Rejection::Paused { until: Some(end), .. })) =
        merchant.buys("10.00").await
    else {
        panic!("the purchase was not refused as paused");
    };
    assert_eq!(end.at, late);
    let wait = late - clock::Clock::now(&env.clock);
    assert_eq!(end.wait, wait.to_std().unwrap());
    assert!(env.utility.vends().is_empty());
    env.closes().await;
}

#[tokio::test]
async fn a_request_for_an_offer_that_was_removed_is_not_called_wrong() {
    let env = TestEnv::open().await;
    let merchant = env.merchant_with("200.00").await;
    merchant.buys("10.00").await.unwrap();
    env.sql("DELETE FROM offers WHERE product = 'ELECTRICITY'");
    let another = PurchaseRequest { subscriber: meter("04257670466"), ..merchant.request("10.00") };
    assert_eq!(merchant.confirms(another.clone()).await, Err(ConfirmError::Rejected(removed())));
    env.clock.advance(CATALOGUE_REUSE_AND_MORE);
    assert_eq!(merchant.confirms(another).await, Err(ConfirmError::Rejected(removed())));
    assert_eq!(merchant.quotes("10.00").await.unwrap_err(), removed());
    let never = PurchaseRequest { provider_code: "WUC".into(), ..merchant.request("10.00") };
    assert_eq!(merchant.confirms(never).await, Err(ConfirmError::Rejected(Rejection::UnknownProduct)));
    merchant.has("188.50", "0");
    env.closes().await;
}
