//! The texts of a customer's receipt. None of them needs a value.

/// One text of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReceiptText {
    /// The title.
    Title,
    /// The label of the date and time.
    SoldAt,
    /// The label of the provider's name.
    Provider,
    /// The label of the consumer's name.
    Customer,
    /// The label of our reference.
    Reference,
    /// The label of the integrator's own reference.
    ExternalReference,
    /// The label of the provider's reference.
    ProviderTransaction,
    /// The label of the units.
    Units,
    /// The label of the only token.
    Token,
    /// Several tokens follow, in the order of entry.
    TokensInOrder,
    /// The label of a token that sets a new key in the meter.
    KeyChangeToken,
    /// The label of the token with the credit.
    CreditToken,
    /// The token has been erased.
    TokenErased,
    /// There was never a token: the subscriber was credited.
    NoToken,
    /// The label of the part that pays for the units.
    Cost,
    /// The label of the value added tax.
    Vat,
    /// The label of the levies.
    Levy,
    /// The label of the regulator's fee.
    RegulatoryFee,
    /// The label of the provider's other charges.
    ProviderCharge,
    /// The label of the vended amount.
    Amount,
    /// The label of the service charge.
    Charge,
    /// The label of what was paid.
    Total,
    /// The heading of the amounts.
    Amounts,
}

impl ReceiptText {
    /// Every text.
    pub const ALL: [Self; 23] = [
        Self::Title,
        Self::SoldAt,
        Self::Provider,
        Self::Customer,
        Self::Reference,
        Self::ExternalReference,
        Self::ProviderTransaction,
        Self::Units,
        Self::Token,
        Self::TokensInOrder,
        Self::KeyChangeToken,
        Self::CreditToken,
        Self::TokenErased,
        Self::NoToken,
        Self::Cost,
        Self::Vat,
        Self::Levy,
        Self::RegulatoryFee,
        Self::ProviderCharge,
        Self::Amount,
        Self::Charge,
        Self::Total,
        Self::Amounts,
    ];

    /// The name of its Fluent message.
    pub(crate) const fn id(self) -> &'static str {
        match self {
            Self::Title => "receipt-title",
            Self::SoldAt => "receipt-sold-at",
            Self::Provider => "receipt-provider",
            Self::Customer => "receipt-customer",
            Self::Reference => "receipt-reference",
            Self::ExternalReference => "receipt-external-reference",
            Self::ProviderTransaction => "receipt-provider-transaction",
            Self::Units => "receipt-units",
            Self::Token => "receipt-token",
            Self::TokensInOrder => "receipt-tokens-in-order",
            Self::KeyChangeToken => "receipt-key-change-token",
            Self::CreditToken => "receipt-credit-token",
            Self::TokenErased => "receipt-token-erased",
            Self::NoToken => "receipt-no-token",
            Self::Cost => "receipt-cost",
            Self::Vat => "receipt-vat",
            Self::Levy => "receipt-levy",
            Self::RegulatoryFee => "receipt-regulatory-fee",
            Self::ProviderCharge => "receipt-provider-charge",
            Self::Amount => "receipt-amount",
            Self::Charge => "receipt-charge",
            Self::Total => "receipt-total",
            Self::Amounts => "receipt-amounts",
        }
    }
}
