//! Messages to people, for the sandbox and for tests: an SMS gateway with Kannel's interface, a mail server, and one
//! inbox for both.
//!
//! [`PostOffice`] receives the messages of both channels. Its owner gives each SMS to [`PostOffice::take_sms`] and runs
//! [`serve`] for mail. The HTTP server of the SMS gateway belongs to the owner too. A function of the owner decides how
//! each message is received: [`NextReception`].
#![warn(missing_docs)]

mod alphabet;
mod inbox;
mod kannel;
mod mail;
mod post_office;
mod reception;
mod smtp;

pub use inbox::{Channel, Inbox, Message};
pub use kannel::{Said, Sms};
pub use post_office::{Credentials, PostOffice};
pub use reception::{NextReception, Reception};
pub use smtp::serve;
