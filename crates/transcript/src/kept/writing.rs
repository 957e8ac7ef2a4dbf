//! Every event and command of the protocols as JSON. The matches are exhaustive: a new event or command does
//! not compile until it is added here.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use purchase::{
    Asker, ConfirmCommand, ConfirmInput, Event, Fence, Lifecycle, RefusalSource, ResolveAnswer,
    ResolveCommand, ResolveInput, Rules, Sending, State, Timing,
};
use serde_json::{Value, json};
use vend::{Breakdown, Enquiry, RawReply, Refusal, Unclear, Vend, VendOutcome};

pub(super) fn confirm_begins(with: &Timing) -> Value {
    json!({"protocol": "confirm", "timing": timing(with)})
}

pub(super) fn resolve_begins(
    how: &str,
    asker: Asker,
    with: &Lifecycle,
    at: DateTime<Utc>,
    rules: &Rules,
) -> Value {
    let asker = match asker {
        Asker::Integrator => "integrator",
        Asker::Worker => "worker",
    };
    json!({
        "protocol": "resolve",
        "how": how,
        "asker": asker,
        "life": lifecycle(with),
        "at": instant(at),
        "timing": timing(&rules.timing),
        "repeat_is_safe": rules.declared.repeat_is_safe,
        "remembers_refusals": rules.declared.remembers_refusals,
        "not_found_counts": rules.declared.not_found_counts,
        "settles_within": length(rules.declared.settles_within),
    })
}

pub(super) fn confirm_event<Reason>(event: &ConfirmInput<Reason>) -> Value {
    match event {
        ConfirmInput::Reserved { fence, is_new, since_reserve, since_arrival } => json!({
            "event": "reserved",
            "fence": fence.0,
            "is_new": is_new,
            "since_reserve": length(*since_reserve),
            "since_arrival": length(*since_arrival),
        }),
        ConfirmInput::ReserveRefused(_) => json!({"event": "reserve_refused"}),
        ConfirmInput::ReserveNotCommitted(_) => json!({"event": "reserve_not_committed"}),
        ConfirmInput::ReserveUnacknowledged => json!({"event": "reserve_unacknowledged"}),
        ConfirmInput::Answered(answer) => json!({"event": "answered", "outcome": outcome(answer)}),
        ConfirmInput::Recorded => json!({"event": "recorded"}),
        ConfirmInput::RecordUnacknowledged => json!({"event": "record_unacknowledged"}),
    }
}

pub(super) fn confirm_command<Reason>(command: &ConfirmCommand<Reason>) -> Value {
    match command {
        ConfirmCommand::Reserve => json!({"command": "reserve"}),
        ConfirmCommand::Send { leave_within } => {
            json!({"command": "send", "leave_within": length(*leave_within)})
        }
        ConfirmCommand::Record(recorded) => json!({"command": "record", "fact": event(recorded)}),
        ConfirmCommand::Refuse(_) => json!({"command": "refuse"}),
        ConfirmCommand::Answer => json!({"command": "answer"}),
    }
}

pub(super) fn resolve_event(event: &ResolveInput) -> Value {
    match event {
        ResolveInput::Claimed { lifecycle: claimed, at } => {
            json!({"event": "claimed", "life": lifecycle(claimed), "at": instant(*at)})
        }
        ResolveInput::NotClaimed => json!({"event": "not_claimed"}),
        ResolveInput::MayAsk => json!({"event": "may_ask"}),
        ResolveInput::MayNotAsk => json!({"event": "may_not_ask"}),
        ResolveInput::Enquired { enquiry: found, asked_at } => {
            json!({"event": "enquired", "enquiry": enquiry(found), "asked_at": instant(*asked_at)})
        }
        ResolveInput::SendRecorded { fence, since_record } => {
            json!({"event": "send_recorded", "fence": fence.0, "since_record": length(*since_record)})
        }
        ResolveInput::SendRefused => json!({"event": "send_refused"}),
        ResolveInput::SendUnacknowledged => json!({"event": "send_unacknowledged"}),
        ResolveInput::Answered(answer) => json!({"event": "answered", "outcome": outcome(answer)}),
        ResolveInput::Recorded { lifecycle: recorded, at } => {
            json!({"event": "recorded", "life": lifecycle(recorded), "at": instant(*at)})
        }
        ResolveInput::RecordUnacknowledged => json!({"event": "record_unacknowledged"}),
    }
}

pub(super) fn resolve_command(command: &ResolveCommand) -> Value {
    match command {
        ResolveCommand::Claim => json!({"command": "claim"}),
        ResolveCommand::TakeTurn(fence) => json!({"command": "take_turn", "fence": fence.0}),
        ResolveCommand::Enquire => json!({"command": "enquire"}),
        ResolveCommand::RecordRepeat(fence) => json!({"command": "record_repeat", "fence": fence.0}),
        ResolveCommand::RecordAttempt(fence) => json!({"command": "record_attempt", "fence": fence.0}),
        ResolveCommand::Send { leave_within } => {
            json!({"command": "send", "leave_within": length(*leave_within)})
        }
        ResolveCommand::Record(recorded) => json!({"command": "record", "fact": event(recorded)}),
        ResolveCommand::Answer(answer) => {
            let answer = match answer {
                ResolveAnswer::Final => "final",
                ResolveAnswer::Pending => "pending",
                ResolveAnswer::Unreachable => "unreachable",
            };
            json!({"command": "answer", "answer": answer})
        }
    }
}

