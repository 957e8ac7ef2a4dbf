//! XMLVend 2.1 (NRS 009-6-10) from the server's side: what a client asks and how the answers are written.

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
pub(crate) use render::{Style, render, render_unidentified};
pub(crate) use reply::{CustomerReply, Message, Receipt, Reply};
pub(crate) use request::{Ask, Credentials, Order, Request, Unreadable};
