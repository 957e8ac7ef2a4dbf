//! The vendor, a wire to it, and an adapter that may violate one requirement.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use std::time::Duration;

use async_trait::async_trait;
use chrono::DateTime;
use money::Money;
use provider::Provider;
use provider::conformance::{Made, Mishap, Operation, Requirement, Wire, World};
use vend::{CallId, Capabilities, Product, Sale, SubscriberIdentifier};

use super::adapter::Adapter;
use super::vendor::{Vendor, operation_of};

pub struct VendorWorld {
    vendor: Arc<Vendor>,
    wire: Wire,
    shows_its_wire: bool,
    adapter: Adapter,
    calls: AtomicU32,
}

impl VendorWorld {
    /// With an adapter that violates this requirement, or none.
    pub fn of(breaks: Option<Requirement>) -> Self {
        let vendor = Arc::new(Vendor::default());
        let answers = Arc::clone(&vendor);
        let wire = Wire::to_function(
            move |request| answers.answer(request),
            |request, operation| operation_of(request.line) == Some(operation),
        );
        let wire = wire.unwrap();
        let adapter = Adapter::at(&wire.url(), breaks);
        Self { vendor, wire, shows_its_wire: true, adapter, calls: AtomicU32::new(1) }
    }

    pub fn without_a_wire() -> Self {
        Self { shows_its_wire: false, ..Self::of(None) }
    }
}

fn sale(product: Product, amount: &str) -> Sale {
    let subscriber = SubscriberIdentifier::parse("04257670465").unwrap();
    Sale { product, subscriber, amount: Money::parse_wire(amount).unwrap() }
}

#[async_trait]
impl World for VendorWorld {
    fn provider(&self) -> &dyn Provider {
        &self.adapter
    }

    fn provider_of_nowhere(&self) -> Box<dyn Provider> {
        Box::new(Adapter::at("http://127.0.0.1:1", self.adapter.breaks))
    }

    fn wire(&self) -> Option<&Wire> {
        self.shows_its_wire.then_some(&self.wire)
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(2)
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            repeat_is_safe: true,
            remembers_refusals: true,
            not_found_counts: true,
            ..Capabilities::NONE
        }
    }

    fn fresh_call(&self) -> CallId {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        CallId::new(number, DateTime::from_timestamp(1_795_167_000, 0).unwrap()).unwrap()
    }

    fn fresh_sale(&self) -> Sale {
        sale(Product::Electricity, "BWP 100.00")
    }

    fn sale_of_another_product(&self) -> Option<Sale> {
        Some(sale(Product::Airtime, "BWP 100.00"))
    }

    fn sale_in_another_currency(&self) -> Option<Sale> {
        Some(sale(Product::Electricity, "ZAR 100.00"))
    }

    async fn arrange(&self, operation: Operation, mishap: Mishap) -> bool {
        let on_the_wire = [
            Mishap::RequestLost,
            Mishap::ReplyLost,
            Mishap::Silence,
            Mishap::ReplyDrips,
            Mishap::ReplyHalved,
            Mishap::ReplyEmpty,
            Mishap::ReplyEndless,
            Mishap::ServerError,
            Mishap::FailingStatus,
            Mishap::Redirected,
        ];
        if on_the_wire.contains(&mishap) || matches!(mishap, Mishap::ReplyGarbled(_)) {
            return false;
        }
        self.vendor.arrange(operation, mishap);
        true
    }

    async fn forget_mishaps(&self) {
        self.vendor.forget_script();
    }

    async fn vends(&self) -> Vec<Made> {
        self.vendor.vends()
    }
}
