//! The history of a purchase in sentences: what happened, and what the operator can do now.

use std::iter;

use chrono::{DateTime, Utc};
use directory::AuditLine;
use oversight::{
    EarlierMessage, IncidentRecord, MessageRecord, Story, StoryEntry, StoryEvent, StoryPurchase,
};
use purchase::{EventKind, Failure, Incident, NoticeKind, StateName};
use serde_json::Value;
use store::GivenUp;
use vend::Refusal;

use super::words;

/// One line of the history.
pub(super) struct TimelineEntry {
    pub(super) at: DateTime<Utc>,
    /// The state and the fence after it, if it changed the purchase.
    pub(super) moved_to: Option<(StateName, i64)>,
    pub(super) sentence: String,
}

/// The history in the order of time. Lines of the same moment are in the order of processing.
pub(super) fn tell(story: &Story) -> Vec<TimelineEntry> {
    let purchase = &story.purchase;
    let beside = |at, sentence| TimelineEntry { at, moved_to: None, sentence };
    let events = story.events.iter().map(|event| TimelineEntry {
        at: event.at,
        moved_to: Some((event.state, event.fence)),
        sentence: event_sentence(event, story),
    });
    let replies = story.replies.iter().map(|reply| {
        let sentence = format!(
            "The reply of {} was stored: {} bytes, sealed with key {}.",
            purchase.provider_code, reply.sealed_bytes, reply.key_id
        );
        beside(reply.at, sentence)
    });
    let entries = story.entries.iter().map(|entry| beside(entry.posted_at, entry_sentence(entry)));
    let incidents = story.incidents.iter().map(|incident| {
        let (id, vend) = (incident.id, &incident.provider_transaction);
        let sentence = if is_second(incident) {
            format!(
                "Incident {id} was opened: vend {vend} was found, in addition to the vend that was paid for."
            )
        } else {
            format!("Incident {id} was opened: vend {vend} was found after the money had been released.")
        };
        beside(incident.at, sentence)
    });
    let messages = story.messages.iter().flat_map(message_sentences);
    let messages = messages.map(|(at, sentence)| beside(at, sentence));
    let operator_actions = story.operator_actions.iter().map(|line| beside(line.at, action_sentence(line)));
    let mut entries: Vec<TimelineEntry> = events
        .chain(replies)
        .chain(entries)
        .chain(incidents)
        .chain(messages)
        .chain(operator_actions)
        .collect();
    entries.sort_by_key(|one| one.at);
    entries
}

/// Who did what, and why. An approved decision has the reason of the person who requested it, and the approval its own.
fn action_sentence(line: &AuditLine) -> String {
    let AuditLine { actor, action, reason, .. } = line;
    let person = |name: &str| line.details.get(name).and_then(Value::as_str);
    let on_behalf = person("on_behalf_of").map(|who| format!(" on behalf of {who}")).unwrap_or_default();
    let request = line.subject.strip_prefix("approval:").map(|request| match person("requested_by") {
        Some(who) => format!(", request {request} of {who}"),
        None => format!(", request {request}"),
    });
    format!("{actor}{on_behalf} ({action}{}): \"{reason}\".", request.unwrap_or_default())
}

/// What is known now, and what the operator can do. `say` writes a moment.
pub(super) fn advise(story: &Story, say: &dyn Fn(DateTime<Utc>) -> String) -> String {
    let incidents = story.incidents.iter().map(|incident| incident_advice(incident, &story.purchase, say));
    let messages = story.messages.iter().filter_map(|message| message_advice(message, say));
    iter::once(state_advice(story, say)).chain(messages).chain(incidents).collect::<Vec<_>>().join(" ")
}

fn channel_and_recipient(message: &MessageRecord) -> [String; 2] {
    [message.channel.as_str(), message.recipient.as_str()].map(str::to_lowercase)
}

/// What became of a message that its gateway has not accepted: a customer who has paid may wait for it.
fn message_advice(message: &MessageRecord, say: &dyn Fn(DateTime<Utc>) -> String) -> Option<String> {
    let [channel, recipient] = channel_and_recipient(message);
    match (&message.sent_at, &message.given_up) {
        (Some(_), _) => None,
        (None, Some((_, because))) => Some(format!(
            "The {channel} to the {recipient} was given up ({}): see `vendctl outbox list --given-up`.",
            because.as_str()
        )),
        (None, None) if message.attempts == 0 => message.earlier.map(|earlier| {
            format!(
                "The {channel} to the {recipient} was given up before ({}), and waits to be sent again.",
                earlier.because.as_str()
            )
        }),
        (None, None) => Some(format!(
            "The {channel} to the {recipient} is not accepted yet. It was tried {} times, and is tried again at {}.",
            message.attempts,
            say(message.due_at)
        )),
    }
}

