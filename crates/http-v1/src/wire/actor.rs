//! The parties to a purchase (specification, section 2.1).

use serde::Serialize;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema},
};

use identity::{Caller, Status};
use purchase::Buyer;

/// A user or an organisation that takes part in a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Actor<'a> {
    id: i64,
    full_name: &'a str,
    phone_number: &'a str,
    username: &'a str,
    status: &'static str,
}

impl<'a> Actor<'a> {
    /// The integration user that sends the request.
    pub fn user(caller: &'a Caller) -> Self {
        Self {
            id: caller.user.id,
            full_name: &caller.user.full_name,
            phone_number: caller.user.phone_number.as_deref().unwrap_or_default(),
            username: &caller.user.username,
            status: caller.user.status.code(),
        }
    }

    /// The integration user that bought.
    pub fn buyer(buyer: &'a Buyer) -> Self {
        let status = if buyer.is_active { Status::Active } else { Status::Suspended };
        Self {
            id: buyer.id.0,
            full_name: &buyer.full_name,
            phone_number: buyer.phone_number.as_deref().unwrap_or_default(),
            username: &buyer.username,
            status: status.code(),
        }
    }

    /// The organisation of the user that sends the request. It is active, because a suspended one cannot send requests.
    pub fn organisation(caller: &'a Caller) -> Self {
        Self {
            id: caller.organisation.id,
            full_name: &caller.organisation.name,
            phone_number: "",
            username: &caller.organisation.code,
            status: Status::Active.code(),
        }
    }
}

/// The payer. A quote has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Payer<'a> {
    /// An empty object, for a quote.
    Empty {},
    /// The organisation whose wallet is debited.
    Organisation(Actor<'a>),
}

/// The receiver of the token. Beneficiaries are not registered, so there is no id and no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Beneficiary<'a> {
    id: i64,
    full_name: &'a str,
    phone_number: &'a str,
    status: &'a str,
}

impl<'a> Beneficiary<'a> {
    /// A beneficiary of which only the phone number is known.
    pub const fn at(phone_number: &'a str) -> Self {
        Self { id: 0, full_name: "", phone_number, status: "" }
    }
}

/// Written by hand, so that the empty object is distinguished from an object with an actor.
impl PartialSchema for Payer<'_> {
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

impl ToSchema for Payer<'_> {}
