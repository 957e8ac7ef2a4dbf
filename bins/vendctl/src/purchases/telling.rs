//! The story of a purchase in sentences: what happened, and what is to be done now.

use std::iter;

use chrono::{DateTime, Utc};
use purchase::{FactKind, Incident, StateName};
use store::{IncidentRecord, MessageRecord, Story, StoryEntry, StoryEvent, StoryPurchase};

use super::words;
use crate::report::instant;

/// Something that happened, in a sentence.
pub(super) struct Told {
    pub(super) at: DateTime<Utc>,
    /// Where the purchase stood afterwards and under which claim, where that changed.
    pub(super) standing: Option<(StateName, i64)>,
    pub(super) sentence: String,
}

/// All that happened, in order; what happened at the same moment in the order of the trade.
pub(super) fn tell(story: &Story) -> Vec<Told> {
    let purchase = &story.purchase;
    let beside = |at, sentence| Told { at, standing: None, sentence };
    let events = story.events.iter().map(|event| Told {
        at: event.at,
        standing: Some((event.state, event.fence)),
        sentence: event_sentence(event, story),
    });
    let replies = story.replies.iter().map(|reply| {
        let said = format!(
            "What {} said was kept: {} bytes, sealed with key {}.",
            purchase.provider_code, reply.sealed_bytes, reply.key_id
        );
        beside(reply.at, said)
    });
    let entries = story.entries.iter().map(|entry| beside(entry.posted_at, entry_sentence(entry)));
    let incidents = story.incidents.iter().map(|incident| {
        let (id, vend) = (incident.id, &incident.provider_transaction);
        let told = if is_second(incident) {
            format!("Incident {id} was opened: vend {vend} came to light beside the one that was paid for.")
        } else {
            format!("Incident {id} was opened: vend {vend} came to light when nobody paid for it any more.")
        };
        beside(incident.at, told)
    });
    let messages = story.messages.iter().flat_map(message_sentences);
    let messages = messages.map(|(at, sentence)| beside(at, sentence));
    let deeds = story
        .deeds
        .iter()
        .map(|deed| beside(deed.at, format!("{} ({}): \"{}\".", deed.actor, deed.action, deed.reason)));
    let mut told: Vec<Told> =
        events.chain(replies).chain(entries).chain(incidents).chain(messages).chain(deeds).collect();
    told.sort_by_key(|one| one.at);
    told
}

/// What is known by now, and what is to be done.
pub(super) fn advise(story: &Story) -> String {
    let incidents = story.incidents.iter().map(|incident| incident_advice(incident, &story.purchase));
    iter::once(standing(story)).chain(incidents).collect::<Vec<_>>().join(" ")
}

fn standing(story: &Story) -> String {
    let p = &story.purchase;
    let (id, provider, total) = (p.id.0, &p.provider_code, p.amounts.total);
    let looked_at = p.due_at.map_or_else(|| "later".to_owned(), |due| format!("at {}", instant(due)));
    match p.state {
        StateName::InFlight => format!(
            "The order is on its way, and {total} is held. If whoever sent it does not report back, the worker takes it \
             over {looked_at}."
        ),
        StateName::InDoubt => format!(
            "Nobody knows whether it was vended, so {total} stays held: promise neither a token nor the money. The worker \
             asks {provider} again {looked_at}; a retry by the integrator asks at once."
        ),
        StateName::RetryDue => format!(
            "It is proven that nothing was vended so far. The service attempts again {looked_at}, until {}; {total} stays \
             held.",
            instant(p.window_closes_at)
        ),
        StateName::Review => format!(
            "It waits for a person, and {total} stays held. Ask {provider} what became of {}. Then enter \
             `vendctl purchases resolve {id} --as vended …` or `vendctl purchases resolve {id} --as not-vended …`. Until \
             then the worker asks on, next {looked_at}, and proof ends it by itself.",
            references(story)
        ),
        StateName::Successful => format!(
            "It was vended as {} and {total} was paid.{}",
            p.provider_transaction.as_deref().unwrap_or("-"),
            if p.has_token {
                " The token is sealed; the integrator reads it by a retry, or by its number."
            } else {
                " It has no token."
            }
        ),
        StateName::Failed if story.incidents.is_empty() => {
            format!("Nothing was vended and nothing was paid: {}.", why_not(p))
        }
        StateName::Failed => format!("It failed, and nothing was paid: {}.", why_not(p)),
    }
}

/// What an incident says against how the purchase stands.
fn incident_advice(incident: &IncidentRecord, p: &StoryPurchase) -> String {
    let (id, vend) = (incident.id, &incident.provider_transaction);
    let but = if is_second(incident) { "vended a second time" } else { "did vend" };
    let seen_to = match &incident.closed {
        Some((at, by, _because)) => format!("{by} closed it {}", instant(*at)),
        None => "nobody has seen to it yet".to_owned(),
    };
    format!(
        "But {} {but}, as {vend}, which nobody paid for: that is incident {id}, and {seen_to}; see `vendctl incidents \
         show {id}`.",
        p.provider_code
    )
}

