//! The checker: after a storm it reads everything back, the database, the utility's own log, what every client was
//! told and when, the logs, and says which laws of the house were broken.
//!
//! Each law is one function with its sentence. It returns what breaks it and never guesses: where something is not
//! proven to be wrong, it is silent. That each of them can speak is tested in `tests.rs`, where every law is given a
//! history that breaks it.

mod books;
mod evidence;
mod history;
mod laws;
#[cfg(test)]
mod tests;
mod vend_log;

pub use books::{
    Attempt, Books, Event, HoldSample, Incident, Message, Posting, Purchase, SAMPLE_OF_HOLDS, Wallet,
};
pub use evidence::{Evidence, Letter, Log, Moment, Secret, gather};
pub use history::{Call, Claim, Exchange, History, Reply};
pub use vend_log::{VendLine, VendLog};

/// A law of the house.
#[derive(Clone, Copy)]
pub struct Law {
    /// Its number in the failure model.
    pub id: &'static str,
    /// What it says.
    pub sentence: &'static str,
    /// Everything that breaks it.
    pub broken_by: fn(&Evidence) -> Vec<String>,
}

/// One breach of one law.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The law's number.
    pub law: &'static str,
    /// The law.
    pub sentence: &'static str,
    /// What breaks it.
    pub what: String,
}

impl std::fmt::Display for Violation {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{} ({}): {}", self.law, self.sentence, self.what)
    }
}

/// All laws, in the order of their numbers.
pub const LAWS: [Law; 19] = [
    laws::vends::I1,
    laws::vends::I2,
    laws::vends::I3,
    laws::moves::I4,
    laws::money::I5,
    laws::money::I6,
    laws::answers::I7,
    laws::answers::I8,
    laws::real_time::I9,
    laws::orders::I10,
    laws::orders::I11,
    laws::orders::I12,
    laws::messages::I13,
    laws::secrecy::I14,
    laws::secrecy::I15,
    laws::money::I16,
    laws::envelope::I17,
    laws::moves::I18,
    laws::rest::I19,
];

/// Holds the evidence against every law.
pub fn check(evidence: &Evidence) -> Vec<Violation> {
    let broken = LAWS.iter().flat_map(|law| {
        let breaches = (law.broken_by)(evidence).into_iter();
        breaches.map(|what| Violation { law: law.id, sentence: law.sentence, what })
    });
    broken.collect()
}

/// Fails with everything that is wrong.
#[track_caller]
pub fn assert_lawful(evidence: &Evidence) {
    let violations = check(evidence);
    let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
    assert!(violations.is_empty(), "the laws of the house are broken:\n{}", lines.join("\n"));
}
