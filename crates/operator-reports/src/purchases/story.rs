//! The history of one purchase, as text for a person and as JSON for a script. Never its token.

use chrono_tz::Tz;
use oversight::{
    IncidentRecord, MessageRecord, Story, StoryAttempt, StoryEntry, StoryEvent, StoryPurchase, StoryReply,
};
use purchase::Failure;
use serde::Serialize;
use serde_json::Value;

use super::telling::{self, TimelineEntry};
use crate::report::{Part, Report, instant, local, one_line, or_dash, yes};

#[derive(Serialize)]
struct View<'a> {
    id: i64,
    reference: &'a str,
    state: &'static str,
    organisation: &'a str,
    organisation_name: &'a str,
    client_id: &'a str,
    username: &'a str,
    account: i64,
    source_channel: &'static str,
    source_tag: Option<&'a str>,
    language: &'a str,
    product: &'static str,
    provider: &'a str,
    subscriber: &'a str,
    subscriber_details: Option<&'a str>,
    beneficiary_phone_number: &'a str,
    entry: String,
    charge: String,
    net: String,
    total: String,
    commission: String,
    external_reference: Option<&'a str>,
    request_id: Option<&'a str>,
    comment: Option<&'a str>,
    created_at: String,
    handling: &'static str,
    repeat_is_safe: bool,
    remembers_refusals: bool,
    not_found_counts: bool,
    settles_within_s: u64,
    fence: i64,
    lease_until: Option<String>,
    due_at: Option<String>,
    attempt: u16,
    copies: Option<u16>,
    last_sent_at: Option<String>,
    window_closes_at: String,
    ended_at: Option<String>,
    has_token: bool,
    units: Option<&'a str>,
    provider_transaction: Option<&'a str>,
    archive: Option<&'a str>,
    /// The request to decide it that waits.
    open_request: Option<i64>,
    failure: Option<Value>,
    attempts: Vec<Value>,
    events: Vec<Value>,
    replies: Vec<Value>,
    entries: Vec<Value>,
    incidents: Vec<Value>,
    messages: Vec<Value>,
    audit: Vec<Value>,
    advice: String,
}

/// The report of a history, for a person in this zone.
pub fn report(story: &Story, zone: Tz) -> Report {
    let advice = telling::advise(story, &|at| local(at, zone));
    let parts = vec![
        Part::Fields(heading(&story.purchase)),
        Part::Table {
            columns: TIMELINE.map(str::to_owned).to_vec(),
            rows: timeline(telling::tell(story), zone),
        },
        Part::Note(one_line(&advice)),
    ];
    let data = view(story, telling::advise(story, &instant));
    let report = Report::of(&data, parts).told_in(zone);
    if story.purchase.open_request.is_some() {
        return report;
    }
    report.of_purchase_in(story.purchase.state)
}

const TIMELINE: [&str; 4] = ["time", "state", "fence", "what happened"];

/// The names of the fields about the purchase.
const HEADING: [&str; 14] = [
    "purchase",
    "state",
    "organisation",
    "bought",
    "customer",
    "amount",
    "external reference",
    "source tag",
    "request id",
    "token",
    "units",
    "transaction id",
    "history in archive",
    "declared today",
];

fn heading(p: &StoryPurchase) -> Vec<(String, String)> {
    let amounts = &p.amounts;
    let (code, name) = (&p.organisation.0, &p.organisation.1);
    let values = [
        format!("{}, {}", p.id.0, p.reference),
        format!("{} ({})", p.state.as_str(), p.handling.as_str()),
        format!("{code}, {name}; user {}, client {}", p.username, p.client_id),
        format!("{} from {} for {}", p.product, p.provider_code, p.subscriber),
        format!("{}, {}", or_dash(p.subscriber_details.as_deref()), p.beneficiary_phone_number),
        format!("{}: {} requested from the provider, {} charge", amounts.total, amounts.net, amounts.charge),
        or_dash(p.external_reference.as_deref()),
        or_dash(p.source_tag.as_deref()),
        or_dash(p.request_id.as_deref()),
        if p.has_token { "sealed".to_owned() } else { "none".to_owned() },
        or_dash(p.units.as_deref()),
        or_dash(p.provider_transaction.as_deref()),
        or_dash(p.archive.as_deref()),
        format!(
            "repeat is safe: {}; remembers refusals: {}; not found counts: {}; settles within: {}",
            yes(p.declared.repeat_is_safe),
            yes(p.declared.remembers_refusals),
            yes(p.declared.not_found_counts),
            humantime::format_duration(p.declared.settles_within)
        ),
    ];
    HEADING.map(str::to_owned).into_iter().zip(values).collect()
}

fn timeline(entries: Vec<TimelineEntry>, zone: Tz) -> Vec<Vec<String>> {
    let line = |one: TimelineEntry| {
        let (state, fence) = match one.moved_to {
            Some((state, fence)) => (state.as_str().to_owned(), fence.to_string()),
            None => (String::new(), String::new()),
        };
        vec![local(one.at, zone), state, fence, one.sentence]
    };
    entries.into_iter().map(line).collect()
}

