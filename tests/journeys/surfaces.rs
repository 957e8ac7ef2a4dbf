//! Two surfaces, one service: whatever is asked on the one is answered, paid and stored as if it had been asked on the
//! other, and what begins on the one ends on the other.

mod across;
mod records;
mod same;
mod told;
mod wrong;

use acceptance::surface::Surface;
use sandbox::{ShopPlan, WalletPlan};
use serde_json::Value;

use crate::{order::Order, shop::Shop, street::Street, town::town, wire::Answer};

/// Two shops of the same kind, one on each surface, who do the same one after the other.
pub struct Pair {
    versioned: Shop,
    current: Shop,
}

impl Pair {
    pub async fn open(wallet: WalletPlan) -> Self {
        let plan = || ShopPlan { wallets: vec![wallet.clone()], ..town().plan() };
        let (versioned, current) =
            tokio::join!(town().open_as(Surface::V1, plan()), town().open_as(Surface::Current, plan()));
        Self { versioned, current }
    }

    pub const fn both(&self) -> [&Shop; 2] {
        [&self.versioned, &self.current]
    }

    /// Has both do something, and compares what they were told and what is left of it. Gives what the first was told.
    pub async fn both_do(&self, what: &str, deed: impl AsyncFn(&Shop) -> Vec<Answer>) -> Vec<Answer> {
        let versioned = deed(&self.versioned).await;
        let current = deed(&self.current).await;
        for (number, (one, other)) in versioned.iter().zip(&current).enumerate() {
            assert_eq!((one.surface, other.surface), (Surface::V1, Surface::Current));
            told::assert_same(&format!("{what}, answer {number}"), one, other);
        }
        assert_eq!(versioned.len(), current.len(), "{what}");
        records::assert_same(what, &self.versioned, &self.current);
        versioned
    }
}

/// What is bought here: a channel that both have, and the same text elsewhere.
pub fn order(shop: &Shop, meter: &str) -> Order {
    shop.order(meter).with("source_channel", "\"WEB\"").reference("both-1")
}

/// The tokens of an answer are good for the meter, in their order.
pub async fn entered(meter: &str, answer: &Answer) {
    for (_, token) in answer.tokens() {
        Street::new().enters(meter, token).await.unwrap_or_else(|why| panic!("{why}: {}", answer.text));
    }
}

/// Of a field of an answer.
pub fn value<'a>(answer: &'a Answer, versioned: &str) -> &'a Value {
    answer.body.pointer(answer.surface.place(versioned)).unwrap_or(&Value::Null)
}
