//! A key change that is in progress.

use alloc::vec::Vec;

use super::entry::EntryRefusal;
use crate::algorithm::EncryptionAlgorithm;
use crate::key_change::{KeyChange, KeySection, SectionNumber};

/// The sections that are stored so far, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingKeyChange {
    sections: Vec<KeySection>,
}

impl PendingKeyChange {
    /// Stores the next section. The last section returns the key change. A first section starts a new key change.
    pub(super) fn store(
        &mut self,
        section: KeySection,
        algorithm: EncryptionAlgorithm,
    ) -> Result<Option<KeyChange>, EntryRefusal> {
        let entered = section.number();
        if !due_sections(algorithm).any(|number| number == entered) {
            return Err(EntryRefusal::Unsupported);
        }
        if entered == SectionNumber::First {
            self.sections.clear();
        }
        match due_sections(algorithm).nth(self.sections.len()) {
            Some(expected) if expected != entered => {
                return Err(EntryRefusal::OutOfOrder { expected, entered });
            }
            Some(_) | None => self.sections.push(section),
        }
        if self.sections.len() < algorithm.key_change_tokens() {
            return Ok(None);
        }
        let sections = core::mem::take(&mut self.sections);
        KeyChange::from_sections(&sections).map(Some).ok_or(EntryRefusal::Unsupported)
    }
}

fn due_sections(algorithm: EncryptionAlgorithm) -> impl Iterator<Item = SectionNumber> {
    SectionNumber::ALL.into_iter().take(algorithm.key_change_tokens())
}
