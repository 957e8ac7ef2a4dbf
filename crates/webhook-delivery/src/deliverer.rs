//! Takes endpoints that have something due, and gives them back with what came of it.

use std::sync::Arc;
use std::time::Duration;

use clock::SharedClock;
use database::DatabaseError;
use feed::Feed;
use futures_util::FutureExt;
use tokio::task::JoinSet;
use webhook_store::{Lane, Round, Taken, WebhookStore};

use crate::{DeliverySettings, Sender, measures, round};

/// How often the record of a round is retried while the database is away.
const RECORD_AGAIN: u32 = 5;

/// Delivers events. Any number of workers may deliver those of one database.
#[derive(Clone, Debug)]
pub struct Deliverer(Arc<Parts>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) feed: Feed,
    pub(crate) webhooks: WebhookStore,
    pub(crate) sender: Sender,
    pub(crate) settings: DeliverySettings,
    pub(crate) clock: SharedClock,
}

impl Deliverer {
    /// Delivers the events of `feed`. The settings have been [checked](DeliverySettings::checked).
    pub fn new(
        feed: Feed,
        webhooks: WebhookStore,
        sender: Sender,
        settings: DeliverySettings,
        clock: SharedClock,
    ) -> Self {
        Self(Arc::new(Parts { feed, webhooks, sender, settings, clock }))
    }

    /// Sends what becomes due until `stop` resolves. Then it takes nothing more and finishes the endpoints in hand.
    pub async fn run(&self, stop: impl Future<Output = ()>) {
        let stop = stop.shared();
        let settings = &self.0.settings;
        tokio::join!(
            self.tend(Lane::Quick, settings.endpoints_at_once, stop.clone()),
            self.tend(Lane::Slow, settings.slow_endpoints_at_once, stop)
        );
    }

    /// Each lane has its own loop and places, so slow endpoints delay only each other.
    async fn tend(&self, lane: Lane, places: u16, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let mut in_hand = JoinSet::new();
        loop {
            let free = places.saturating_sub(u16::try_from(in_hand.len()).unwrap_or(u16::MAX));
            for taken in self.take(lane, free).await {
                let parts = self.0.clone();
                in_hand.spawn(async move { work(&parts, taken).await });
            }
            tokio::select! {
                biased;
                () = &mut stop => break,
                Some(_given_back) = in_hand.join_next() => {}
                () = tokio::time::sleep(self.0.settings.poll()) => {}
            }
        }
        while in_hand.join_next().await.is_some() {}
    }

    async fn take(&self, lane: Lane, limit: u16) -> Vec<Taken> {
        if limit == 0 {
            return Vec::new();
        }
        let taken = self.0.webhooks.take(lane, limit, self.0.settings.lease()).await;
        taken.unwrap_or_else(|error| {
            log(&error, "the webhook endpoints could not be looked at");
            Vec::new()
        })
    }
}

/// One round with one endpoint. If it cannot be recorded, its events are sent again when the lease has ended.
async fn work(parts: &Parts, taken: Taken) {
    let endpoint = taken.endpoint.0;
    match round::round(parts, taken).await {
        Ok(round) => match record(parts, &round).await {
            Ok(true) => measures::recorded(&round),
            Ok(false) => tracing::info!(endpoint, "a webhook endpoint was changed or taken over meanwhile"),
            Err(error) => log(&error, "what a webhook endpoint accepted could not be recorded"),
        },
        Err(error) => log(&error, "the events of a webhook endpoint could not be read"),
    }
}

async fn record(parts: &Parts, round: &Round) -> Result<bool, DatabaseError> {
    for _ in 0..RECORD_AGAIN {
        match parts.webhooks.record(round.clone()).await {
            Ok(recorded) => return Ok(recorded),
            Err(error) => log(&error, "what a webhook endpoint accepted could not be recorded yet"),
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    parts.webhooks.record(round.clone()).await
}

fn log(error: &DatabaseError, what: &'static str) {
    let cause: &dyn std::error::Error = error;
    tracing::warn!(cause, "{what}");
}