/// Whether its purchase had been paid for another vend.
fn is_second(incident: &IncidentRecord) -> bool {
    incident.kind == Incident::SecondVend.as_str()
}

fn references(story: &Story) -> String {
    let names: Vec<&str> = story.attempts.iter().map(|attempt| attempt.provider_reference.as_str()).collect();
    names.join(" and ")
}

fn why_not(p: &StoryPurchase) -> String {
    let Some(failure) = &p.failure else { return "nobody noted why".to_owned() };
    let why = match failure.kind.as_str() {
        "NO_RECORD" => format!("{} has no record of it", p.provider_code),
        "OPERATOR" => "an operator vouched for that".to_owned(),
        _ => words::reason(failure.reason.as_deref().unwrap_or("-")).to_owned(),
    };
    match &failure.wording {
        Some(wording) => format!("{why} (\"{wording}\")"),
        None => why,
    }
}

fn event_sentence(event: &StoryEvent, story: &Story) -> String {
    let p = &story.purchase;
    let (provider, detail) = (&p.provider_code, event.detail.as_deref().unwrap_or("-"));
    let known = FactKind::ALL.into_iter().find(|kind| kind.as_str() == event.fact);
    let Some(kind) = known else { return begun(event, story) };
    let what = match kind {
        FactKind::Vended => format!("{provider} vended, as transaction {detail}."),
        FactKind::Refused => format!("{provider} refused: {}.", words::reason(detail)),
        FactKind::NeverSent => "The order never left us.".to_owned(),
        FactKind::Lost => format!("Nobody knows what became of the order: {}.", words::doubt(detail)),
        FactKind::Claimed => "It was taken over, to find out.".to_owned(),
        FactKind::NoRecord => format!("{provider} was asked, and had no record of it."),
        FactKind::LetGo => format!("It was put back: {}.", words::doubt(detail)),
        FactKind::SentAgain => "The same order was put on record once more, to be sent again.".to_owned(),
        FactKind::AttemptStarted => {
            format!("A new attempt was put on record as {detail}, ready to leave.")
        }
        FactKind::WindowClosed => "The time for sending was over.".to_owned(),
        FactKind::OperatorVended => format!("An operator vouched that it was vended, as {detail}."),
        FactKind::OperatorNotVended => "An operator vouched that nothing was vended.".to_owned(),
    };
    format!("{what}{}", consequence(kind, event.state, p))
}

/// The line that a reserve writes is no fact of the machine: it begins one.
fn begun(event: &StoryEvent, story: &Story) -> String {
    let p = &story.purchase;
    if event.fact != "RESERVED" {
        return event.fact.clone();
    }
    let first = story.attempts.first().map_or("-", |attempt| attempt.provider_reference.as_str());
    format!(
        "{} was held in account {}, and the order was put on record as {first}, ready to leave.",
        p.amounts.total, p.account
    )
}

/// What a fact led to, where that does not go without saying.
fn consequence(kind: FactKind, state: StateName, p: &StoryPurchase) -> String {
    let total = p.amounts.total;
    match (state, kind) {
        (StateName::Successful, FactKind::Vended | FactKind::OperatorVended) => format!(" {total} was paid."),
        (StateName::Failed, FactKind::Vended) => " It came too late.".to_owned(),
        (StateName::Failed, FactKind::NoRecord) => {
            format!(" As its connection is declared, that is proof by now: {total} was given back.")
        }
        (StateName::Failed, _) => format!(" {total} was given back."),
        (StateName::RetryDue, FactKind::Claimed | FactKind::LetGo) => String::new(),
        (StateName::RetryDue, _) => " Another attempt is due.".to_owned(),
        (StateName::Review, FactKind::WindowClosed) => " It waits for a person.".to_owned(),
        (StateName::InDoubt | StateName::Review, FactKind::Refused) => {
            " That says nothing about the other copies.".to_owned()
        }
        (StateName::InDoubt | StateName::Review, FactKind::NoRecord) => {
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

/// A message was written, and then somebody accepted it or nobody will.
fn message_sentences(message: &MessageRecord) -> Vec<(DateTime<Utc>, String)> {
    let what = match message.kind.as_str() {
        "ISSUED" => "what was issued",
        "REFUNDED" => "the refund",
        other => other,
    };
    let [channel, recipient] = [&message.channel, &message.recipient].map(|word| word.to_lowercase());
    let mut told = vec![(
        message.written_at,
        format!("A message about {what} was written: {channel}, to the {recipient}."),
    )];
    if let Some(at) = message.sent_at {
        told.push((at, format!("The gateway accepted the {channel} to the {recipient}.")));
    }
    if let Some((at, because)) = &message.given_up {
        told.push((*at, format!("The {channel} to the {recipient} was given up: {because}.")));
    }
    told
}
