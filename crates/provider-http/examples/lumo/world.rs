//! The simulator, a wire to it, and the adapter under test. The tutorial shows these lines.

// shown: use of the kit
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use money::Currency;
use provider::Provider;
use provider::conformance::{Made, Mishap, Operation, Wire, World};
use provider_http::{Transport, TransportSettings, base_url};
use vend::{CallId, Capabilities, Product, Sale, SubscriberIdentifier};

use super::adapter::Lumo;
use super::vendor::{Vendor, operation_of};
// end

// shown: wire
/// What a test may put around the adapter.
pub type Around = fn(Lumo) -> Box<dyn Provider>;

/// The simulator, the wire in front of it, and the adapter that is examined.
pub struct LumoWorld {
    vendor: Arc<Vendor>,
    wire: Wire,
    adapter: Box<dyn Provider>,
    around: Around,
    numbers: AtomicU32,
}

impl LumoWorld {
    pub fn of(around: Around) -> Self {
        let vendor = Arc::new(Vendor::default());
        let answers = Arc::clone(&vendor);
        let wire = Wire::to_function(
            move |request| answers.answer(request),
            |request, operation| operation_of(request.line) == Some(operation),
        )
        .expect("a port is free");
        let adapter = around(lumo(&wire.url()));
        Self { vendor, wire, adapter, around, numbers: AtomicU32::new(1) }
    }

    fn next(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// A sale for a meter that no sale was for before.
    fn sale(&self, product: Product, amount: &str) -> Sale {
        let subscriber = SubscriberIdentifier::parse(&format!("042{:08}", self.next())).expect("a meter");
        Sale { product, subscriber, amount: amount.parse().expect("an amount") }
    }
}

/// The adapter to Lumo at this address.
pub fn lumo(url: &str) -> Lumo {
    let settings = TransportSettings::connecting_within(Duration::from_millis(500));
    Lumo {
        transport: Transport::new(settings).expect("no certificates are asked for"),
        base: base_url(url).expect("an address of HTTP"),
        currency: Currency::parse("BWP").expect("a currency"),
        vend_within: Duration::from_millis(800),
        answer_within: Duration::from_millis(500),
    }
}
// end

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
        CallId::parse(&format!("20261120093000-{:06}", self.next())).expect("fewer than a million calls")
    }

    fn fresh_sale(&self) -> Sale {
        self.sale(Product::Electricity, "BWP 100.00")
    }

    fn sale_of_another_product(&self) -> Option<Sale> {
        Some(self.sale(Product::Airtime, "BWP 100.00"))
    }

    fn sale_in_another_currency(&self) -> Option<Sale> {
        Some(self.sale(Product::Electricity, "ZAR 100.00"))
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
