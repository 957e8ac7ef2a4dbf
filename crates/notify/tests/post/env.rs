//! A purchase for which messages are composed.

use chrono::{DateTime, TimeZone, Utc};
use ledger::AccountId;
use meter_token::TokenSet;
use money::{Currency, Money};
use purchase::{
    ClientId, Handling, Lifecycle, NotificationFlags, OrganisationId, Price, PurchaseId, Record, Reference,
    SourceChannel, State, Success, Timing, UserId,
};
use store::Contents;
use vend::{CallId, Product, ProviderReference, SubscriberIdentifier, Units};

pub const TOKEN: &str = "12345678901234567890";
pub const KEY_CHANGE: &str = "KeyChange Token1: 10293847561029384756|KeyChange Token2: 56473829105647382910\
                              |Credit Token: 12345678901234567890";

/// A price with charges of 1.50 on top of `net`.
pub fn price(net: i64) -> Price {
    let pula = |minor| Money::from_minor(minor, Currency::parse("BWP").unwrap());
    let (net, charge) = (pula(net), pula(150));
    Price { entry: net, charge, net, total: net.plus(charge).unwrap(), commission: pula(0) }
}

/// A successful purchase of electricity in English. The requester has a number and an address.
pub fn contents() -> Contents {
    let at = Utc.with_ymd_and_hms(2026, 11, 20, 16, 30, 0).unwrap();
    Contents {
        record: record(at),
        product_names: Vec::new(),
        requester_phone_number: Some("26772000000".into()),
        requester_email: Some("till@shop.example".into()),
    }
}

fn record(at: DateTime<Utc>) -> Record {
    let id = PurchaseId(42);
    let state = State::Successful { provider_transaction: "V1".into() };
    let lifecycle = Lifecycle { state, ..Lifecycle::reserved(Handling::SelfManaged, at, &Timing::default()) };
    Record {
        id,
        reference: Reference::new(id, 2026, 11),
        organisation: OrganisationId(1),
        client: ClientId(1),
        user: UserId(1),
        account: AccountId(1),
        source_channel: SourceChannel::Pos,
        language: "en".into(),
        product: Product::Electricity,
        provider_code: "BPC".into(),
        subscriber: SubscriberIdentifier::parse("04257670465").unwrap(),
        beneficiary_phone_number: "26771234567".into(),
        price: price(10_000),
        external_reference: Some("till-3/77".into()),
        comment: None,
        notifications: NotificationFlags::default(),
        created_at: at,
        settled_at: None,
        request_id: None,
        subscriber_details: Some("MOLEFE".into()),
        provider_reference: ProviderReference::new(CallId::new(1, at).unwrap()),
        lifecycle,
        success: Some(Success {
            tokens: Some(TokenSet::parse(TOKEN).unwrap()),
            units: Some(Units { quantity: "45.20".parse().unwrap(), unit: "kWh".into() }),
            provider_transaction: "V1".into(),
            breakdown: None,
            subscriber_details: Some("K. MOLEFE".into()),
        }),
        failure: None,
        recovery: None,
    }
}
