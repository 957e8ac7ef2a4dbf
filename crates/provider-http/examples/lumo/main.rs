//! An adapter to Lumo, a fictitious vendor of prepaid electricity: `cargo run -p vendgate-provider-http --example lumo`.
//!
//! It buys from a simulator of Lumo, loses a reply, asks what became of the order, and then lets the conformance kit examine the adapter,
//! which takes some seconds. The page `ADAPTER.md` of the package writes this program.

pub mod adapter;
mod vendor;
pub mod world;

use std::error::Error;
use std::fmt::Write as _;

use provider::conformance::{Mishap, Operation, Requirement, World, judge};
use provider::{Gate, Provider};
use vend::{Enquiry, ProviderReference, VendOrder, VendOutcome};

use world::LumoWorld;

/// Two orders, line by line.
pub async fn page() -> Result<String, Box<dyn Error>> {
    let world = LumoWorld::of(|adapter| Box::new(adapter));
    let wire = world.wire().ok_or("the world has no wire")?;
    let lumo: &dyn Provider = world.provider();
    let always = Gate::while_true(|| true);
    let mut page = String::new();

    for reply_is_lost in [false, true] {
        if reply_is_lost {
            wire.arrange(Operation::Vend, Mishap::ReplyLost);
        }
        let reference = ProviderReference::new(world.fresh_call());
        let order = VendOrder { reference, sale: world.fresh_sale() };
        writeln!(page, "order of {} for {}", order.sale.amount, order.sale.subscriber.as_str())?;
        let outcome = lumo.vend(&order, &always).await;
        let (result, reason) = outcome.in_words();
        writeln!(page, "  {}", format!("{result} {reason}").trim_end())?;
        if let VendOutcome::Unknown(_) = outcome {
            // The money stays held until an enquiry tells. The order is not sent again.
            let enquiry: Enquiry = lumo.enquire(world.fresh_call(), &order).await;
            writeln!(page, "  asked about: {}", enquiry.in_words().0)?;
        }
    }
    writeln!(page, "{} vends", world.vends().await.len())?;
    Ok(page)
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
#[cfg_attr(test, expect(dead_code, reason = "a test uses only the page"))]
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    print!("{}", page().await?);
    let judgement = judge(&LumoWorld::of(|adapter| Box::new(adapter))).await;
    // Lumo does not say how an amount is split.
    judgement.assert_kept_all_but(&[Requirement::SplitAddsUp]);
    println!("{} requirements of an adapter are met", judgement.kept.len());
    Ok(())
}
