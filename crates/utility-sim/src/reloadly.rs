//! The server side of the Reloadly top-up interface: airtime for the telephones of Botswana.

mod access;
mod aggregator;
mod falsify;
mod message;
mod operator;
mod phone;
mod refusal;
mod render;
mod request;
mod topup;

pub(crate) use aggregator::Aggregator;
pub(crate) use message::{Message, Reply};
pub(crate) use phone::phone_scenarios;
pub(crate) use refusal::Refusal;
pub(crate) use render::{MOMENT, render};
pub(crate) use request::{Ask, ReportFilter, Request, TokenRequest, VendRequest};
pub(crate) use topup::Ending;