fn event(event: &Event) -> Value {
    let kind = event.kind().as_str();
    let under = |fence: &Fence| json!({"fact": kind, "fence": fence.0});
    match event {
        Event::Vended { vend: bought } => json!({"fact": kind, "vend": vend(bought)}),
        Event::Refused { fence, refusal: why, source } => {
            let source = match source {
                RefusalSource::Answer => "in_answer",
                RefusalSource::Enquiry => "when_asked",
            };
            json!({"fact": kind, "fence": fence.0, "refusal": refusal(why), "source": source})
        }
        Event::Lost { fence, why } | Event::LeaseReleased { fence, why } => {
            json!({"fact": kind, "fence": fence.0, "why": unclear(why)})
        }
        Event::Claimed => json!({"fact": kind}),
        Event::NoRecord { fence, asked_at } => {
            json!({"fact": kind, "fence": fence.0, "asked_at": instant(*asked_at)})
        }
        Event::AttemptStarted { fence, reference } => {
            json!({"fact": kind, "fence": fence.0, "reference": reference.to_string()})
        }
        Event::OperatorVended { fence, vend: bought } => {
            json!({"fact": kind, "fence": fence.0, "vend": vend(bought)})
        }
        Event::NeverSent { fence }
        | Event::SentAgain { fence }
        | Event::WindowClosed { fence }
        | Event::OperatorNotVended { fence } => under(fence),
    }
}

fn outcome(outcome: &VendOutcome) -> Value {
    match outcome {
        VendOutcome::Vended(bought) => json!({"vended": vend(bought)}),
        VendOutcome::Refused(why) => json!({"refused": refusal(why)}),
        VendOutcome::Unknown(why) => json!({"unknown": unclear(why)}),
    }
}

fn enquiry(enquiry: &Enquiry) -> Value {
    match enquiry {
        Enquiry::Vended(bought) => json!({"vended": vend(bought)}),
        Enquiry::Refused(why) => json!({"refused": refusal(why)}),
        Enquiry::NoRecord => json!("no_record"),
        Enquiry::StillOpen => json!("still_open"),
        Enquiry::Unanswered(why) => json!({"unanswered": unclear(why)}),
    }
}

fn vend(vend: &Vend) -> Value {
    let Vend { tokens, units, provider_transaction, breakdown, subscriber_details, raw_reply } = vend;
    json!({
        "tokens": tokens.as_ref().map(meter_token::TokenSet::wire_form),
        "quantity": units.as_ref().map(|units| units.quantity.to_string()),
        "unit": units.as_ref().map(|units| units.unit.clone()),
        "provider_transaction": provider_transaction,
        "breakdown": breakdown.as_ref().map(parts),
        "subscriber_details": subscriber_details,
        "raw_reply": bytes(raw_reply),
    })
}

fn parts(breakdown: &Breakdown) -> Vec<String> {
    breakdown.parts().iter().map(ToString::to_string).collect()
}

fn refusal(refusal: &Refusal) -> Value {
    json!({"reason": refusal.reason.as_str(), "wording": refusal.wording})
}

fn unclear(unclear: &Unclear) -> Value {
    json!({"doubt": unclear.doubt.as_str(), "raw_reply": unclear.raw_reply.as_ref().map(bytes)})
}

fn bytes(reply: &RawReply) -> String {
    hex::encode(&reply.0)
}

fn lifecycle(lifecycle: &Lifecycle) -> Value {
    let Lifecycle {
        handling,
        state,
        fence,
        lease_until,
        claimed_at,
        asked_at,
        attempt,
        requests,
        window_closes_at,
    } = lifecycle;
    json!({
        "handling": handling.as_str(),
        "state": state.name().as_str(),
        "sending": sending(state),
        "provider_transaction": provider_transaction(state),
        "fence": fence.0,
        "lease_until": lease_until.map(instant),
        "claimed_at": claimed_at.map(instant),
        "asked_at": asked_at.map(instant),
        "attempt": attempt,
        "requests": requests,
        "window_closes_at": instant(*window_closes_at),
    })
}

fn sending(state: &State) -> Value {
    let Some(sending) = state.sending() else { return Value::Null };
    let Sending { copies, last_sent_at, ended_at, earlier_ended_by, no_record_since } = sending;
    json!({
        "copies": copies,
        "last_sent_at": instant(*last_sent_at),
        "ended_at": ended_at.map(instant),
        "earlier_ended_by": earlier_ended_by.map(instant),
        "no_record_since": no_record_since.map(instant),
    })
}

fn provider_transaction(state: &State) -> Option<&str> {
    match state {
        State::Successful { provider_transaction } => Some(provider_transaction),
        State::InFlight(_) | State::InDoubt(_) | State::Review(_) | State::RetryDue | State::Failed => None,
    }
}

fn timing(timing: &Timing) -> Value {
    let Timing {
        gate,
        intake,
        provider_timeout,
        lease,
        enquiry_gap,
        not_found_gap,
        reference_rest,
        window,
        plan,
    } = timing;
    json!({
        "gate": length(*gate),
        "intake": length(*intake),
        "provider_timeout": length(*provider_timeout),
        "lease": length(*lease),
        "enquiry_gap": length(*enquiry_gap),
        "not_found_gap": length(*not_found_gap),
        "reference_rest": length(*reference_rest),
        "window": length(*window),
        "first_look": length(plan.first_look),
        "longest_pause": length(plan.longest_pause),
        "repeats": plan.repeats.map(length),
        "repeats_end": length(plan.repeats_end),
        "attempts": plan.attempts.map(length),
    })
}

fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Nanos, true)
}

/// In nanoseconds.
fn length(length: Duration) -> u64 {
    u64::try_from(length.as_nanos()).unwrap_or(u64::MAX)
}
