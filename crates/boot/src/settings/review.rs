//! Rules that the types of the settings cannot express, checked for each section in which the types found no mistake.

use std::error::Error;

use super::mistake::Mistake;
use crate::exit::in_words;

/// Collects the mistakes that the checks of all sections find.
#[derive(Debug)]
pub struct Review {
    mistakes: Vec<Mistake>,
}

impl Review {
    pub(super) const fn after(mistakes: Vec<Mistake>) -> Self {
        Self { mistakes }
    }

    pub(super) fn finish(self) -> Vec<Mistake> {
        self.mistakes
    }

    /// Checks the section named `key`.
    ///
    /// A mistake is reported in the words of the error and its causes, so these must not contain a secret.
    pub fn section<E: Error>(&mut self, key: &str, check: impl FnOnce() -> Result<(), E>) {
        self.sections(&[key], check);
    }

    /// Checks a section whose rules also use other sections. A mistake is reported for the first key.
    pub fn sections<E: Error>(&mut self, keys: &[&str], check: impl FnOnce() -> Result<(), E>) {
        // A section with a mistake contains a stand-in there, so its check could report a false mistake.
        let is_spoilt = keys.iter().any(|key| self.mistakes.iter().any(|mistake| mistake.is_within(key)));
        let Some(first) = keys.first().filter(|_key| !is_spoilt) else { return };
        if let Err(error) = check() {
            self.mistakes.push(Mistake::wrong(*first, in_words(&error)));
        }
    }
}
