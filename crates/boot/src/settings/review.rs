//! Rules that the types of the settings cannot express, checked for each section in which the types found no mistake.

use std::error::Error;

use super::{mistake::Mistake, placeholder::PLACEHOLDER, reader::child_key};
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

    /// Reports these settings of the section named `key` as zero, where zero makes no sense. Call it after the check of
    /// the section, which it would hide.
    pub fn zeros(&mut self, key: &str, names: impl IntoIterator<Item = &'static str>) {
        for name in names {
            let setting = child_key(key, name);
            if !self.mistakes.iter().any(|mistake| mistake.is_within(&setting)) {
                self.mistakes.push(Mistake::wrong(setting, "it must be at least 1"));
            }
        }
    }

    /// Reports that these settings contain the placeholder of the documents.
    pub(super) fn placeholders(&mut self, keys: impl IntoIterator<Item = String>) {
        let says = format!("it contains the placeholder {PLACEHOLDER}, which you must replace");
        self.mistakes.extend(keys.into_iter().map(|key| Mistake::wrong(key, says.clone())));
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
