//! The recorded requests and answers, with their times.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::surface::Surface;

/// All exchanges of the test clients.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub exchanges: Vec<Exchange>,
    /// The organisations all of whose requests are recorded here.
    pub complete_for: BTreeSet<i64>,
}

/// One request and its answer. Instants are microseconds since the epoch, by the machine's clock, which the database
/// also uses.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub organisation: i64,
    /// The surface of the request, which determines the form of the answer.
    pub surface: Surface,
    pub call: Call,
    pub invoked_at: i64,
    pub returned_at: i64,
    /// `None` if the connection was cut.
    pub reply: Option<Reply>,
}

/// The request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    Validate {
        subscriber: String,
        external_reference: Option<String>,
    },
    /// A keyed confirm may be sent again under its key.
    Confirm {
        subscriber: String,
        external_reference: Option<String>,
        is_keyed: bool,
    },
    Retry {
        subscriber: String,
        external_reference: String,
    },
    Balance {
        account: i64,
    },
    Other,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub request_id: Option<String>,
    pub text: String,
    pub body: Value,
}

/// What an answer says about a purchase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The purchase was vended and paid for.
    Bought { id: i64 },
    /// The purchase is in progress.
    Pending { id: Option<i64> },
    /// This call bought nothing, and will not buy anything later.
    NotBought,
    /// The newest purchase of this reference failed for good.
    Failed { code: String },
    /// There is no purchase of this reference, and none is in progress.
    Absent,
    /// The answer says nothing about a purchase.
    Nothing,
}

impl Reply {
    /// The id of the purchase that the answer shows.
    pub fn id(&self) -> Option<i64> {
        self.body.get("id").and_then(Value::as_i64)
    }
}

impl Exchange {
    /// What its answer says.
    pub fn claim(&self) -> Claim {
        let Some(reply) = &self.reply else { return Claim::Nothing };
        match &self.call {
            Call::Confirm { is_keyed, .. } => of_confirm(reply, *is_keyed),
            Call::Retry { .. } => of_retry(reply, self.code()),
            Call::Validate { .. } | Call::Balance { .. } | Call::Other => Claim::Nothing,
        }
    }

    /// The stable code of the error in the answer.
    pub fn code(&self) -> &str {
        self.reply.as_ref().and_then(|reply| self.surface.code(&reply.body)).unwrap_or_default()
    }

    /// The tokens that the answer shows, in the order of entry.
    pub fn tokens(&self) -> Vec<&str> {
        let tokens = self.reply.iter().flat_map(|reply| self.surface.tokens(&reply.body));
        tokens.map(|(_description, token)| token).collect()
    }

    /// The subscriber and the external reference of the request.
    pub fn about(&self) -> Option<(&str, Option<&str>)> {
        match &self.call {
            Call::Confirm { subscriber, external_reference, is_keyed: _ } => {
                Some((subscriber, external_reference.as_deref()))
            }
            Call::Retry { subscriber, external_reference } => Some((subscriber, Some(external_reference))),
            Call::Validate { .. } | Call::Balance { .. } | Call::Other => None,
        }
    }

    pub fn is_confirm(&self) -> bool {
        matches!(self.call, Call::Confirm { .. })
    }

    /// Whether it is a confirm under a key.
    pub fn is_keyed(&self) -> bool {
        matches!(self.call, Call::Confirm { is_keyed: true, .. })
    }

    pub fn is_retry(&self) -> bool {
        matches!(self.call, Call::Retry { .. })
    }
}

/// After a reserve may have been committed, 504 is the only error that is not final. Every other refusal of a confirm
/// is a promise.
fn of_confirm(reply: &Reply, is_keyed: bool) -> Claim {
    match reply.status {
        200 => shown(reply),
        // The pending purchase may have been made under the same key.
        409 if is_keyed => Claim::Pending { id: None },
        504 => Claim::Nothing,
        _ => Claim::NotBought,
    }
}

fn of_retry(reply: &Reply, code: &str) -> Claim {
    match reply.status {
        200 => shown(reply),
        404 => Claim::Absent,
        409 => Claim::Pending { id: None },
        // Not authorised, or the outcome is unknown.
        401 | 403 | 429 | 500.. => Claim::Nothing,
        _ => Claim::Failed { code: code.to_owned() },
    }
}

fn shown(reply: &Reply) -> Claim {
    let status = reply.body.get("status").and_then(Value::as_str);
    match (status, reply.id()) {
        (Some("SUCCESSFUL"), Some(id)) => Claim::Bought { id },
        (Some("PENDING"), id @ Some(_)) => Claim::Pending { id },
        _ => Claim::Nothing,
    }
}