fn state_advice(story: &Story, say: &dyn Fn(DateTime<Utc>) -> String) -> String {
    let p = &story.purchase;
    let (id, provider, total) = (p.id.0, &p.provider_code, p.amounts.total);
    let due_at = p.due_at.map_or_else(|| "later".to_owned(), |due| format!("at {}", say(due)));
    match p.state {
        StateName::InFlight => format!(
            "The order is being sent, and {total} is held. If its sender reports no outcome, the worker takes it over \
             {due_at}."
        ),
        StateName::InDoubt => format!(
            "The outcome is not known, so {total} stays held: promise neither a token nor the money. The worker asks \
             {provider} again {due_at}; a retry by the integrator asks at once. Nothing is sent any more after {}. If there is \
             no proof by then, an operator may decide.",
            say(p.window_closes_at)
        ),
        StateName::RetryDue => format!(
            "It is proven that nothing was vended so far. The service makes another attempt {due_at}. No attempt is made \
             after {}. {total} stays held.",
            say(p.window_closes_at)
        ),
        StateName::Review if let Some(request) = p.open_request => format!(
            "Request {request} says that {}, and waits for the approval of another person; {total} stays held. See \
             `vendctl approvals show {request}`. Nothing else can be decided about it until it is approved or rejected.",
            if p.would_release { "nothing was vended, and would release the money" } else { "it was vended" }
        ),
        StateName::Review => format!(
            "It waits for an operator's decision, and {total} stays held. Ask {provider} for the outcome of {}. Then enter \
             `vendctl purchases resolve {id} --as vended …` or `vendctl purchases resolve {id} --as not-vended …`. Until \
             then the worker keeps asking, next {due_at}, and ends the purchase if it finds proof.",
            references(story)
        ),
        StateName::Successful => format!(
            "It was vended as {} and {total} was paid.{}",
            p.provider_transaction.as_deref().unwrap_or("-"),
            if p.has_token {
                " The token is stored, sealed; the integrator gets it with a retry, or by the purchase's id."
            } else {
                " It has no token."
            }
        ),
        StateName::Failed if story.incidents.is_empty() => {
            format!("Nothing was vended and nothing was paid: {}.", failure_reason(p))
        }
        StateName::Failed => format!("It failed, and nothing was paid: {}.", failure_reason(p)),
    }
}

/// What an incident means for a purchase that has ended.
fn incident_advice(
    incident: &IncidentRecord,
    p: &StoryPurchase,
    say: &dyn Fn(DateTime<Utc>) -> String,
) -> String {
    let (id, vend) = (incident.id, &incident.provider_transaction);
    let what = if is_second(incident) { "vended a second time" } else { "did vend" };
    let status = match &incident.closed {
        Some((at, by, _because)) => format!("was closed by {by} at {}", say(*at)),
        None => "is open".to_owned(),
    };
    format!(
        "However, {} {what}, as {vend}, and no wallet paid for that. Incident {id} {status}: see `vendctl incidents show \
         {id}`.",
        p.provider_code
    )
}

/// Whether the purchase had already been paid for another vend.
fn is_second(incident: &IncidentRecord) -> bool {
    incident.kind == Incident::SecondVend
}

fn references(story: &Story) -> String {
    let names: Vec<&str> = story.attempts.iter().map(|attempt| attempt.provider_reference.as_str()).collect();
    names.join(" and ")
}

fn failure_reason(p: &StoryPurchase) -> String {
    match &p.failure {
        None => "no reason was recorded".to_owned(),
        Some(Failure::NoRecord) => format!("{} has no record of it", p.provider_code),
        Some(Failure::Operator) => "an operator confirmed it".to_owned(),
        Some(Failure::Refused(Refusal { reason, wording: None })) => words::of_reason(*reason).to_owned(),
        Some(Failure::Refused(Refusal { reason, wording: Some(wording) })) => {
            format!("{} (\"{wording}\")", words::of_reason(*reason))
        }
    }
}

