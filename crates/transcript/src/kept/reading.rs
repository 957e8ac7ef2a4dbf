//! Reads a transcript back: the inputs with which a run began, and its events.

use std::time::Duration;

use chrono::{DateTime, Utc};
use meter_token::TokenSet;
use money::Money;
use purchase::{
    Asker, ConfirmInput, Fence, Handling, Lifecycle, ResolveInput, RetryPlan, Rules, Sending, State,
    StateName, Timing,
};
use serde_json::Value;
use vend::{
    Breakdown, Capabilities, Doubt, Enquiry, RawReply, Refusal, RefusalReason, Unclear, Units, Vend,
    VendOutcome,
};

/// A field that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is missing, or is not what it should be")]
pub struct Unreadable(pub &'static str);

type Read<T> = Result<T, Unreadable>;

/// The inputs with which a run of resolve began.
pub(super) struct Begins {
    pub(super) was_claimed: bool,
    pub(super) asker: Asker,
    pub(super) lifecycle: Lifecycle,
    pub(super) at: DateTime<Utc>,
    pub(super) rules: Rules,
}

pub(super) fn resolve_begins(from: &Value) -> Read<Begins> {
    let declared = Capabilities {
        repeat_is_safe: truth(from, "repeat_is_safe")?,
        remembers_refusals: truth(from, "remembers_refusals")?,
        not_found_counts: truth(from, "not_found_counts")?,
        settles_within: length(from, "settles_within")?,
    };
    let asker = match text(from, "asker")? {
        "integrator" => Asker::Integrator,
        "worker" => Asker::Worker,
        _ => return Err(Unreadable("asker")),
    };
    Ok(Begins {
        was_claimed: text(from, "how")? == "claimed",
        asker,
        lifecycle: lifecycle(field(from, "life")?)?,
        at: instant(from, "at")?,
        rules: Rules { declared, timing: timing(from)? },
    })
}

pub(super) fn timing(from: &Value) -> Read<Timing> {
    let from = field(from, "timing")?;
    let plan = RetryPlan {
        first_look: length(from, "first_look")?,
        longest_pause: length(from, "longest_pause")?,
        repeats: five_lengths(from, "repeats")?,
        repeats_end: length(from, "repeats_end")?,
        attempts: five_lengths(from, "attempts")?,
    };
    Ok(Timing {
        gate: length(from, "gate")?,
        intake: length(from, "intake")?,
        provider_timeout: length(from, "provider_timeout")?,
        lease: length(from, "lease")?,
        enquiry_gap: length(from, "enquiry_gap")?,
        not_found_gap: length(from, "not_found_gap")?,
        reference_rest: length(from, "reference_rest")?,
        window: length(from, "window")?,
        plan,
    })
}

pub(super) fn confirm_event(from: &Value) -> Read<ConfirmInput> {
    Ok(match text(from, "event")? {
        "reserved" => ConfirmInput::Reserved {
            fence: fence(from)?,
            is_new: truth(from, "is_new")?,
            since_reserve: length(from, "since_reserve")?,
            since_arrival: length(from, "since_arrival")?,
        },
        "reserve_refused" => ConfirmInput::ReserveRefused(()),
        "reserve_not_committed" => ConfirmInput::ReserveNotCommitted(()),
        "reserve_unacknowledged" => ConfirmInput::ReserveUnacknowledged,
        "answered" => ConfirmInput::Answered(outcome(field(from, "outcome")?)?),
        "recorded" => ConfirmInput::Recorded,
        "record_unacknowledged" => ConfirmInput::RecordUnacknowledged,
        _ => return Err(Unreadable("event")),
    })
}

pub(super) fn resolve_event(from: &Value) -> Read<ResolveInput> {
    Ok(match text(from, "event")? {
        "claimed" => {
            ResolveInput::Claimed { lifecycle: lifecycle(field(from, "life")?)?, at: instant(from, "at")? }
        }
        "not_claimed" => ResolveInput::NotClaimed,
        "may_ask" => ResolveInput::MayAsk,
        "may_not_ask" => ResolveInput::MayNotAsk,
        "enquired" => ResolveInput::Enquired {
            enquiry: enquiry(field(from, "enquiry")?)?,
            asked_at: instant(from, "asked_at")?,
        },
        "send_recorded" => {
            ResolveInput::SendRecorded { fence: fence(from)?, since_record: length(from, "since_record")? }
        }
        "send_refused" => ResolveInput::SendRefused,
        "send_unacknowledged" => ResolveInput::SendUnacknowledged,
        "answered" => ResolveInput::Answered(outcome(field(from, "outcome")?)?),
        "recorded" => {
            ResolveInput::Recorded { lifecycle: lifecycle(field(from, "life")?)?, at: instant(from, "at")? }
        }
        "record_unacknowledged" => ResolveInput::RecordUnacknowledged,
        _ => return Err(Unreadable("event")),
    })
}

fn outcome(from: &Value) -> Read<VendOutcome> {
    if let Some(bought) = from.get("vended") {
        return Ok(VendOutcome::Vended(Box::new(vend(bought)?)));
    }
    match (from.get("refused"), from.get("unknown")) {
        (Some(why), _) => Ok(VendOutcome::Refused(refusal(why)?)),
        (None, Some(why)) => Ok(VendOutcome::Unknown(unclear(why)?)),
        (None, None) => Err(Unreadable("outcome")),
    }
}

fn enquiry(from: &Value) -> Read<Enquiry> {
    match (from.as_str(), from.get("vended"), from.get("refused"), from.get("unanswered")) {
        (Some("no_record"), ..) => Ok(Enquiry::NoRecord),
        (Some("still_open"), ..) => Ok(Enquiry::StillOpen),
        (_, Some(bought), ..) => Ok(Enquiry::Vended(Box::new(vend(bought)?))),
        (_, _, Some(why), _) => Ok(Enquiry::Refused(refusal(why)?)),
        (.., Some(why)) => Ok(Enquiry::Unanswered(unclear(why)?)),
        _ => Err(Unreadable("enquiry")),
    }
}

fn vend(from: &Value) -> Read<Vend> {
    let tokens = optional(from, "tokens").map(TokenSet::parse).transpose();
    let units = match (optional(from, "quantity"), optional(from, "unit")) {
        (Some(quantity), Some(unit)) => Some(Units {
            quantity: quantity.parse().map_err(|_no_number| Unreadable("quantity"))?,
            unit: unit.to_owned(),
        }),
        _ => None,
    };
    Ok(Vend {
        tokens: tokens.map_err(|_malformed| Unreadable("tokens"))?,
        units,
        provider_transaction: text(from, "provider_transaction")?.to_owned(),
        breakdown: breakdown(from)?,
        subscriber_details: optional(from, "subscriber_details").map(str::to_owned),
        raw_reply: bytes(text(from, "raw_reply")?)?,
    })
}

fn breakdown(from: &Value) -> Read<Option<Breakdown>> {
    let Some(parts) = field(from, "breakdown")?.as_array() else { return Ok(None) };
    let parts = parts.iter().filter_map(|part| Money::parse_wire(part.as_str()?).ok()).collect::<Vec<_>>();
    let [cost, vat, levy, regulatory_fee, charge] =
        parts.try_into().map_err(|_not_five: Vec<_>| Unreadable("breakdown"))?;
    Ok(Some(Breakdown { cost, vat, levy, regulatory_fee, charge }))
}

fn refusal(from: &Value) -> Read<Refusal> {
    let reason = RefusalReason::parse(text(from, "reason")?).ok_or(Unreadable("reason"))?;
    Ok(Refusal { reason, wording: optional(from, "wording").map(str::to_owned) })
}

fn unclear(from: &Value) -> Read<Unclear> {
    let name = text(from, "doubt")?;
    let doubt = Doubt::ALL.into_iter().find(|doubt| doubt.as_str() == name).ok_or(Unreadable("doubt"))?;
    let raw_reply = optional(from, "raw_reply").map(bytes).transpose()?;
    Ok(Unclear { doubt, raw_reply })
}

fn bytes(from: &str) -> Read<RawReply> {
    hex::decode(from).map(RawReply).map_err(|_no_hex| Unreadable("raw_reply"))
}

fn lifecycle(from: &Value) -> Read<Lifecycle> {
    Ok(Lifecycle {
        handling: Handling::parse(text(from, "handling")?).ok_or(Unreadable("handling"))?,
        state: state(from)?,
        fence: fence(from)?,
        lease_until: optional_instant(from, "lease_until")?,
        claimed_at: optional_instant(from, "claimed_at")?,
        asked_at: optional_instant(from, "asked_at")?,
        attempt: number(from, "attempt")?,
        requests: number(from, "requests")?,
        window_closes_at: instant(from, "window_closes_at")?,
    })
}

fn state(from: &Value) -> Read<State> {
    let name = StateName::parse(text(from, "state")?).ok_or(Unreadable("state"))?;
    let sending = || {
        let from = field(from, "sending")?;
        Ok(Sending {
            copies: number(from, "copies")?,
            last_sent_at: instant(from, "last_sent_at")?,
            ended_at: optional_instant(from, "ended_at")?,
            earlier_ended_by: optional_instant(from, "earlier_ended_by")?,
            no_record_since: optional_instant(from, "no_record_since")?,
        })
    };
    Ok(match name {
        StateName::InFlight => State::InFlight(sending()?),
        StateName::InDoubt => State::InDoubt(sending()?),
        StateName::Review => State::Review(sending()?),
        StateName::RetryDue => State::RetryDue,
        StateName::Failed => State::Failed,
        StateName::Successful => {
            State::Successful { provider_transaction: text(from, "provider_transaction")?.to_owned() }
        }
    })
}

fn fence(from: &Value) -> Read<Fence> {
    field(from, "fence")?.as_i64().map(Fence).ok_or(Unreadable("fence"))
}

pub(super) fn field<'a>(from: &'a Value, name: &'static str) -> Read<&'a Value> {
    from.get(name).ok_or(Unreadable(name))
}

pub(super) fn text<'a>(from: &'a Value, name: &'static str) -> Read<&'a str> {
    field(from, name)?.as_str().ok_or(Unreadable(name))
}

fn optional<'a>(from: &'a Value, name: &str) -> Option<&'a str> {
    from.get(name)?.as_str()
}

