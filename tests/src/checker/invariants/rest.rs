//! What must be finished at rest.

use crate::checker::{Evidence, Invariant, Moment, Purchase};

pub(in crate::checker) const I19: Invariant = Invariant {
    id: "I19",
    sentence: "at rest every vend is paid for, only purchases under review are open, no purchase is leased, and no message is owed",
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
            broken.push(format!("purchase {} is still leased", purchase.id));
        }
    }
    let owed = evidence.books.outbox.iter().filter(|message| message.is_owed());
    broken.extend(owed.map(|message| format!("owed: {message:?}")));
    broken.extend(unpaid(evidence));
    broken
}

/// Vends that are not paid for. An operator must not have to decide a purchase whose vend the utility can prove.
fn unpaid(evidence: &Evidence) -> Vec<String> {
    let owners = evidence.books.by_reference();
    let names = evidence.vends.vended().into_keys();
    let vended = names.filter_map(|name| Some((name, *owners.get(&name)?)));
    let unpaid = vended.filter(|(_, purchase)| {
        let mut incidents = evidence.books.incidents.iter();
        purchase.state != "SUCCESSFUL" && !incidents.any(|incident| incident.purchase == purchase.id)
    });
    let complaint = |purchase: &Purchase, name: &str| {
        format!("{name} was vended, but purchase {} is still {}", purchase.id, purchase.state)
    };
    unpaid.map(|((_, name), purchase)| complaint(purchase, name)).collect()
}
