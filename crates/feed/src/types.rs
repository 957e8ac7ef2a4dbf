//! The types of events.

use purchase::PurchaseStatus;

/// What kind of thing happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventType {
    /// The money of a purchase is set aside, and its order is about to be sent.
    PurchaseAccepted,
    /// The purchase was vended and paid. Nothing further happens to it.
    PurchaseSucceeded,
    /// Nothing was bought, and the money is free again. Nothing further happens to it.
    PurchaseFailed,
    /// The outcome of a purchase is not known at once.
    PurchasePending,
    /// The outcome of a purchase is still not known, and a person looks into it.
    PurchaseInReview,
    /// The balance of a wallet fell below the amount that the operator set for it.
    WalletLow,
    /// A payment was added to a wallet.
    WalletToppedUp,
    /// An operator corrected the balance of a wallet.
    WalletAdjusted,
    /// A client secret ends soon.
    ClientSecretExpiring,
    /// A webhook endpoint accepted nothing any more, and nothing more is sent to it.
    WebhookEndpointSwitchedOff,
    /// The last line of a batch has ended.
    BatchFinished,
    /// The sales of a provider, or of one of its products, are paused.
    ProviderPaused,
    /// A pause of a provider's sales has ended.
    ProviderResumed,
}

impl EventType {
    /// Every type.
    pub const ALL: [Self; 13] = [
        Self::PurchaseAccepted,
        Self::PurchaseSucceeded,
        Self::PurchaseFailed,
        Self::PurchasePending,
        Self::PurchaseInReview,
        Self::WalletLow,
        Self::WalletToppedUp,
        Self::WalletAdjusted,
        Self::ClientSecretExpiring,
        Self::WebhookEndpointSwitchedOff,
        Self::BatchFinished,
        Self::ProviderPaused,
        Self::ProviderResumed,
    ];

    /// The name on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PurchaseAccepted => "purchase.accepted",
            Self::PurchaseSucceeded => "purchase.succeeded",
            Self::PurchaseFailed => "purchase.failed",
            Self::PurchasePending => "purchase.pending",
            Self::PurchaseInReview => "purchase.in_review",
            Self::WalletLow => "wallet.low",
            Self::WalletToppedUp => "wallet.topped_up",
            Self::WalletAdjusted => "wallet.adjusted",
            Self::ClientSecretExpiring => "client.secret_expiring",
            Self::WebhookEndpointSwitchedOff => "webhook_endpoint.switched_off",
            Self::BatchFinished => "batch.finished",
            Self::ProviderPaused => "provider.paused",
            Self::ProviderResumed => "provider.resumed",
        }
    }

    /// The type with this name. `None` if there is no such type.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }

    /// The status of a purchase just after this event, if it is about a purchase.
    pub const fn status(self) -> Option<PurchaseStatus> {
        match self {
            Self::PurchaseAccepted | Self::PurchasePending | Self::PurchaseInReview => {
                Some(PurchaseStatus::Pending)
            }
            Self::PurchaseSucceeded => Some(PurchaseStatus::Successful),
            Self::PurchaseFailed => Some(PurchaseStatus::Failed),
            Self::WalletLow
            | Self::WalletToppedUp
            | Self::WalletAdjusted
            | Self::ClientSecretExpiring
            | Self::WebhookEndpointSwitchedOff
            | Self::BatchFinished
            | Self::ProviderPaused
            | Self::ProviderResumed => None,
        }
    }
}