fn event_sentence(event: &StoryEvent, story: &Story) -> String {
    let p = &story.purchase;
    let (provider, detail) = (&p.provider_code, event.detail.as_deref().unwrap_or("-"));
    let known = EventKind::ALL.into_iter().find(|kind| kind.as_str() == event.fact);
    let Some(kind) = known else { return reserve_sentence(event, story) };
    let what = match kind {
        EventKind::Vended => format!("{provider} vended, as transaction {detail}."),
        EventKind::Refused => format!("{provider} refused: {}.", words::reason(detail)),
        EventKind::NeverSent => "The order was not sent.".to_owned(),
        EventKind::Lost => format!("The outcome of the order is not known: {}.", words::doubt(detail)),
        EventKind::Claimed => "It was claimed, to find out the outcome.".to_owned(),
        EventKind::NoRecord => format!("{provider} was asked, and had no record of it."),
        EventKind::LeaseReleased => format!("The claim was released: {}.", words::doubt(detail)),
        EventKind::SentAgain => "Another copy of the same order was recorded, ready to be sent.".to_owned(),
        EventKind::AttemptStarted => {
            format!("A new attempt was recorded as {detail}, ready to be sent.")
        }
        EventKind::WindowClosed => "The time for sending was over.".to_owned(),
        EventKind::OperatorVended => format!("An operator confirmed that it was vended, as {detail}."),
        EventKind::OperatorNotVended => "An operator confirmed that nothing was vended.".to_owned(),
    };
    format!("{what}{}", consequence(kind, event.state, p))
}

/// The first line of a history is written by the reserve. It is not an event of the state machine.
fn reserve_sentence(event: &StoryEvent, story: &Story) -> String {
    let p = &story.purchase;
    if event.fact != "RESERVED" {
        return event.fact.clone();
    }
    let first = story.attempts.first().map_or("-", |attempt| attempt.provider_reference.as_str());
    format!(
        "{} was held in account {}, and the order was recorded as {first}, ready to be sent.",
        p.amounts.total, p.account
    )
}

/// The consequence of an event, where it is not obvious.
fn consequence(kind: EventKind, state: StateName, p: &StoryPurchase) -> String {
    let total = p.amounts.total;
    match (state, kind) {
        (StateName::Successful, EventKind::Vended | EventKind::OperatorVended) => {
            format!(" {total} was paid.")
        }
        (StateName::Failed, EventKind::Vended) => " It came too late.".to_owned(),
        (StateName::Failed, EventKind::NoRecord) => {
            format!(" As the connection was declared then, this was proof: {total} was released.")
        }
        (StateName::Failed, _) => format!(" {total} was released."),
        (StateName::RetryDue, EventKind::Claimed | EventKind::LeaseReleased) => String::new(),
        (StateName::RetryDue, _) => " Another attempt is due.".to_owned(),
        (StateName::Review, EventKind::WindowClosed) => " It waits for an operator's decision.".to_owned(),
        (StateName::InDoubt | StateName::Review, EventKind::Refused) => {
            " That says nothing about the other copies.".to_owned()
        }
        (StateName::InDoubt | StateName::Review, EventKind::NoRecord) => {
            " That alone proves nothing.".to_owned()
        }
        _ => String::new(),
    }
}

fn entry_sentence(entry: &StoryEntry) -> String {
    let moves =
        entry.moves.iter().map(|step| format!("{} from {} to {}", step.amount, step.debit, step.credit));
    format!("Journal entry {} ({}): {}.", entry.id, entry.kind, moves.collect::<Vec<_>>().join("; "))
}

/// A message was written. Then the gateway accepted it, or it was given up. An operator may have made it wait again.
fn message_sentences(message: &MessageRecord) -> Vec<(DateTime<Utc>, String)> {
    let what = match message.kind {
        NoticeKind::Issued => "what was issued",
        NoticeKind::Refunded => "the refund",
    };
    let [channel, recipient] = channel_and_recipient(message);
    let written = format!("A message about {what} was written: {channel}, to the {recipient}.");
    let given_up =
        |because: GivenUp| format!("The {channel} to the {recipient} was given up: {}.", because.as_str());
    let mut entries = match message.earlier {
        None => vec![(message.written_at, written)],
        Some(EarlierMessage { written_at, given_up_at, because }) => vec![
            (written_at, written),
            (given_up_at, given_up(because)),
            (message.written_at, format!("The {channel} to the {recipient} waits again to be sent.")),
        ],
    };
    if let Some(at) = message.sent_at {
        entries.push((at, format!("The gateway accepted the {channel} to the {recipient}.")));
    }
    if let Some((at, because)) = &message.given_up {
        entries.push((*at, given_up(*because)));
    }
    entries
}
