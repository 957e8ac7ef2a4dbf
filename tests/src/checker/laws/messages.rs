//! What people are told by SMS and e-mail.

use std::collections::BTreeMap;

use crate::checker::{Evidence, Law, Letter, Message, Purchase};

pub(in crate::checker) const I13: Law = Law {
    id: "I13",
    sentence: "a message is owed once, for what really ended so, to who wants it; it arrives, and no oftener than it was sent",
    broken_by: messages,
};

fn messages(evidence: &Evidence) -> Vec<String> {
    let mut broken = Vec::new();
    let mut owed: BTreeMap<_, Vec<&Message>> = BTreeMap::new();
    for message in &evidence.books.outbox {
        let key = (message.purchase, message.recipient.as_str(), message.channel.as_str());
        owed.entry(key).or_default().push(message);
        match evidence.books.purchase(message.purchase) {
            None => broken.push(format!("a message about a purchase that is not there: {message:?}")),
            Some(purchase) => broken.extend(untrue(message, purchase)),
        }
    }
    let twice = owed.values().filter(|messages| messages.len() > 1);
    broken.extend(twice.map(|messages| format!("owed more than once: {messages:?}")));
    for purchase in evidence.books.purchases.iter().filter(|purchase| purchase.has_token) {
        let [_, wants_token, _] = purchase.wishes;
        if wants_token && !owed.contains_key(&(purchase.id, "BENEFICIARY", "SMS")) {
            broken.push(format!("purchase {} has a token, and its SMS was never owed", purchase.id));
        }
    }
    if let Some(letters) = &evidence.inbox {
        broken.extend(letters_that_differ(evidence, letters));
    }
    broken
}

fn untrue(message: &Message, purchase: &Purchase) -> Option<String> {
    let ended_so = match message.kind.as_str() {
        "ISSUED" => purchase.state == "SUCCESSFUL",
        "REFUNDED" => purchase.state == "FAILED" && purchase.handling == "MANAGED",
        _ => false,
    };
    let is_so = ended_so && is_wanted(message, purchase.wishes);
    (!is_so).then(|| format!("purchase {} is {}, and owed is {message:?}", purchase.id, purchase.state))
}

fn is_wanted(message: &Message, [requester_sms, beneficiary_sms, requester_email]: [bool; 3]) -> bool {
    match (message.recipient.as_str(), message.channel.as_str()) {
        ("REQUESTER", "SMS") => requester_sms,
        ("REQUESTER", "EMAIL") => requester_email,
        ("BENEFICIARY", "SMS") => beneficiary_sms,
        _ => false,
    }
}

/// Every token that was sent by SMS arrived, and every token that arrived is one that was paid for.
fn letters_that_differ(evidence: &Evidence, letters: &[Letter]) -> Vec<String> {
    let mut broken = Vec::new();
    let owners = evidence.books.by_reference();
    let texts: Vec<&str> =
        letters.iter().filter(|letter| letter.channel == "sms").map(|letter| letter.text.as_str()).collect();
    for (name, lines) in evidence.vends.vended() {
        let tokens = lines.iter().flat_map(|line| &line.tokens).map(|token| grouped(token));
        let arrived = |token: String| texts.iter().filter(|text| text.contains(&token)).count();
        let times = tokens.map(arrived).max().unwrap_or(0);
        let Some(purchase) = owners.get(&name) else { continue };
        let is_its = |message: &&Message| {
            message.purchase == purchase.id
                && (message.recipient.as_str(), message.channel.as_str()) == ("BENEFICIARY", "SMS")
        };
        let message = evidence.books.outbox.iter().find(is_its);
        let is_sent = message.is_some_and(|message| message.is_sent);
        let attempts = message.map_or(0, |message| usize::try_from(message.attempts).unwrap_or(0));
        if times > attempts || is_sent && times == 0 && purchase.has_token {
            broken
                .push(format!("the token of purchase {} arrived {times} times by {message:?}", purchase.id));
        }
    }
    broken
}

/// As people read a token.
fn grouped(token: &str) -> String {
    let digits: Vec<char> = token.chars().collect();
    let groups: Vec<String> = digits.chunks(4).map(|group| group.iter().collect()).collect();
    groups.join(" ")
}
