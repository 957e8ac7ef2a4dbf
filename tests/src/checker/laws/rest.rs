//! What must be over once everybody has had the time to finish.

use crate::checker::{Evidence, Law, Moment};

pub(in crate::checker) const I19: Law = Law {
    id: "I19",
    sentence: "after the storm nothing is open but what a person must decide, nobody holds a lease, and no message is owed",
    broken_by: unrest,
};

fn unrest(evidence: &Evidence) -> Vec<String> {
    if evidence.moment == Moment::Amid {
        return Vec::new();
    }
    let mut broken = Vec::new();
    for purchase in evidence.books.purchases.iter().filter(|purchase| purchase.is_open()) {
        if purchase.state != "REVIEW" {
            broken.push(format!("purchase {} is still {}", purchase.id, purchase.state));
        }
        if purchase.is_leased {
            broken.push(format!("somebody holds purchase {}", purchase.id));
        }
    }
    let owed = evidence.books.outbox.iter().filter(|message| !message.is_sent && !message.is_given_up);
    broken.extend(owed.map(|message| format!("owed: {message:?}")));
    broken
}
