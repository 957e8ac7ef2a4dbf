//! What an integrator asks for, after every field has been parsed.

use ledger::AccountId;
use money::Money;
use vend::{Product, SubscriberIdentifier};

/// Where the request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceChannel {
    /// A web page.
    Web,
    /// A smartphone application.
    SmartApp,
    /// A USSD menu.
    Ussd,
    /// A batch run.
    Batch,
    /// A point of sale.
    Pos,
    /// A text message.
    SmsMo,
}

impl SourceChannel {
    /// Every channel.
    pub const ALL: [Self; 6] = [Self::Web, Self::SmartApp, Self::Ussd, Self::Batch, Self::Pos, Self::SmsMo];

    /// A stable name, for messages and for storage.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Web => "WEB",
            Self::SmartApp => "SMART_APP",
            Self::Ussd => "USSD",
            Self::Batch => "BATCH",
            Self::Pos => "POS",
            Self::SmsMo => "SMS_MO",
        }
    }

    /// The channel of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.as_str() == name)
    }
}

/// Which messages the seller sends. Each flag defaults to true, and `false` suppresses its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NotificationFlags {
    /// Text message to the integration user.
    pub requester_sms: bool,
    /// Text message to the beneficiary.
    pub beneficiary_sms: bool,
    /// E-mail to the integration user.
    pub requester_email: bool,
    /// E-mail to the beneficiary. It is accepted, but no beneficiary has an address.
    pub beneficiary_email: bool,
}

impl Default for NotificationFlags {
    fn default() -> Self {
        Self { requester_sms: true, beneficiary_sms: true, requester_email: true, beneficiary_email: true }
    }
}

/// What a request for a price or for a purchase contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PurchaseRequest {
    /// Echoed as `channel`.
    pub source_channel: SourceChannel,
    /// The integrator's own name for the gateway or source of the request: 1 to 100 characters.
    pub source_tag: Option<String>,
    /// A well-formed locale tag, as given.
    pub language: String,
    /// The product.
    pub product: Product,
    /// The provider's code in the catalogue.
    pub provider_code: String,
    /// The wallet that pays.
    pub debited_account: AccountId,
    /// The beneficiary's phone number in E.164 digits.
    pub beneficiary_phone_number: String,
    /// The meter, phone or account that it is for.
    pub subscriber: SubscriberIdentifier,
    /// The requested amount, in the requested currency.
    pub amount: Money,
    /// Whether charges are added to the amount (the default) or taken out of it.
    pub charges_on_top: bool,
    /// Free text for the record.
    pub comment: Option<String>,
    /// The integrator's own name for the purchase, and the key of a later retry. Not unique.
    pub external_reference: Option<String>,
    /// Which messages to send.
    pub notifications: NotificationFlags,
}
