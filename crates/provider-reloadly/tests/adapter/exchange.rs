//! The exchange between the adapter and a stub of the vendor.

mod access;
mod orders;
mod questions;
mod wire;

use std::sync::Arc;

use chrono::{DateTime, TimeZone, Utc};
use clock::ManualClock;
use money::Money;
use provider::{Gate, Provider};
use provider_reloadly::{Reloadly, ReloadlySettings};
use vend::{
    CallId, Customer, Enquiry, Product, ProviderReference, Quotation, Refusal, RefusalReason, Sale,
    SubscriberIdentifier, Unanswered, VendOrder, VendOutcome,
};

use crate::connection::{adapter, settings};
use crate::counter::VendorStub;

/// An adapter that is connected to a stub of the vendor, with a manual clock.
pub struct Merchant {
    pub vendor: VendorStub,
    pub provider: Reloadly,
    pub clock: ManualClock,
}

impl Merchant {
    pub async fn open() -> Self {
        Self::with(|_settings| {}).await
    }

    pub async fn with(change: impl FnOnce(&mut ReloadlySettings)) -> Self {
        let vendor = VendorStub::open().await;
        let clock = ManualClock::at(DateTime::UNIX_EPOCH);
        let mut settings = settings(&vendor.host);
        change(&mut settings);
        Self { provider: adapter(&settings, Arc::new(clock.clone())), vendor, clock }
    }

    pub async fn vends(&self) -> VendOutcome {
        self.provider.vend(&order(), &open()).await
    }

    pub async fn checks(&self) -> Result<Customer, Unanswered> {
        let sale = order().sale;
        self.provider.check(call(41), sale.product, &sale.subscriber).await
    }

    pub async fn quotes(&self) -> Result<Quotation, Unanswered> {
        self.provider.quote(call(41), &order().sale).await
    }

    pub async fn enquires(&self) -> Enquiry {
        self.provider.enquire(call(41), &order()).await
    }
}

pub fn call(number: u32) -> CallId {
    CallId::new(number, Utc.with_ymd_and_hms(2026, 11, 20, 9, 30, 0).unwrap()).unwrap()
}

pub fn order() -> VendOrder {
    order_for("26771234567", "BWP 10.50")
}

pub fn order_for(phone: &str, amount: &str) -> VendOrder {
    let sale = Sale {
        product: Product::Airtime,
        subscriber: SubscriberIdentifier::parse(phone).unwrap(),
        amount: Money::parse_wire(amount).unwrap(),
    };
    VendOrder { reference: ProviderReference::new(call(42)), sale }
}

pub fn open() -> Gate {
    Gate::while_true(|| true)
}

pub fn refused(reason: RefusalReason) -> VendOutcome {
    VendOutcome::Refused(Refusal::because(reason))
}

pub fn not_asked(reason: RefusalReason) -> Unanswered {
    Unanswered::Refused(Refusal::because(reason))
}
