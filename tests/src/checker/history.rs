//! What clients asked and were told, and when.

use std::collections::BTreeSet;

use serde_json::Value;

/// All that the harness asked in the name of some organisations.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub exchanges: Vec<Exchange>,
    /// The organisations in whose name nobody asked for anything that is not here.
    pub complete_for: BTreeSet<i64>,
}

/// One request and what came of it. Instants are microseconds of the epoch, by the machine's own clock, which is also
/// the database's.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub organisation: i64,
    pub call: Call,
    pub invoked_at: i64,
    pub returned_at: i64,
    /// `None` where the line was cut.
    pub reply: Option<Reply>,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    Validate {
        subscriber: String,
        external_reference: Option<String>,
    },
    /// A keyed one may be sent again under its key.
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

/// What came back.
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
    /// It was vended and paid for.
    Bought { id: i64 },
    /// It is under way.
    Pending { id: Option<i64> },
    /// This call bought nothing, and never will have.
    NotBought,
    /// The newest purchase of this reference failed for good.
    Failed { code: String },
    /// There is no purchase of this reference, and none is under way.
    Absent,
    /// Nothing at all.
    Nothing,
}

impl Reply {
    /// The stable code of an error.
    pub fn code(&self) -> &str {
        self.body.pointer("/error/code").and_then(Value::as_str).unwrap_or_default()
    }

    /// The number of the purchase that it shows.
    pub fn id(&self) -> Option<i64> {
        self.body.get("id").and_then(Value::as_i64)
    }

    /// The tokens that it shows, in the order of entry.
    pub fn tokens(&self) -> Vec<&str> {
        let wire = self.body.pointer("/product/token").and_then(Value::as_str);
        let pairs = wire.into_iter().flat_map(|wire| wire.split('|'));
        pairs.map(|pair| pair.split_once(':').map_or(pair, |(_, token)| token.trim())).collect()
    }
}

impl Exchange {
    /// What its answer says.
    pub fn claim(&self) -> Claim {
        let Some(reply) = &self.reply else { return Claim::Nothing };
        match &self.call {
            Call::Confirm { is_keyed, .. } => of_confirm(reply, *is_keyed),
            Call::Retry { .. } => of_retry(reply),
            Call::Validate { .. } | Call::Balance { .. } | Call::Other => Claim::Nothing,
        }
    }

    /// The subscriber and the integrator's own reference that it is about.
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

    pub fn is_retry(&self) -> bool {
        matches!(self.call, Call::Retry { .. })
    }
}

/// Once a reserve may have been kept, only 504 is not final. So whatever else a confirm is refused with is a promise.
fn of_confirm(reply: &Reply, is_keyed: bool) -> Claim {
    match reply.status {
        200 => shown(reply),
        // What is pending may be what the same key made.
        409 if is_keyed => Claim::Pending { id: None },
        504 => Claim::Nothing,
        _ => Claim::NotBought,
    }
}

fn of_retry(reply: &Reply) -> Claim {
    match reply.status {
        200 => shown(reply),
        404 => Claim::Absent,
        409 => Claim::Pending { id: None },
        // Not let in; or nobody knows.
        401 | 403 | 429 | 500.. => Claim::Nothing,
        _ => Claim::Failed { code: reply.code().to_owned() },
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
