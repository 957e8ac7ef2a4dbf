//! The parties to a purchase (specification, section 2.1).

use serde::Serialize;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema},
};

use identity::{Caller, Status};
use purchase::Buyer;

/// A user or an organisation that takes part in a purchase.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Actor {
    id: i64,
    full_name: String,
    phone_number: String,
    username: String,
    status: &'static str,
}

impl Actor {
    /// The integration user that sends the request.
    pub fn user(caller: &Caller) -> Self {
        Self {
            id: caller.user.id,
            full_name: caller.user.full_name.clone(),
            phone_number: caller.user.phone_number.clone().unwrap_or_default(),
            username: caller.user.username.clone(),
            status: caller.user.status.code(),
        }
    }

    /// The integration user that bought.
    pub fn buyer(buyer: &Buyer) -> Self {
        let status = if buyer.is_active { Status::Active } else { Status::Suspended };
        Self {
            id: buyer.id.0,
            full_name: buyer.full_name.clone(),
            phone_number: buyer.phone_number.clone().unwrap_or_default(),
            username: buyer.username.clone(),
            status: status.code(),
        }
    }

    /// The organisation of the user that sends the request. It is active, because a suspended one cannot send requests.
    pub fn organisation(caller: &Caller) -> Self {
        Self {
            id: caller.organisation.id,
            full_name: caller.organisation.name.clone(),
            phone_number: String::new(),
            username: caller.organisation.code.clone(),
            status: Status::Active.code(),
        }
    }
}

/// The payer. A quote has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Payer {
    /// An empty object, for a quote.
    Empty {},
    /// The organisation whose wallet is debited.
    Organisation(Actor),
}

/// The receiver of the token. Beneficiaries are not registered, so there is no id and no name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Beneficiary {
    id: i64,
    full_name: String,
    phone_number: String,
    status: String,
}

impl Beneficiary {
    /// A beneficiary of which only the phone number is known.
    pub fn at(phone_number: &str) -> Self {
        Self { id: 0, full_name: String::new(), phone_number: phone_number.to_owned(), status: String::new() }
    }
}

/// Written by hand, so that the empty object is distinguished from an object with an actor.
impl PartialSchema for Payer {
    fn schema() -> RefOr<Schema> {
        let empty =
            ObjectBuilder::new().max_properties(Some(0)).description(Some("While there is only a quote."));
        let organisation = Ref::from_schema_name(Actor::name());
        OneOfBuilder::new()
            .item(empty)
            .item(organisation)
            .description(Some("The organisation whose wallet is debited."))
            .into()
    }
}

impl ToSchema for Payer {}