fn view(story: &Story, advice: String) -> View<'_> {
    let p = &story.purchase;
    let failure = p.failure.as_ref().map(failure);
    View {
        id: p.id.0,
        reference: &p.reference,
        state: p.state.as_str(),
        organisation: &p.organisation.0,
        organisation_name: &p.organisation.1,
        client_id: &p.client_id,
        username: &p.username,
        account: p.account,
        source_channel: p.source_channel.as_str(),
        source_tag: p.source_tag.as_deref(),
        language: &p.language,
        product: p.product.as_str(),
        provider: &p.provider_code,
        subscriber: &p.subscriber,
        subscriber_details: p.subscriber_details.as_deref(),
        beneficiary_phone_number: &p.beneficiary_phone_number,
        entry: p.amounts.entry.to_string(),
        charge: p.amounts.charge.to_string(),
        net: p.amounts.net.to_string(),
        total: p.amounts.total.to_string(),
        commission: p.amounts.commission.to_string(),
        external_reference: p.external_reference.as_deref(),
        request_id: p.request_id.as_deref(),
        comment: p.comment.as_deref(),
        created_at: instant(p.created_at),
        handling: p.handling.as_str(),
        repeat_is_safe: p.declared.repeat_is_safe,
        remembers_refusals: p.declared.remembers_refusals,
        not_found_counts: p.declared.not_found_counts,
        settles_within_s: p.declared.settles_within.as_secs(),
        fence: p.fence,
        lease_until: p.lease_until.map(instant),
        due_at: p.due_at.map(instant),
        attempt: p.attempt,
        copies: p.copies,
        last_sent_at: p.last_sent_at.map(instant),
        window_closes_at: instant(p.window_closes_at),
        ended_at: p.ended_at.map(instant),
        has_token: p.has_token,
        units: p.units.as_deref(),
        provider_transaction: p.provider_transaction.as_deref(),
        archive: p.archive.as_deref(),
        open_request: p.open_request,
        failure,
        attempts: story.attempts.iter().map(attempt).collect(),
        events: story.events.iter().map(event).collect(),
        replies: story.replies.iter().map(reply).collect(),
        entries: story.entries.iter().map(entry).collect(),
        incidents: story.incidents.iter().map(incident).collect(),
        messages: story.messages.iter().map(message).collect(),
        audit: story
            .operator_actions
            .iter()
            .map(|operator_action| {
                serde_json::json!({
                    "id": operator_action.id, "at": instant(operator_action.at), "actor": operator_action.actor, "action": operator_action.action,
                    "reason": operator_action.reason, "details": operator_action.details,
                })
            })
            .collect(),
        advice,
    }
}

fn attempt(attempt: &StoryAttempt) -> Value {
    serde_json::json!({
        "number": attempt.number,
        "provider_reference": attempt.provider_reference,
        "started_at": instant(attempt.started_at),
    })
}

fn event(event: &StoryEvent) -> Value {
    serde_json::json!({
        "at": instant(event.at), "fact": event.fact, "detail": event.detail, "state": event.state.as_str(),
        "fence": event.fence, "attempt": event.attempt,
    })
}

fn reply(reply: &StoryReply) -> Value {
    serde_json::json!({
        "at": instant(reply.at), "attempt": reply.attempt, "sealed_bytes": reply.sealed_bytes, "key": reply.key_id,
    })
}

fn entry(entry: &StoryEntry) -> Value {
    let moves = entry.moves.iter().map(|step| {
        serde_json::json!({ "debit": step.debit, "credit": step.credit, "amount": step.amount.to_string() })
    });
    serde_json::json!({
        "entry": entry.id, "kind": entry.kind, "posted_at": instant(entry.posted_at),
        "moves": moves.collect::<Vec<_>>(),
    })
}

fn incident(incident: &IncidentRecord) -> Value {
    serde_json::json!({
        "id": incident.id, "kind": incident.kind.as_str(), "at": instant(incident.at),
        "provider_transaction": incident.provider_transaction, "has_token": incident.has_token,
        "closed": incident.closed.is_some(),
    })
}

fn failure(failure: &Failure) -> Value {
    let refusal = failure.refusal();
    serde_json::json!({
        "kind": failure.as_str(),
        "reason": refusal.map(|refusal| refusal.reason.as_str()),
        "wording": refusal.and_then(|refusal| refusal.wording.as_deref()),
    })
}

fn message(message: &MessageRecord) -> Value {
    serde_json::json!({
        "kind": message.kind.as_str(), "recipient": message.recipient.as_str(), "channel": message.channel.as_str(),
        "written_at": instant(message.written_at), "attempts": message.attempts,
        "sent_at": message.sent_at.map(instant),
        "given_up_at": message.given_up.as_ref().map(|(at, _)| instant(*at)),
        "given_up_because": message.given_up.as_ref().map(|(_, because)| because.as_str()),
        "first_written_at": message.earlier.map(|earlier| instant(earlier.written_at)),
        "earlier_given_up_at": message.earlier.map(|earlier| instant(earlier.given_up_at)),
        "earlier_given_up_because": message.earlier.map(|earlier| earlier.because.as_str()),
    })
}
