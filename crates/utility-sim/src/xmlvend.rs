//! The server side of XMLVend 2.1 (NRS 009-6-10): requests and answers.

mod element;
mod envelope;
mod falsify;
mod header;
mod namespace;
mod render;
mod reply;
mod request;
mod xml;

pub(crate) use envelope::Soap;
pub(crate) use header::{DeviceId, Header, MessageName, MsgId, Sender};
pub(crate) use render::{Style, customer_name, render, render_unidentified};
pub(crate) use reply::{CustomerReply, Message, Receipt, Reply};
pub(crate) use request::{Ask, Credentials, Request, Unreadable, VendRequest};
