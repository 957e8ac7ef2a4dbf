//! A purchase of electricity with everything that an answer about it can show, and the comparison with exact JSON.

use chrono::{DateTime, Utc};
use identity::{Caller, CallerOrganisation, CallerUser, Environment, Role, Status};
use ledger::AccountId;
use meter_token::TokenSet;
use money::Money;
use purchase::{
    ClientId, Fence, Handling, Lifecycle, NotificationFlags, OrganisationId, Price, PurchaseId,
    PurchaseRequest, Record, Reference, SourceChannel, State, Success, UserId,
};
use serde::Serialize;
use vend::{Breakdown, CallId, Product, ProviderReference, SubscriberIdentifier, Units};

/// An amount in pula, as on the wire without its currency.
pub fn bwp(amount: &str) -> Money {
    Money::parse_wire(&format!("BWP {amount}")).expect("an amount as on the wire")
}

/// The moment at which everything happens: noon in Gaborone.
pub fn noon() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-11-20T10:00:00Z").expect("a moment").to_utc()
}

/// A viewer of an organisation in staging.
pub fn caller() -> Caller {
    Caller {
        access_token_id: 1,
        client_id: 2,
        organisation: CallerOrganisation {
            id: 3,
            code: "KGALAGADI".to_owned(),
            name: "Kgalagadi Shops".to_owned(),
            environment: Environment::Staging,
        },
        user: CallerUser {
            id: 4,
            username: "till-1".to_owned(),
            full_name: "Till One".to_owned(),
            phone_number: None,
            email: None,
            status: Status::Active,
        },
        role: Role::Viewer,
    }
}

/// What was asked for.
pub fn request() -> PurchaseRequest {
    PurchaseRequest {
        source_channel: SourceChannel::Web,
        source_tag: None,
        language: "en-BW".to_owned(),
        product: Product::Electricity,
        provider_code: "BPC".to_owned(),
        debited_account: AccountId(7),
        beneficiary_phone_number: "26771234567".to_owned(),
        subscriber: SubscriberIdentifier::parse("04257670465").expect("a meter number"),
        amount: bwp("100.00"),
        charges_on_top: true,
        comment: None,
        external_reference: Some("INV-1".to_owned()),
        notifications: NotificationFlags::default(),
    }
}

/// The price of it.
pub fn price() -> Price {
    Price {
        entry: bwp("100.00"),
        charge: bwp("2.00"),
        net: bwp("100.00"),
        total: bwp("102.00"),
        commission: bwp("1.50"),
    }
}

/// The provider's split of it.
pub fn breakdown() -> Breakdown {
    Breakdown {
        cost: bwp("80.00"),
        vat: bwp("12.00"),
        levy: bwp("5.00"),
        regulatory_fee: bwp("1.00"),
        charge: bwp("2.00"),
    }
}

/// The units that it is worth.
pub fn units() -> Units {
    Units { quantity: "45.2".parse().expect("a decimal number"), unit: "kWh".to_owned() }
}

/// The successful purchase.
pub fn record() -> Record {
    let token = "KeyChange Token1: 50193837188098045115|Credit Token: 08086259498974263587";
    Record {
        id: PurchaseId(42),
        reference: Reference::new(PurchaseId(42), 2026, 11),
        organisation: OrganisationId(3),
        client: ClientId(2),
        user: UserId(4),
        account: AccountId(7),
        source_channel: SourceChannel::Pos,
        language: "en-BW".to_owned(),
        product: Product::Electricity,
        provider_code: "BPC".to_owned(),
        subscriber: SubscriberIdentifier::parse("04257670465").expect("a meter number"),
        beneficiary_phone_number: "26771234567".to_owned(),
        price: price(),
        external_reference: None,
        comment: None,
        notifications: NotificationFlags::default(),
        request_id: None,
        created_at: noon(),
        settled_at: Some(noon() + chrono::TimeDelta::milliseconds(2_500)),
        subscriber_details: Some("T MOLEFE".to_owned()),
        provider_reference: ProviderReference::new(CallId::new(1, noon()).expect("a call id")),
        lifecycle: lifecycle(State::Successful { provider_transaction: "R-9".to_owned() }),
        success: Some(Success {
            tokens: Some(TokenSet::parse(token).expect("two tokens")),
            units: Some(units()),
            provider_transaction: "R-9".to_owned(),
            breakdown: Some(breakdown()),
            subscriber_details: None,
        }),
        failure: None,
        recovery: None,
    }
}

/// The lifecycle of a managed purchase in this state.
pub fn lifecycle(state: State) -> Lifecycle {
    Lifecycle {
        handling: Handling::Managed,
        state,
        fence: Fence(1),
        lease_until: None,
        claimed_at: None,
        asked_at: None,
        attempt: 1,
        requests: 0,
        window_closes_at: noon(),
    }
}

/// Asserts the exact JSON of `value`. The expectation may be written over several lines.
#[track_caller]
pub fn assert_json(value: &impl Serialize, expected: &str) {
    let expected: String = expected.lines().map(str::trim_start).collect();
    assert_eq!(serde_json::to_string(value).expect("a wire type is JSON"), expected);
}