fn truth(from: &Value, name: &'static str) -> Read<bool> {
    field(from, name)?.as_bool().ok_or(Unreadable(name))
}

fn number<T: TryFrom<u64>>(from: &Value, name: &'static str) -> Read<T> {
    let number = field(from, name)?.as_u64().ok_or(Unreadable(name))?;
    T::try_from(number).map_err(|_too_large| Unreadable(name))
}

fn length(from: &Value, name: &'static str) -> Read<Duration> {
    number(from, name).map(Duration::from_nanos)
}

fn five_lengths(from: &Value, name: &'static str) -> Read<[Duration; 5]> {
    let lengths = field(from, name)?.as_array().ok_or(Unreadable(name))?.iter();
    let lengths: Vec<Duration> =
        lengths.filter_map(|nanoseconds| nanoseconds.as_u64().map(Duration::from_nanos)).collect();
    lengths.try_into().map_err(|_not_five: Vec<_>| Unreadable(name))
}

fn optional_instant(from: &Value, name: &'static str) -> Read<Option<DateTime<Utc>>> {
    optional(from, name).map(|_| instant(from, name)).transpose()
}

fn instant(from: &Value, name: &'static str) -> Read<DateTime<Utc>> {
    let at = DateTime::parse_from_rfc3339(text(from, name)?).map_err(|_no_instant| Unreadable(name))?;
    Ok(at.to_utc())
}
