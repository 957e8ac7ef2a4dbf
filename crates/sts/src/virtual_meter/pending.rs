//! A key change that has begun and not ended.

use super::entry::EntryRefusal;
use crate::algorithm::EncryptionAlgorithm;
use crate::key_change::{KeyChange, KeySection, SectionNumber};

/// The sections taken down so far, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingKeyChange {
    sections: Vec<KeySection>,
}

impl PendingKeyChange {
    /// Takes the next section down; the last one yields the change. A first section begins again from the start.
    pub(super) fn take_down(
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
        let sections = std::mem::take(&mut self.sections);
        KeyChange::from_sections(&sections).map(Some).ok_or(EntryRefusal::Unsupported)
    }
}

fn due_sections(algorithm: EncryptionAlgorithm) -> impl Iterator<Item = SectionNumber> {
    SectionNumber::ALL.into_iter().take(algorithm.key_change_tokens())
}
