//! The webhook endpoint of each organisation during an attack. It verifies each request, and sometimes answers 500 or hangs up.
//! At the end it has every event of its types, and each redelivery was the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use acceptance::{
    fault_injection::{FaultEnv, Integrator, until},
    webhook_till::{Manner, Till},
};
use clock::{Clock, SystemClock};
use serde_json::{Value, json};

/// What the endpoint gets.
const TYPES: [&str; 3] = ["purchase.accepted", "purchase.succeeded", "purchase.failed"];
/// Longer than any transaction is open that holds events back.
const TOLD_WITHIN: Duration = Duration::from_secs(10);
/// Longer than the first pause of an event that failed and the lease of an endpoint, on a busy machine.
const DELIVERED_WITHIN: Duration = Duration::from_secs(40);
/// After so many events some fail again.
const PERIOD: usize = 160;

/// The endpoints of all organisations, one each.
pub struct Told(Vec<Endpoint>);

struct Endpoint {
    till: Till,
    integrator: Arc<Integrator>,
}

impl Told {
    /// Endpoints that exist before the first purchase. Each fails among its first `FAILING` events. Their second attempt is due some
    /// seconds later, so the last events never fail.
    pub async fn begin<const FAILING: usize>(env: &FaultEnv) -> Self {
        let mut endpoints = Vec::new();
        for integrator in &env.integrators {
            endpoints.push(Endpoint::begin::<FAILING>(env, integrator.clone()).await);
        }
        assert!(!endpoints.is_empty());
        Self(endpoints)
    }

    /// Fails unless every purchase that has ended has one final event, and every event of the feed was delivered as it is there.
    pub async fn is_complete(&self, env: &FaultEnv) {
        for endpoint in &self.0 {
            endpoint.is_complete(env).await;
        }
    }
}

impl Endpoint {
    async fn begin<const FAILING: usize>(env: &FaultEnv, integrator: Arc<Integrator>) -> Self {
        let till = Till::open_with(manner::<FAILING>).await;
        let endpoint = json!({ "url": till.url, "event_types": TYPES });
        let created = integrator.creates_endpoint(env.url(), &endpoint).await;
        till.verifies_with(&[at(&created, "/secret"), at(&created, "/public_keys/0")]);
        Self { till, integrator }
    }

    async fn is_complete(&self, env: &FaultEnv) {
        let began = SystemClock.monotonic();
        let feed = self.whole_feed(env).await;
        until("every event is delivered", DELIVERED_WITHIN, async || {
            let received = self.till.received();
            let accepted: BTreeSet<&str> =
                received.iter().filter(|it| it.is_accepted).map(|it| it.id.as_str()).collect();
            feed.keys().all(|id| accepted.contains(id.as_str()))
        })
        .await;
        let received = self.till.received().clone();
        // A purchase under review may have ended meanwhile.
        let feed = self.feed(env).await;
        let mut first_bodies = BTreeMap::new();
        for it in &received {
            assert!(it.is_genuine, "a request was not signed by the keys of the endpoint: {}", it.id);
            let first = first_bodies.entry(&it.id).or_insert(&it.body);
            assert_eq!(*first, &it.body, "{} was delivered again with other bytes", it.id);
        }
        for (id, body) in &first_bodies {
            let delivered: Value = serde_json::from_slice(body).unwrap();
            assert_eq!(Some(&delivered), feed.get(*id), "{id} is not what the feed has");
        }
        let refused = received.iter().filter(|it| !it.is_accepted).count();
        println!(
            "{} events were delivered in {} requests, {refused} of which failed, the last after {:?}",
            feed.len(),
            received.len(),
            SystemClock.monotonic().elapsed_since(began)
        );
    }

    /// The feed, once it has one final event of every purchase that has ended. It holds back what is younger than an open transaction,
    /// and a purchase under review may end at any moment.
    async fn whole_feed(&self, env: &FaultEnv) -> BTreeMap<String, Value> {
        let began = SystemClock.monotonic();
        loop {
            let feed = self.feed(env).await;
            let (told, ended) = (told_ends(&feed), self.ended(env));
            if told == ended {
                return feed;
            }
            let waited = SystemClock.monotonic().elapsed_since(began);
            assert!(waited < TOLD_WITHIN, "the feed has the ends of {told:?}, and {ended:?} have ended");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// By id.
    async fn feed(&self, env: &FaultEnv) -> BTreeMap<String, Value> {
        let events = self.integrator.reads_events(env.url(), &TYPES.join(",")).await;
        events.into_iter().map(|event| (at(&event, "/id").as_str().unwrap().to_owned(), event)).collect()
    }

    /// The purchases that have ended, by id.
    fn ended(&self, env: &FaultEnv) -> Vec<i64> {
        let ended = env.asks(&format!(
            "SELECT id FROM purchases WHERE organisation_id = {} AND ended_at IS NOT NULL ORDER BY id",
            self.integrator.organisation
        ));
        ended.lines().map(|id| id.parse().unwrap()).collect()
    }
}

/// The purchases of the final events, by id: as often as there are such events.
fn told_ends(feed: &BTreeMap<String, Value>) -> Vec<i64> {
    let ends = feed.values().filter(|event| at(event, "/type") != "purchase.accepted");
    let mut told: Vec<i64> = ends.map(|event| at(event, "/data/purchase/id").as_i64().unwrap()).collect();
    told.sort_unstable();
    told
}

fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap()
}

const fn manner<const FAILING: usize>(number: usize) -> Manner {
    match number % PERIOD {
        nth if nth >= FAILING => Manner::Accepts,
        nth if nth % 3 == 0 => Manner::Fails,
        nth if nth % 3 == 1 => Manner::HangsUp,
        _ => Manner::Accepts,
    }
}
