//! The phrases that the messages to people are put together from. Each brings the values that it needs, so
//! that none can be said without them.

/// One line of a text message or an e-mail.
#[derive(Clone, Copy)]
pub enum Phrase<'a> {
    /// What was bought: the first line to the beneficiary.
    Bought(Bought<'a>),
    /// The one token.
    Token {
        /// Grouped for reading.
        token: &'a str,
    },
    /// Several tokens follow.
    InOrder,
    /// A token that gives the meter its new key.
    KeyChangeToken(Numbered<'a>),
    /// The token that is worth something.
    CreditToken(Numbered<'a>),
    /// A token under the provider's own word for it.
    OtherToken {
        /// The provider's word.
        description: &'a str,
        /// The token.
        numbered: Numbered<'a>,
    },
    /// What the tokens are worth.
    Units {
        /// Quantity and unit.
        units: &'a str,
    },
    /// Our name for the purchase.
    Reference {
        /// As it is in every answer about it.
        reference: &'a str,
    },
    /// It came to nothing, told to the beneficiary.
    NotDelivered(Bought<'a>),
    /// It came to nothing, told to whoever paid.
    Refunded {
        /// What came to nothing.
        bought: Bought<'a>,
        /// What is available again.
        total: &'a str,
    },
    /// The first line of a receipt, and the subject of an e-mail.
    Receipt(Bought<'a>),
    /// What the wallet was debited.
    Paid {
        /// The sum.
        total: &'a str,
    },
    /// What the wallet was debited, where that is more than what was bought.
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
    /// The integrator's own name for the purchase.
    ExternalReference {
        /// The name.
        reference: &'a str,
    },
    /// Under what the provider keeps it.
    ProviderTransaction {
        /// The provider's name for it.
        transaction: &'a str,
    },
    /// When it was bought.
    BoughtAt {
        /// Date, time and zone.
        at: &'a str,
    },
    /// Nobody reads answers to this.
    Automatic,
}

/// What a purchase is called in a message.
#[derive(Clone, Copy)]
pub struct Bought<'a> {
    /// The product.
    pub product: &'a str,
    /// What it is worth.
    pub amount: &'a str,
    /// The meter, phone or account.
    pub subscriber: &'a str,
}

/// One of several tokens.
#[derive(Clone, Copy)]
pub struct Numbered<'a> {
    /// Its place in the order of entry, from 1.
    pub number: &'a str,
    /// Grouped for reading.
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
