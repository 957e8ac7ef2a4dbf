//! Two surfaces of one service. A request on either surface is answered, paid and stored in the same way. A purchase
//! that begins on one surface can end on the other.

mod across;
mod records;
mod same;
mod told;
mod wrong;

use acceptance::surface::Surface;
use sandbox::{MerchantPlan, WalletPlan};
use serde_json::Value;

use crate::{
    env::env, merchant::Merchant, request_body::RequestBody, simulator::SimulatorClient, wire::Answer,
};

/// Two merchants of the same kind, one on each surface. They make the same requests one after the other.
pub struct Pair {
    versioned: Merchant,
    current: Merchant,
}

impl Pair {
    pub async fn open(wallet: WalletPlan) -> Self {
        let plan = || MerchantPlan { wallets: vec![wallet.clone()], ..env().plan() };
        let (versioned, current) =
            tokio::join!(env().open_as(Surface::V1, plan()), env().open_as(Surface::Current, plan()));
        Self { versioned, current }
    }

    pub const fn both(&self) -> [&Merchant; 2] {
        [&self.versioned, &self.current]
    }

    /// Runs the same requests for both merchants, and compares their answers and stored records. Returns the answers
    /// of the first.
    pub async fn both_do(&self, what: &str, journey: impl AsyncFn(&Merchant) -> Vec<Answer>) -> Vec<Answer> {
        let versioned = journey(&self.versioned).await;
        let current = journey(&self.current).await;
        for (number, (one, other)) in versioned.iter().zip(&current).enumerate() {
            assert_eq!((one.surface, other.surface), (Surface::V1, Surface::Current));
            told::assert_same(&format!("{what}, answer {number}"), one, other);
        }
        assert_eq!(versioned.len(), current.len(), "{what}");
        records::assert_same(what, &self.versioned, &self.current);
        versioned
    }
}

/// An order with a channel that both surfaces have.
pub fn order(merchant: &Merchant, meter: &str) -> RequestBody {
    merchant.order(meter).with("source_channel", "\"WEB\"").reference("both-1")
}

/// Checks that the meter accepts the tokens of an answer in their order.
pub async fn entered(meter: &str, answer: &Answer) {
    for (_, token) in answer.tokens() {
        SimulatorClient::new()
            .enters(meter, token)
            .await
            .unwrap_or_else(|why| panic!("{why}: {}", answer.text));
    }
}

/// A value of an answer, by its JSON pointer on the versioned surface.
pub fn value<'a>(answer: &'a Answer, versioned: &str) -> &'a Value {
    answer.body.pointer(answer.surface.place(versioned)).unwrap_or(&Value::Null)
}
