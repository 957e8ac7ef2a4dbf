//! Values that have their own name in the document: closed lists, and the form of money.

use std::borrow::Cow;

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};

use identity::{Environment, Permission, Role};
use ledger::Category;

use crate::{endpoint::failures, requests::limits::CHANNELS};

/// An amount with its currency.
pub struct Money;

impl PartialSchema for Money {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(r"^[A-Z]{3} [0-9]+\.[0-9]{2}$"))
            .description(Some("Currency code (ISO 4217), a space, and the amount with two decimals."))
            .examples(["BWP 100.00"])
            .into()
    }
}

impl ToSchema for Money {
    fn name() -> Cow<'static, str> {
        "Money".into()
    }
}

/// An amount or a balance that may be negative.
pub struct SignedMoney;

impl PartialSchema for SignedMoney {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some(r"^[A-Z]{3} -?[0-9]+\.[0-9]{2}$"))
            .description(Some("As `Money`, with a minus sign before the amount if it is negative."))
            .examples(["BWP -100.00"])
            .into()
    }
}

impl ToSchema for SignedMoney {
    fn name() -> Cow<'static, str> {
        "SignedMoney".into()
    }
}

/// Declares a closed list with its name, its description and its values.
macro_rules! closed_list {
    ($name:ident, $description:literal, $values:expr) => {
        pub struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new()
                    .schema_type(Type::String)
                    .enum_values(Some($values))
                    .description(Some($description))
                    .into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    };
}

closed_list!(SourceChannel, "Where the sale is made.", CHANNELS.map(purchase::SourceChannel::as_str));
closed_list!(
    PurchaseChannel,
    "Where the sale was made, SMS_MO being of the Current surface only.",
    purchase::SourceChannel::ALL.map(purchase::SourceChannel::as_str)
);
closed_list!(ProductType, "What is bought.", vend::Product::ALL.map(vend::Product::as_str));
closed_list!(
    AvailabilityStatus,
    "`AVAILABLE`: it can be bought. `PAUSED`: the sales are paused, and validate and confirm answer \
     `provider_unavailable`. What was bought before is settled as always.",
    ["AVAILABLE", "PAUSED"]
);
closed_list!(
    PurchaseStatus,
    "`ON_GOING`: a quote; nothing has moved. `SUCCESSFUL`: paid, and the token, where there is one, is in the \
     answer. `PENDING`: the money is set aside and the outcome is not known yet. `FAILED`: nothing was bought \
     and nothing was charged.",
    ["ON_GOING", "SUCCESSFUL", "FAILED", "PENDING"]
);
closed_list!(
    AccountCategory,
    "`CURRENT` and `TOPUP` can pay for purchases; `COMMISSION` receives what is earned by them.",
    Category::ALL.map(Category::as_str)
);
closed_list!(RoleCode, "The role of the integration user.", [Role::Integrator, Role::Viewer].map(Role::code));
closed_list!(PermissionCode, "What a role allows.", Permission::ALL.map(Permission::code));
closed_list!(
    ErrorType,
    "The broad category.",
    error_codes::ErrorType::ALL.map(error_codes::ErrorType::as_str)
);
closed_list!(
    ErrorCode,
    "What happened; stable. Treat one that you do not know as its type.",
    error_codes::ErrorCode::ALL.map(error_codes::ErrorCode::as_str)
);
closed_list!(FailureType, "The broad category.", types_of(&failures()));
closed_list!(
    FailureCode,
    "Why nothing was bought. Treat one that you do not know as its type.",
    failures().into_iter().map(error_codes::ErrorCode::as_str)
);
closed_list!(
    EnvironmentCode,
    "Where the organisation lives.",
    [Environment::Staging, Environment::Production].map(Environment::code)
);
closed_list!(
    MovementKind,
    "`PURCHASE`: a purchase was paid. `TOP_UP`: money was paid in. `ADJUSTMENT`: the operator corrected the balance.",
    purchase::MovementKind::ALL.map(purchase::MovementKind::as_str)
);
closed_list!(
    MovementPart,
    "What the line is for. `NET`: what was vended. `CHARGE`: the charge. `COMMISSION`: what was earned. `PAYMENT`: a \
     payment or a correction.",
    purchase::MovementPart::ALL.map(purchase::MovementPart::as_str)
);
closed_list!(
    EndpointStatus,
    "`ACTIVE`: events are sent. `PAUSED`: you paused it. `SWITCHED_OFF`: the service sends nothing more to it, and says why; \
     set `ACTIVE` when it works again.",
    ["ACTIVE", "PAUSED", "SWITCHED_OFF"]
);
closed_list!(
    SwitchedOffBecause,
    "`FAILING`: it accepted nothing for days. `GONE`: it answered 410.",
    webhook::SwitchedOff::ALL.map(webhook::SwitchedOff::as_str)
);
closed_list!(
    AttemptOutcome,
    "`ACCEPTED`: the endpoint answered 2xx. `RETRY`: it did not, and is asked again at `next_attempt_at`. `GIVEN_UP`: it did \
     not, and is not asked again.",
    ["ACCEPTED", "RETRY", "GIVEN_UP"]
);
closed_list!(
    EventTypeName,
    "What happened. Ignore one that you do not know.",
    feed::EventType::ALL.map(feed::EventType::as_str)
);
closed_list!(
    BatchStatus,
    "`RUNNING`: its lines are bought. `PAUSED`: no line is begun. `CANCELLING`: no line is begun any more, and what was begun comes to \
     its end. `FINISHED`: all lines have ended.",
    vending::BatchStatus::ALL.map(vending::BatchStatus::as_str)
);
closed_list!(
    BatchPausedBecause,
    "`REQUESTED`: you paused it. `NOT_AUTHORISED`: its client, its user or the organisation may not buy any more. \
     `DATABASE_CHANGED`: the service was restored, or has changed to another database server. Compare what was sold before you resume.",
    vending::PausedBecause::ALL.map(vending::PausedBecause::as_str)
);
closed_list!(
    BatchLineStatus,
    "`WAITING`: it is bought later. `BUYING`: it is being bought. `PENDING`: the outcome of its purchase is not known yet. \
     `SUCCESSFUL`: it is sold. `FAILED`: nothing was bought and nothing was charged. `CANCELLED`: it was not begun when the batch was \
     cancelled.",
    vending::LineState::ALL.map(vending::LineState::as_str)
);

/// The types of the errors of these codes, each once.
pub fn types_of(codes: &[error_codes::ErrorCode]) -> Vec<&'static str> {
    error_codes::ErrorType::ALL
        .into_iter()
        .filter(|kind| codes.iter().any(|code| code.error_type() == *kind))
        .map(error_codes::ErrorType::as_str)
        .collect()
}
