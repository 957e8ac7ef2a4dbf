//! The simulator, a wire to it, and the adapter under test. The tutorial shows these lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use money::Currency;
use provider::Provider;
use provider::conformance::{Made, Mishap, Operation, Wire, World};
use provider_http::{Transport, TransportSettings, Url};
use vend::{CallId, Capabilities, Product, Sale, SubscriberIdentifier};

use super::adapter::Lumo;
use super::vendor::{Vendor, operation_of};

/// What a test may put around the adapter.
pub type Around = fn(Lumo) -> Box<dyn Provider>;

pub struct LumoWorld {
    vendor: Arc<Vendor>,
    wire: Wire,
    adapter: Box<dyn Provider>,
    around: Around,
    calls: AtomicU32,
}

fn lumo(url: &str) -> Lumo {
    let settings = TransportSettings::connecting_within(Duration::from_millis(500));
    Lumo {
        transport: Transport::new(settings).unwrap(),
        base: Url::parse(url).unwrap(),
        currency: Currency::parse("BWP").unwrap(),
        vend_within: Duration::from_millis(800),
        answer_within: Duration::from_millis(500),
    }
}

fn sale(product: Product, amount: &str) -> Sale {
    let subscriber = SubscriberIdentifier::parse("04257670465").unwrap();
    Sale { product, subscriber, amount: amount.parse().unwrap() }
}

impl LumoWorld {
    pub fn of(around: Around) -> Self {
        let vendor = Arc::new(Vendor::default());
        let answers = Arc::clone(&vendor);
        let wire = Wire::to_function(
            move |request| answers.answer(request),
            |request, operation| operation_of(request.line) == Some(operation),
        )
        .unwrap();
        let adapter = around(lumo(&wire.url()));
        Self { vendor, wire, adapter, around, calls: AtomicU32::new(1) }
    }
}

// shown: world
#[async_trait]
impl World for LumoWorld {
    fn provider(&self) -> &dyn Provider {
        self.adapter.as_ref()
    }

    fn provider_of_nowhere(&self) -> Box<dyn Provider> {
        (self.around)(lumo("http://127.0.0.1:1"))
    }

    fn wire(&self) -> Option<&Wire> {
        Some(&self.wire)
    }

    fn deadline(&self) -> Duration {
        Duration::from_secs(5)
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
        CallId::parse(&format!("20261120093000-{number:06}")).unwrap()
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
        // The wire arranges what happens on the way. The simulator arranges what Lumo itself can do.
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
// end
