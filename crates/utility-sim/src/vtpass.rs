//! The server side of the VTpass interface: electricity for the meters of the utility, in naira.

mod agent;
mod falsify;
mod message;
mod past;
mod rejection;
mod render;
mod request;
mod sale;

pub(crate) use agent::Agent;
pub(crate) use message::{Ending, Message, Reply};
pub(crate) use rejection::Rejection;
pub(crate) use render::render;
pub(crate) use request::{Ask, Keys, Order, Request, Verification, request_id};
