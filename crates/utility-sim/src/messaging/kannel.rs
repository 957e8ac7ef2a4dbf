//! An SMS gateway that is asked as Kannel's `sendsms` is, and answers in Kannel's words.

use std::collections::HashMap;

use percent_encoding::percent_decode;

use super::{PostOffice, Reception, alphabet::Coding, inbox::Channel};

/// The parameters of a request, by name: bytes, because a text need not be in UTF-8.
#[derive(Debug, Default)]
pub(crate) struct Sms(HashMap<String, Vec<u8>>);

/// An answer: an HTTP status and a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) status: u16,
    pub(crate) line: &'static str,
}

const ACCEPTED: Said = Said { status: 202, line: "0: Accepted for delivery" };
const STRANGER: Said = Said { status: 403, line: "Authorization failed for sendsms" };
const BLACKLISTED: Said =
    Said { status: 403, line: "Number(s) has/have been denied by white- and/or black-lists." };
const TO_NOBODY: Said = Said { status: 400, line: "Missing receiver number, rejected" };
const MISFORMED: Said = Said { status: 400, line: "Charset or body misformed, rejected" };
const BUSY: Said = Said { status: 503, line: "Temporal failure, try again later." };

impl Sms {
    /// Adds the parameters of a query or of a form.
    pub(crate) fn read(mut self, encoded: &[u8]) -> Self {
        for pair in encoded.split(|byte| *byte == b'&') {
            let mut halves = pair.splitn(2, |byte| *byte == b'=');
            let name = decoded(halves.next().unwrap_or_default());
            let value = decoded(halves.next().unwrap_or_default());
            self.0.insert(String::from_utf8_lossy(&name).into_owned(), value);
        }
        self
    }

    fn text_of(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(|value| str::from_utf8(value).ok())
    }
}

impl PostOffice {
    /// Takes an SMS in, or does not: how, and what is said then.
    pub(crate) fn take_sms(&self, sms: &Sms) -> (Reception, Said) {
        let (username, password) = (sms.text_of("username"), sms.text_of("password"));
        if !self.knows(username.unwrap_or_default(), password.unwrap_or_default()) {
            return (Reception::Taken, STRANGER);
        }
        let Some(to) = sms.text_of("to").filter(|to| !to.is_empty()) else {
            return (Reception::Taken, TO_NOBODY);
        };
        let text = Coding::parse(sms.text_of("coding")).and_then(|coding| {
            let bytes = sms.0.get("text").map(Vec::as_slice).unwrap_or_default();
            coding.shown(bytes, sms.text_of("charset"))
        });
        let Some(text) = text else { return (Reception::Taken, MISFORMED) };
        let reception = self.reception(Channel::Sms, to);
        if reception.delivers() {
            self.keep(Channel::Sms, to, None, text);
        }
        match reception {
            Reception::RefusedForNow => (reception, BUSY),
            Reception::RefusedForGood => (reception, BLACKLISTED),
            Reception::Taken | Reception::TakenLate(_) | Reception::TakenUnsaid | Reception::Unheard => {
                (reception, ACCEPTED)
            }
        }
    }
}

fn decoded(part: &[u8]) -> Vec<u8> {
    let spaced: Vec<u8> = part.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    percent_decode(&spaced).collect()
}
