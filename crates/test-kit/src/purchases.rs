//! What a purchase in the database needs: a connected store, a provider, a wallet, a reservation and a vend.

use std::{sync::Arc, time::Duration};

use back_office::NewAccount;
use catalogue::NewProvider;
use chrono::DateTime;
use database::{Database, DatabaseSettings, Purpose};
use directory::AuditContext;
use ledger::{AccountId, Category};
use meter_token::TokenSet;
use money::{Currency, Money};
use purchase::{
    Authority, Handling, NotificationFlags, OrganisationId, Price, PurchaseId, PurchaseRequest, Reference,
    SourceChannel, Timing,
};
use store::{PendingRequest, Reservation, SealingKey, SealingKeys, Store};
use tokio::runtime::Handle;
use vend::{CallId, Capabilities, Product, ProviderReference, RawReply, SubscriberIdentifier, Units, Vend};

/// The provider of every reservation.
pub const PROVIDER: &str = "BPC";

/// The token of every vend.
pub const TOKEN: &str = "12345678901234567890";

/// An amount in pula, from its hundredths.
pub fn pula(minor: i64) -> Money {
    Money::from_minor(minor, currency())
}

/// The keys of every store.
pub fn sealing_keys() -> SealingKeys {
    SealingKeys::try_new(SealingKey::new(1, &[7; 32]), Vec::new()).expect("one key contradicts no other")
}

/// A store whose connections live on `engine`.
pub async fn connect_store(settings: DatabaseSettings, timing: Timing, engine: Handle) -> Store {
    let connected = Store::connect(settings, sealing_keys(), timing, Purpose::Requests, engine).await;
    connected.expect("a migrated database can be used")
}

/// Enters the provider, or changes what its connection is declared to do.
pub async fn put_provider(database: &Database, declared: Capabilities, act: AuditContext) {
    let provider = NewProvider { code: PROVIDER.to_owned(), name: "Botswana Power".to_owned(), declared };
    catalogue::put_provider(database, provider, act).await.expect("a provider is entered");
}

/// Opens a wallet in pula and pays this balance into it.
pub async fn open_wallet(
    database: &Database,
    organisation: OrganisationId,
    handling: Handling,
    balance: Money,
    act: AuditContext,
) -> AccountId {
    let account = NewAccount {
        organisation,
        name: "Till".to_owned(),
        currency: currency(),
        category: Category::Current,
        handling,
        rank: 1,
    };
    let wallet = back_office::open_account(database, account, act.clone()).await;
    let wallet = wallet.expect("a wallet is opened");
    if balance.is_positive() {
        back_office::top_up(database, wallet, balance, act).await.expect("a wallet is paid into");
    }
    wallet
}

/// A call id that is unique by its number.
pub fn call(number: u32) -> CallId {
    let at = DateTime::from_timestamp(1_795_167_000, 0).expect("a moment of 2026");
    CallId::new(number, at).expect("a test makes few calls")
}

/// A reservation of electricity for `net`, with a charge of 1.50 on top and a commission of 1.00. Its caller waits, and its
/// request has just arrived.
pub fn reservation(
    id: PurchaseId,
    authority: Authority,
    wallet: AccountId,
    call: CallId,
    meter: &str,
    net: Money,
) -> Reservation {
    let charge = pula(150);
    let total = net.plus(charge).expect("amounts of one currency");
    Reservation {
        id,
        reference: Reference::new(id, 2026, 11),
        authority,
        request: request(wallet, meter, net),
        price: Price { entry: net, charge, net, total, commission: pula(100) },
        provider_reference: ProviderReference::new(call),
        subscriber_details: Some("K. MOLEFE".to_owned()),
        keyed: None,
        batch: None,
        request_id: None,
        pending: Arc::new(JustArrived),
    }
}

fn request(wallet: AccountId, meter: &str, amount: Money) -> PurchaseRequest {
    PurchaseRequest {
        source_channel: SourceChannel::Pos,
        source_tag: None,
        language: "en".to_owned(),
        product: Product::Electricity,
        provider_code: PROVIDER.to_owned(),
        debited_account: wallet,
        beneficiary_phone_number: "26771234567".to_owned(),
        subscriber: SubscriberIdentifier::parse(meter).expect("a subscriber identifier"),
        amount,
        charges_on_top: true,
        comment: Some("till 3".to_owned()),
        external_reference: Some(format!("ref-{meter}")),
        notifications: NotificationFlags::default(),
    }
}

/// A vend of one token under this transaction of the provider, without a split and without the bytes of a reply.
pub fn vend(transaction: &str) -> Vend {
    Vend {
        tokens: Some(TokenSet::parse(TOKEN).expect("a token has twenty digits")),
        units: Some(Units { quantity: "45.20".parse().expect("a decimal number"), unit: "kWh".to_owned() }),
        provider_transaction: transaction.to_owned(),
        breakdown: None,
        subscriber_details: Some("K. MOLEFE".to_owned()),
        raw_reply: RawReply::default(),
    }
}

/// A request that has always just arrived, and whose caller waits.
#[derive(Clone, Copy, Debug)]
pub struct JustArrived;

impl PendingRequest for JustArrived {
    fn age(&self) -> Duration {
        Duration::ZERO
    }

    fn is_abandoned(&self) -> bool {
        false
    }
}

fn currency() -> Currency {
    Currency::parse("BWP").expect("a currency code has three letters")
}
