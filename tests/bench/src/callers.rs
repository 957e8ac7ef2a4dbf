//! Callers that buy one purchase after another: reserve, then settle, each as soon as the previous call has returned.

use std::sync::Arc;
use std::time::Duration;

use clock::{Clock, SystemClock};
use store::Store;

use crate::{
    Failure,
    market::{Market, vended},
    measurement::{Measurement, together},
};

/// The number of concurrent callers.
const CALLERS: u32 = 64;

/// Runs the callers for a while, spread over `stores`. They buy from the wallets of `organisations`.
pub async fn buy(
    market: &Arc<Market>,
    stores: &[Store],
    organisations: u32,
    length: Duration,
) -> Result<Measurement, Failure> {
    let caller = |(number, store): (u32, &Store)| Caller {
        number,
        organisations,
        store: store.clone(),
        market: market.clone(),
    };
    let callers: Vec<Caller> = (0..CALLERS).zip(stores.iter().cycle()).map(caller).collect();
    let (_callers, measured) = together(callers, |caller| caller.buy_for(length)).await?;
    Ok(measured)
}

struct Caller {
    number: u32,
    organisations: u32,
    store: Store,
    market: Arc<Market>,
}

impl Caller {
    /// Returns the latency of each purchase.
    async fn buy_for(self, length: Duration) -> Result<(Self, Vec<Duration>), Failure> {
        let clock = SystemClock;
        let began = clock.monotonic();
        let mut latencies = Vec::new();
        // Each caller cycles through all wallets from its own start position.
        let mut place = self.number.saturating_mul(self.organisations).div_euclid(CALLERS);
        while clock.monotonic().elapsed_since(began) < length {
            let order = self.market.order(place.rem_euclid(self.organisations).saturating_add(1))?;
            let (id, organisation) = (order.id, order.authority.organisation);
            let fact = vended(id);
            let started = clock.monotonic();
            self.store.reserve(order).await?;
            self.store.record(id, organisation, fact).await?;
            latencies.push(clock.monotonic().elapsed_since(started));
            place = place.wrapping_add(1);
        }
        Ok((self, latencies))
    }
}
