//! The phrases of the messages to people. Each phrase contains the values that it needs, so that it cannot be used
//! without them.

/// One line of a text message or an e-mail.
#[derive(Clone, Copy)]
pub enum Phrase<'a> {
    /// The purchase: the first line to the beneficiary.
    Bought(Bought<'a>),
    /// The only token.
    Token {
        /// The token, grouped for reading.
        token: &'a str,
    },
    /// Several tokens follow.
    InOrder,
    /// A token that sets a new key in the meter.
    KeyChangeToken(Numbered<'a>),
    /// The token with the credit.
    CreditToken(Numbered<'a>),
    /// A token with the provider's own description.
    OtherToken {
        /// The provider's description.
        description: &'a str,
        /// The token.
        numbered: Numbered<'a>,
    },
    /// The units that the tokens give.
    Units {
        /// Quantity and unit.
        units: &'a str,
    },
    /// Our reference of the purchase.
    Reference {
        /// The same as in every answer about the purchase.
        reference: &'a str,
    },
    /// The purchase failed: for the beneficiary.
    NotDelivered(Bought<'a>),
    /// The purchase failed: for the payer.
    Refunded {
        /// The purchase that failed.
        bought: Bought<'a>,
        /// The sum that is available again.
        total: &'a str,
    },
    /// The first line of a receipt, and the subject of an e-mail.
    Receipt(Bought<'a>),
    /// The sum that the wallet was debited.
    Paid {
        /// The sum.
        total: &'a str,
    },
    /// The sum that the wallet was debited, if it is more than the amount that was bought.
    PaidWithCharges {
        /// The sum.
        total: &'a str,
        /// The charges in it.
        charge: &'a str,
    },
    /// The consumer's name at the provider.
    Customer {
        /// The name.
        name: &'a str,
    },
    /// The integrator's own reference of the purchase.
    ExternalReference {
        /// The reference.
        reference: &'a str,
    },
    /// The provider's reference of the vend.
    ProviderTransaction {
        /// The reference.
        transaction: &'a str,
    },
    /// When it was bought.
    BoughtAt {
        /// Date, time and zone.
        at: &'a str,
    },
    /// Replies to this message are not read.
    Automatic,
}

/// The description of a purchase in a message.
#[derive(Clone, Copy)]
pub struct Bought<'a> {
    /// The product.
    pub product: &'a str,
    /// The amount.
    pub amount: &'a str,
    /// The meter, phone or account.
    pub subscriber: &'a str,
}

/// One of several tokens.
#[derive(Clone, Copy)]
pub struct Numbered<'a> {
    /// Its position in the order of entry, from 1.
    pub number: &'a str,
    /// The token, grouped for reading.
    pub token: &'a str,
}

impl<'a> Phrase<'a> {
    pub(crate) const fn id(&self) -> &'static str {
        match self {
            Self::Bought(_) => "bought",
            Self::Token { .. } => "token",
            Self::InOrder => "in-order",
            Self::KeyChangeToken(_) => "key-change-token",
            Self::CreditToken(_) => "credit-token",
            Self::OtherToken { .. } => "other-token",
            Self::Units { .. } => "units",
            Self::Reference { .. } => "reference",
            Self::NotDelivered(_) => "not-delivered",
            Self::Refunded { .. } => "refunded",
            Self::Receipt(_) => "receipt",
            Self::Paid { .. } => "paid",
            Self::PaidWithCharges { .. } => "paid-with-charges",
            Self::Customer { .. } => "customer",
            Self::ExternalReference { .. } => "external-reference",
            Self::ProviderTransaction { .. } => "provider-transaction",
            Self::BoughtAt { .. } => "bought-at",
            Self::Automatic => "automatic",
        }
    }

    pub(crate) fn values(&self) -> Vec<(&'static str, &'a str)> {
        match *self {
            Self::Bought(bought) | Self::NotDelivered(bought) | Self::Receipt(bought) => {
                bought.values().into()
            }
            Self::Token { token } => vec![("token", token)],
            Self::InOrder | Self::Automatic => Vec::new(),
            Self::KeyChangeToken(numbered) | Self::CreditToken(numbered) => numbered.values().into(),
            Self::OtherToken { description, numbered } => {
                [numbered.values().as_slice(), &[("description", description)]].concat()
            }
            Self::Units { units } => vec![("units", units)],
            Self::Reference { reference } | Self::ExternalReference { reference } => {
                vec![("reference", reference)]
            }
            Self::Refunded { bought, total } => [bought.values().as_slice(), &[("total", total)]].concat(),
            Self::Paid { total } => vec![("total", total)],
            Self::PaidWithCharges { total, charge } => vec![("total", total), ("charge", charge)],
            Self::Customer { name } => vec![("name", name)],
            Self::ProviderTransaction { transaction } => vec![("transaction", transaction)],
            Self::BoughtAt { at } => vec![("at", at)],
        }
    }
}

impl<'a> Bought<'a> {
    const fn values(self) -> [(&'static str, &'a str); 3] {
        [("product", self.product), ("amount", self.amount), ("subscriber", self.subscriber)]
    }
}

impl<'a> Numbered<'a> {
    const fn values(self) -> [(&'static str, &'a str); 2] {
        [("number", self.number), ("token", self.token)]
    }
}
