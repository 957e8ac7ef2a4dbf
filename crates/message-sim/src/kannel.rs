//! An SMS gateway with the interface and the reply texts of Kannel's `sendsms`.

use std::collections::HashMap;

use percent_encoding::percent_decode;

use crate::{PostOffice, Reception, alphabet::Coding, inbox::Channel};

/// The parameters of a request, by name. The values are bytes, because a text need not be UTF-8.
#[derive(Debug, Default)]
pub struct Sms(HashMap<String, Vec<u8>>);

/// An answer: an HTTP status and one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// The HTTP status.
    pub status: u16,
    /// The whole body.
    pub line: &'static str,
}

const ACCEPTED: Said = Said { status: 202, line: "0: Accepted for delivery" };
const WRONG_CREDENTIALS: Said = Said { status: 403, line: "Authorization failed for sendsms" };
const BLACKLISTED: Said =
    Said { status: 403, line: "Number(s) has/have been denied by white- and/or black-lists." };
const NO_RECEIVER: Said = Said { status: 400, line: "Missing receiver(s) number(s), rejected" };
const MISFORMED: Said = Said { status: 400, line: "Charset or body misformed, rejected" };
const OTHER_TYPE: Said = Said { status: 400, line: "Invalid content-type" };
const BUSY: Said = Said { status: 503, line: "Temporal failure, try again later." };

impl Sms {
    /// The parameters of a query, still percent-encoded.
    pub fn of_query(encoded: &[u8]) -> Self {
        let mut sms = Self::default();
        for pair in encoded.split(|byte| *byte == b'&') {
            let mut halves = pair.splitn(2, |byte| *byte == b'=');
            let name = decoded(halves.next().unwrap_or_default());
            let value = decoded(halves.next().unwrap_or_default());
            sms.0.insert(String::from_utf8_lossy(&name).into_owned(), value);
        }
        sms
    }

    /// The parameters of a POST: the text is the body, its character set is in the content type, and everything else is
    /// in `X-Kannel-` fields. The names of `fields` are in lower case. Kannel also accepts XML, which no client here
    /// sends. Kannel refuses a form.
    ///
    /// # Errors
    /// The answer to any other content type.
    pub fn posted<'a>(
        fields: impl IntoIterator<Item = (&'a str, &'a [u8])>,
        body: &[u8],
    ) -> Result<Self, Said> {
        let mut parameters = HashMap::from([("text".to_owned(), body.to_vec())]);
        let mut content_type = "text/plain".to_owned();
        for (name, value) in fields {
            if name == "content-type" {
                content_type = String::from_utf8_lossy(value).to_ascii_lowercase();
            } else if let Some(parameter) = name.strip_prefix("x-kannel-") {
                parameters.insert(parameter.to_owned(), value.to_vec());
            }
        }
        let mut content_type = content_type.split(';').map(str::trim);
        if content_type.next() != Some("text/plain") {
            return Err(OTHER_TYPE);
        }
        if let Some(charset) = content_type.find_map(|part| part.strip_prefix("charset=")) {
            parameters.insert("charset".to_owned(), charset.as_bytes().to_vec());
        }
        Ok(Self(parameters))
    }

    fn text_of(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(|value| str::from_utf8(value).ok())
    }
}

impl PostOffice {
    /// Accepts or refuses an SMS. Returns how, and the answer. The caller must delay the answer, or cut the connection,
    /// as the reception says.
    pub fn take_sms(&self, sms: &Sms) -> (Reception, Said) {
        let (username, password) = (sms.text_of("username"), sms.text_of("password"));
        if !self.knows(username.unwrap_or_default(), password.unwrap_or_default()) {
            return (Reception::Taken, WRONG_CREDENTIALS);
        }
        let Some(to) = sms.text_of("to").filter(|to| !to.is_empty()) else {
            return (Reception::Taken, NO_RECEIVER);
        };
        let text = Coding::parse(sms.text_of("coding")).and_then(|coding| {
            let bytes = sms.0.get("text").map(Vec::as_slice).unwrap_or_default();
            coding.shown(bytes, sms.text_of("charset"))
        });
        let Some(text) = text else { return (Reception::Taken, MISFORMED) };
        let reception = self.reception(Channel::Sms, to);
        if reception.delivers() {
            self.store(Channel::Sms, to, None, text);
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
