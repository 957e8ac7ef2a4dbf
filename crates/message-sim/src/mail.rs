//! One SMTP session: which answer follows which command (RFC 5321).

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use mail_parser::MessageParser;
use smtp_proto::{AUTH_PLAIN, Request};

use crate::{PostOffice, Reception, inbox::Channel};

/// The largest accepted mail, in bytes.
pub(crate) const MAIL_MAX: usize = 1024 * 1024;
/// The most receivers of one mail.
const RECEIVERS_MAX: usize = 100;

pub(crate) const GREETING: &str = "220 simulator ESMTP\r\n";
const HELLO: &str = "250 simulator\r\n";
const EXTENSIONS: &str = "250-simulator\r\n250-8BITMIME\r\n250-SIZE 1048576\r\n250 AUTH PLAIN\r\n";
const OK: &str = "250 2.0.0 OK\r\n";
const GO_ON: &str = "354 End with a dot on a line of its own\r\n";
const BYE: &str = "221 2.0.0 Bye\r\n";
const KNOWN: &str = "235 2.7.0 Come in\r\n";
const WRONG_CREDENTIALS: &str = "535 5.7.8 Wrong username or password\r\n";
const OTHER_MECHANISM: &str = "504 5.5.4 PLAIN, with the credentials in the command\r\n";
const OUT_OF_TURN: &str = "503 5.5.1 Not now\r\n";
const TOO_MANY: &str = "452 4.5.3 Too many receivers\r\n";
const NOT_HERE: &str = "502 5.5.1 Not here\r\n";
const BUSY: &str = "451 4.3.0 Try again later\r\n";
const UNWANTED: &str = "550 5.1.1 No such mailbox\r\n";
const NO_MAIL: &str = "554 5.6.0 That is no mail\r\n";

/// The state of the session.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    greeted: bool,
    /// The receivers of the current mail, once its sender was given.
    receivers: Option<Vec<String>>,
}

/// What follows a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// An answer, then the next command.
    Say(&'static str),
    /// An answer, then the mail data.
    Listen(&'static str),
    /// An answer, then the connection is closed.
    Part(&'static str),
}

impl Conversation {
    /// Answers a command.
    pub(crate) fn hears(&mut self, request: Request<Cow<'_, str>>, post: &PostOffice) -> Next {
        match request {
            Request::Helo { .. } => self.greets(HELLO),
            Request::Ehlo { .. } => self.greets(EXTENSIONS),
            Request::Auth { mechanism, initial_response } => {
                Next::Say(admitted(mechanism, &initial_response, post))
            }
            Request::Mail { .. } if self.greeted && self.receivers.is_none() => {
                self.receivers = Some(Vec::new());
                Next::Say(OK)
            }
            Request::Rcpt { to } => Next::Say(self.notes(&to.address)),
            Request::Data if self.receivers.as_ref().is_some_and(|receivers| !receivers.is_empty()) => {
                Next::Listen(GO_ON)
            }
            Request::Mail { .. } | Request::Data => Next::Say(OUT_OF_TURN),
            Request::Rset => {
                self.receivers = None;
                Next::Say(OK)
            }
            Request::Noop { .. } => Next::Say(OK),
            Request::Quit => Next::Part(BYE),
            Request::Lhlo { .. }
            | Request::Bdat { .. }
            | Request::Vrfy { .. }
            | Request::Expn { .. }
            | Request::Help { .. }
            | Request::Etrn { .. }
            | Request::Atrn { .. }
            | Request::Burl { .. }
            | Request::StartTls => Next::Say(NOT_HERE),
        }
    }

    /// Accepts or refuses the mail data. Returns how, and the answer.
    pub(crate) fn takes(&mut self, mail: &[u8], post: &PostOffice) -> (Reception, &'static str) {
        let receivers = self.receivers.take().unwrap_or_default();
        let Some(mail) = MessageParser::default().parse(mail) else { return (Reception::Taken, NO_MAIL) };
        let text = mail.body_text(0).unwrap_or_default().trim_end().to_owned();
        let subject = mail.subject().map(str::to_owned);
        let first = receivers.first().map(String::as_str).unwrap_or_default();
        let reception = post.reception(Channel::Email, first);
        for receiver in receivers.iter().filter(|_receiver| reception.delivers()) {
            post.store(Channel::Email, receiver, subject.clone(), text.clone());
        }
        match reception {
            Reception::RefusedForNow => (reception, BUSY),
            Reception::RefusedForGood => (reception, UNWANTED),
            Reception::Taken | Reception::TakenLate(_) | Reception::TakenUnsaid | Reception::Unheard => {
                (reception, OK)
            }
        }
    }

    fn greets(&mut self, answer: &'static str) -> Next {
        *self = Self { greeted: true, receivers: None };
        Next::Say(answer)
    }

    fn notes(&mut self, receiver: &str) -> &'static str {
        match &mut self.receivers {
            None => OUT_OF_TURN,
            Some(receivers) if receivers.len() >= RECEIVERS_MAX => TOO_MANY,
            Some(receivers) => {
                receivers.push(receiver.to_owned());
                OK
            }
        }
    }
}

/// Authentication is optional, but the credentials must be right if they are given.
fn admitted(mechanism: u64, response: &str, post: &PostOffice) -> &'static str {
    if mechanism != AUTH_PLAIN || response.is_empty() {
        return OTHER_MECHANISM;
    }
    let decoded = STANDARD.decode(response).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let known = decoded.is_some_and(|text| {
        // RFC 4616: authorisation identity, user name, password.
        let mut parts = text.splitn(3, '\0').skip(1);
        let (username, password) = (parts.next(), parts.next());
        post.knows(username.unwrap_or_default(), password.unwrap_or_default())
    });
    if known { KNOWN } else { WRONG_CREDENTIALS }
}
