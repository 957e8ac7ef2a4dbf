//! The checker. After a fault injection run it reads the database, the utility's own log, the recorded client
//! exchanges and the process logs. It reports every violated invariant.
//!
//! Each invariant is one function with one sentence. The function returns only the violations that the evidence
//! proves. `tests.rs` gives each invariant a history that violates it, so every invariant is known to report.

mod books;
mod evidence;
mod history;
mod invariants;
#[cfg(test)]
mod tests;
mod vend_log;

pub use books::{
    Attempt, Books, Carried, Event, HoldSample, Incident, Message, Posting, Purchase, SAMPLE_OF_HOLDS, Told,
    Wallet,
};
pub use evidence::{Evidence, Letter, Log, Moment, Secret, gather};
pub use history::{Call, Claim, Exchange, History, Reply};
pub use vend_log::{VendLine, VendLog};

/// An invariant of the service.
#[derive(Clone, Copy)]
pub struct Invariant {
    /// The number of the invariant in the failure model.
    pub id: &'static str,
    /// The invariant as a sentence.
    pub sentence: &'static str,
    /// Returns every violation that the evidence proves.
    pub broken_by: fn(&Evidence) -> Vec<String>,
}

/// One violation of one invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The number of the invariant.
    pub invariant: &'static str,
    /// The sentence of the invariant.
    pub sentence: &'static str,
    /// What violates it.
    pub what: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} ({}): {}", self.invariant, self.sentence, self.what)
    }
}

/// All invariants, ordered by number.
pub const INVARIANTS: [Invariant; 20] = [
    invariants::vends::I1,
    invariants::vends::I2,
    invariants::vends::I3,
    invariants::moves::I4,
    invariants::money::I5,
    invariants::money::I6,
    invariants::answers::I7,
    invariants::answers::I8,
    invariants::real_time::I9,
    invariants::orders::I10,
    invariants::orders::I11,
    invariants::orders::I12,
    invariants::messages::I13,
    invariants::secrecy::I14,
    invariants::secrecy::I15,
    invariants::money::I16,
    invariants::envelope::I17,
    invariants::moves::I18,
    invariants::rest::I19,
    invariants::feed::I20,
];

/// Checks the evidence against every invariant.
pub fn check(evidence: &Evidence) -> Vec<Violation> {
    let broken = INVARIANTS.iter().flat_map(|invariant| {
        let violations = (invariant.broken_by)(evidence).into_iter();
        violations.map(|what| Violation { invariant: invariant.id, sentence: invariant.sentence, what })
    });
    broken.collect()
}

/// Fails with a list of all violations.
#[track_caller]
pub fn assert_sound(evidence: &Evidence) {
    let violations = check(evidence);
    let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(violations.is_empty(), "invariants are violated:\n{}", lines.join("\n"));
}
