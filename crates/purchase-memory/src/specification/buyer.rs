//! A buyer of one examination: an organisation with a wallet.

use std::time::Duration;

use ledger::AccountId;
use meter_token::TokenSet;
use money::{Decimal, Money};
use purchase::{Event, Fence, Handling, OrganisationId, Price, PurchaseId, RefusalSource, StateName};
use vend::{Product, RawReply, Refusal, RefusalReason, Sale, SubscriberIdentifier, Units, Vend};

use super::Bench;
use crate::{Caller, PurchaseStore, Recorded, Reservation, ReserveError, Reserved, Unacknowledged};

/// The balance with which every buyer begins, in minor units.
pub(super) const BALANCE: i64 = 50_000;
/// The price of every purchase.
pub(super) const TOTAL: i64 = 10_150;

pub(super) const JUST_ARRIVED: Caller = Caller { age: Duration::ZERO, has_hung_up: false };

pub(super) struct Buyer<'a> {
    pub(super) bench: &'a dyn Bench,
    pub(super) organisation: OrganisationId,
    pub(super) account: AccountId,
}

impl<'a> Buyer<'a> {
    pub(super) async fn of(bench: &'a dyn Bench, handling: Handling) -> Self {
        let (organisation, account) = bench.open_account(handling, bench.amount(BALANCE)).await;
        Self { bench, organisation, account }
    }

    pub(super) fn store(&self) -> &'a dyn PurchaseStore {
        self.bench.store()
    }

    /// A reservation for this subscriber under this reference.
    pub(super) async fn order(&self, subscriber: &str, reference: &str) -> Result<Reservation, String> {
        let (id, provider_reference) = self.bench.number().await;
        let amount = |minor| self.bench.amount(minor);
        let net = amount(TOTAL - 150);
        let subscriber = SubscriberIdentifier::parse(subscriber).map_err(|error| error.to_string())?;
        Ok(Reservation {
            id,
            organisation: self.organisation,
            account: self.account,
            price: Price {
                entry: net,
                charge: amount(150),
                net,
                total: amount(TOTAL),
                commission: amount(0),
            },
            sale: Sale { product: Product::Electricity, subscriber, amount: net },
            external_reference: reference.to_owned(),
            provider_reference,
        })
    }

    pub(super) async fn reserve(&self, order: &Reservation) -> Result<Reserved, ReserveError> {
        self.store().reserve(order, JUST_ARRIVED).await
    }

    /// A purchase that is in flight.
    pub(super) async fn bought(&self, subscriber: &str) -> Result<Reservation, String> {
        let order = self.order(subscriber, "order").await?;
        self.reserve(&order).await.map_err(|error| error.to_string())?;
        Ok(order)
    }

    pub(super) async fn record(&self, id: PurchaseId, event: Event) -> Result<Recorded, String> {
        self.store().record(id, event).await.map_err(|error| error.to_string())
    }

    /// Records an event, and returns the state and the fence afterwards.
    pub(super) async fn after(&self, id: PurchaseId, event: Event) -> Result<(StateName, Fence), String> {
        let recorded = self.record(id, event).await?;
        Ok((recorded.lifecycle.state.name(), recorded.lifecycle.fence))
    }

    /// The minor units that are posted and held.
    pub(super) async fn balances(&self) -> Result<(i64, i64), String> {
        let wallet = self.store().wallet(self.account).await;
        let wallet = wallet.map_err(|Unacknowledged| "no answer".to_owned())?.ok_or("no wallet")?;
        Ok((wallet.posted().minor(), wallet.held().minor()))
    }

    pub(super) async fn lease_runs_out(&self) {
        self.bench.passes(self.bench.timing().lease + Duration::from_secs(1)).await;
    }
}

pub(super) fn vended(transaction: String) -> Result<Event, String> {
    let tokens =
        TokenSet::parse("KeyChange Token1:5019-3837-0114-4230-7281|Credit Token:0808-6259-4989-7426-3587")
            .map_err(|error| error.to_string())?;
    let vend = Vend {
        tokens: Some(tokens),
        units: Some(Units { quantity: Decimal::new(452, 1), unit: "kWh".to_owned() }),
        provider_transaction: transaction,
        breakdown: None,
        subscriber_details: None,
        raw_reply: RawReply::default(),
    };
    Ok(Event::Vended { vend: Box::new(vend) })
}

pub(super) fn refused(fence: Fence, reason: RefusalReason) -> Event {
    Event::Refused { fence, refusal: Refusal::because(reason), source: RefusalSource::Answer }
}

/// The gap in a refusal.
pub(super) fn gap(refused: &Result<Reserved, ReserveError>) -> Option<Money> {
    match refused {
        Err(ReserveError::Refused(crate::ReserveRefusal::Insufficient { gap })) => Some(*gap),
        Ok(_) | Err(_) => None,
    }
}
