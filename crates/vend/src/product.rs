//! The product types.

use std::fmt;

/// A product type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Product {
    /// A token for a prepaid electricity meter.
    Electricity,
    /// Credit that is added to a SIM. There is no token.
    Airtime,
    /// A token for a prepaid water meter, where the provider issues one.
    Water,
}

impl Product {
    /// Every product, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::Electricity, Self::Airtime, Self::Water];

    /// A stable name, for messages and for storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Electricity => "ELECTRICITY",
            Self::Airtime => "AIRTIME",
            Self::Water => "WATER",
        }
    }

    /// The product of this name. `None` if there is no such product.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|product| product.as_str() == name)
    }

    /// Whether a success must contain a token. Water providers may return none.
    pub const fn always_has_a_token(self) -> bool {
        matches!(self, Self::Electricity)
    }
}

impl fmt::Display for Product {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
