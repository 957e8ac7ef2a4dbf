//! Messages to customers by SMS and e-mail.

use std::collections::BTreeMap;

use crate::checker::{Event, Evidence, Invariant, Letter, Message, Purchase};

pub(in crate::checker) const I13: Invariant = Invariant {
    id: "I13",
    sentence: "a message is owed once, for an end that is stored, to a recipient that asked for it; it arrives, but not more often than it was sent",
    broken_by: messages,
};

fn messages(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let mut owed: BTreeMap<_, Vec<&Message>> = BTreeMap::new();
    for message in &evidence.books.outbox {
        let key = (message.purchase, message.recipient.as_str(), message.channel.as_str());
        owed.entry(key).or_default().push(message);
        match evidence.books.purchase(message.purchase) {
            None => broken.push(format!("a message about a purchase that does not exist: {message:?}")),
            Some(purchase) => broken.extend(untrue(message, purchase)),
        }
    }
    let twice = owed.values().filter(|messages| messages.len() > 1);
    broken.extend(twice.map(|messages| format!("owed more than once: {messages:?}")));
    for purchase in evidence.books.purchases.iter().filter(|purchase| purchase.has_token) {
        let [_, wants_token, _] = purchase.wishes;
        if wants_token && !owed.contains_key(&(purchase.id, "BENEFICIARY", "SMS")) {
            broken.push(format!("purchase {} has a token, but its SMS was never owed", purchase.id));
        }
    }
    let histories = evidence.books.histories();
    for purchase in evidence.books.purchases.iter().filter(|purchase| is_refunded_later(purchase, &histories))
    {
        if !owed.contains_key(&(purchase.id, "BENEFICIARY", "SMS")) {
            broken.push(format!("purchase {} was refunded, but its SMS was never owed", purchase.id));
        }
    }
    if let Some(letters) = &evidence.inbox {
        broken.extend(letters_that_differ(evidence, letters));
    }
    broken
}

/// Whether a managed purchase failed after its confirm was answered: it had left `IN_FLIGHT` before it failed.
fn is_refunded_later(purchase: &Purchase, histories: &BTreeMap<i64, Vec<&Event>>) -> bool {
    let [_, wants_it, _] = purchase.wishes;
    let history = histories.get(&purchase.id).map_or(&[][..], Vec::as_slice);
    let went_on = history.iter().any(|event| !matches!(event.state.as_str(), "IN_FLIGHT" | "FAILED"));
    wants_it && purchase.handling == "MANAGED" && purchase.state == "FAILED" && went_on
}

fn untrue(message: &Message, purchase: &Purchase) -> Option<String> {
    let ended_so = match message.kind.as_str() {
        "ISSUED" => purchase.state == "SUCCESSFUL",
        "REFUNDED" => purchase.state == "FAILED" && purchase.handling == "MANAGED",
        _ => false,
    };
    let is_so = ended_so && is_wanted(message, purchase.wishes);
    (!is_so).then(|| {
        format!("purchase {} is {}, but this message is owed: {message:?}", purchase.id, purchase.state)
    })
}

fn is_wanted(message: &Message, [requester_sms, beneficiary_sms, requester_email]: [bool; 3]) -> bool {
    match (message.recipient.as_str(), message.channel.as_str()) {
        ("REQUESTER", "SMS") => requester_sms,
        ("REQUESTER", "EMAIL") => requester_email,
        ("BENEFICIARY", "SMS") => beneficiary_sms,
        _ => false,
    }
}

/// Every token that was sent by SMS arrived at its beneficiary, and every token that arrived was paid for.
fn letters_that_differ(evidence: &Evidence, letters: &[Letter]) -> Vec<String> {
    let mut broken = Vec::new();
    let owners = evidence.books.by_reference();
    let texts: Vec<&Letter> = letters.iter().filter(|letter| letter.channel == "sms").collect();
    for (name, lines) in evidence.vends.vended() {
        let tokens: Vec<String> =
            lines.iter().flat_map(|line| &line.tokens).map(|token| grouped(token)).collect();
        let Some(purchase) = owners.get(&name) else { continue };
        let shows_one = |letter: &&&Letter| tokens.iter().any(|token| letter.text.contains(token));
        let arrived: Vec<&Letter> = texts.iter().filter(shows_one).copied().collect();
        if arrived.iter().any(|letter| letter.to != purchase.beneficiary) {
            broken.push(format!("the token of purchase {} arrived at another number", purchase.id));
        }
        if !arrived.iter().all(|letter| has_in_order(&letter.text, &tokens)) {
            broken.push(format!("tokens of purchase {} arrived incomplete or in another order", purchase.id));
        }
        let times = arrived.len();
        let is_its = |message: &&Message| {
            message.purchase == purchase.id
                && (message.recipient.as_str(), message.channel.as_str()) == ("BENEFICIARY", "SMS")
        };
        let message = evidence.books.outbox.iter().find(is_its);
        let is_sent = message.is_some_and(|message| message.is_sent);
        let attempts = message.map_or(0, |message| usize::try_from(message.attempts).unwrap_or(0));
        if times > attempts || is_sent && times == 0 && purchase.has_token {
            broken
                .push(format!("the token of purchase {} arrived {times} times for {message:?}", purchase.id));
        }
    }
    broken
}

fn has_in_order(text: &str, tokens: &[String]) -> bool {
    let mut rest = text;
    tokens.iter().all(|token| match rest.split_once(token.as_str()) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// A token as a message shows it: in groups of four digits.
fn grouped(token: &str) -> String {
    let digits: Vec<char> = token.chars().collect();
    let groups: Vec<String> = digits.chunks(4).map(|group| group.iter().collect()).collect();
    groups.join(" ")
}
