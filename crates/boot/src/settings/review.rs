//! What the types of the settings cannot say: checked section by section, wherever the types found nothing wrong.

use std::error::Error;

use super::mistake::Mistake;
use crate::exit::in_words;

/// Collects what the checks of all sections find.
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

    /// Checks one section, whose name is `key`.
    ///
    /// What is wrong is told in the words of the error and of its causes, so these must not repeat a secret.
    pub fn section<E: Error>(&mut self, key: &str, check: impl FnOnce() -> Result<(), E>) {
        self.sections(&[key], check);
    }

    /// Checks a section whose rules also look at other sections: the first key is the one to blame.
    pub fn sections<E: Error>(&mut self, keys: &[&str], check: impl FnOnce() -> Result<(), E>) {
        // A section with a mistake holds a stand-in at that place, about which the check would say something untrue.
        let is_spoilt = keys.iter().any(|key| self.mistakes.iter().any(|mistake| mistake.is_within(key)));
        let Some(first) = keys.first().filter(|_key| !is_spoilt) else { return };
        if let Err(error) = check() {
            self.mistakes.push(Mistake::wrong(*first, in_words(&error)));
        }
    }
}
