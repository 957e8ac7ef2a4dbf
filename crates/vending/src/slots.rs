//! How many purchases of each provider a worker may handle at a time. A provider whose calls hang for two minutes
//! fills its own slots, and never takes another provider's slots. What an organisation has in hand is counted, because
//! organisations take turns at a provider.

use std::collections::BTreeMap;

use purchase::OrganisationId;
use store::DueSlots;
use tokio::sync::mpsc;

/// The slots of one worker.
#[derive(Debug)]
pub(crate) struct Slots {
    providers: BTreeMap<String, ProviderSlots>,
    returned: mpsc::UnboundedReceiver<Returned>,
    returns: mpsc::UnboundedSender<Returned>,
}

/// The slots of one provider.
#[derive(Clone, Debug)]
struct ProviderSlots {
    free: u16,
    /// The latest claim took all that it could, so there may be more.
    more_may_be_due: bool,
    /// The purchases in the slots that are not free. No organisation has none.
    in_hand: BTreeMap<OrganisationId, u16>,
}

/// The slot of one purchase. It is free again when this is dropped, no matter how the work on the purchase ended.
#[derive(Debug)]
pub(crate) struct Slot {
    returned: Returned,
    returns: mpsc::UnboundedSender<Returned>,
}

/// Whose slot is free again.
#[derive(Clone, Debug)]
struct Returned {
    provider_code: String,
    organisation: OrganisationId,
}

impl Slots {
    /// This number of slots for each of these providers, all of them free.
    pub(crate) fn new<'a>(providers: impl IntoIterator<Item = &'a String>, each: u16) -> Self {
        let (returns, returned) = mpsc::unbounded_channel();
        let slots = ProviderSlots { free: each.max(1), more_may_be_due: false, in_hand: BTreeMap::new() };
        let providers = providers.into_iter().map(|code| (code.clone(), slots.clone())).collect();
        Self { providers, returned, returns }
    }

    /// What can be claimed now. Until the claim returns something, no more is assumed to be due.
    pub(crate) fn ask(&mut self) -> Vec<DueSlots> {
        while let Ok(returned) = self.returned.try_recv() {
            self.take_back(&returned);
        }
        let free = self.providers.iter_mut().filter(|(_code, slots)| slots.free > 0);
        free.map(|(code, slots)| {
            slots.more_may_be_due = false;
            DueSlots { provider_code: code.clone(), slots: slots.free, in_hand: slots.in_hand.clone() }
        })
        .collect()
    }

    /// Gives each claimed purchase, named by its provider and its organisation, one of the slots that were asked for.
    pub(crate) fn fill<'a>(
        &mut self,
        asked: &[DueSlots],
        claimed: impl IntoIterator<Item = (&'a str, OrganisationId)>,
    ) -> Vec<Slot> {
        let taken = claimed.into_iter().map(|(code, organisation)| self.take(code, organisation)).collect();
        for DueSlots { provider_code, .. } in asked {
            if let Some(slots) = self.providers.get_mut(provider_code) {
                slots.more_may_be_due = slots.free == 0;
            }
        }
        taken
    }

    /// Waits until a provider of which more may be due has a free slot.
    pub(crate) async fn more_can_be_claimed(&mut self) {
        while !self.providers.values().any(|slots| slots.free > 0 && slots.more_may_be_due) {
            let returned = self.returned.recv().await.expect("this value holds a sender");
            self.take_back(&returned);
        }
    }

    fn take(&mut self, code: &str, organisation: OrganisationId) -> Slot {
        if let Some(slots) = self.providers.get_mut(code) {
            slots.free = slots.free.saturating_sub(1);
            let in_hand = slots.in_hand.entry(organisation).or_default();
            *in_hand = in_hand.saturating_add(1);
        }
        Slot {
            returned: Returned { provider_code: code.to_owned(), organisation },
            returns: self.returns.clone(),
        }
    }

    fn take_back(&mut self, returned: &Returned) {
        if let Some(slots) = self.providers.get_mut(&returned.provider_code) {
            slots.free = slots.free.saturating_add(1);
            if let Some(in_hand) = slots.in_hand.get_mut(&returned.organisation) {
                *in_hand = in_hand.saturating_sub(1);
            }
            slots.in_hand.retain(|_organisation, in_hand| *in_hand > 0);
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // The receiver is gone when the worker has stopped.
        let _stopped = self.returns.send(self.returned.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn slots() -> Slots {
        Slots::new([&"BPC".to_owned(), &"WUC".to_owned()], 2)
    }

    fn free(slots: &mut Slots) -> Vec<(String, u16)> {
        slots.ask().into_iter().map(|due| (due.provider_code, due.slots)).collect()
    }

    const KGALE: OrganisationId = OrganisationId(1);

    async fn more_can_be_claimed(slots: &mut Slots) -> bool {
        tokio::time::timeout(Duration::from_millis(20), slots.more_can_be_claimed()).await.is_ok()
    }

    #[tokio::test]
    async fn a_provider_whose_slots_are_taken_leaves_the_others_theirs() {
        let mut slots = slots();
        let asked = slots.ask();
        let taken = slots.fill(&asked, [("BPC", KGALE), ("BPC", KGALE), ("WUC", KGALE)]);
        assert_eq!(free(&mut slots), [("WUC".to_owned(), 1)]);
        drop(taken);
        assert_eq!(free(&mut slots), [("BPC".to_owned(), 2), ("WUC".to_owned(), 2)]);
    }

    #[tokio::test]
    async fn more_is_claimed_once_a_slot_is_free_of_a_provider_of_which_more_may_be_due() {
        let mut slots = slots();
        let asked = slots.ask();
        let mut taken = slots.fill(&asked, [("WUC", KGALE), ("BPC", KGALE), ("BPC", KGALE)]);
        assert!(
            !more_can_be_claimed(&mut slots).await,
            "one has no free slot, and the other has no more due"
        );
        drop(taken.remove(0));
        assert!(!more_can_be_claimed(&mut slots).await);
        taken.pop();
        assert!(more_can_be_claimed(&mut slots).await);
        let asked = slots.ask();
        assert!(!more_can_be_claimed(&mut slots).await, "the claim has brought nothing yet");
        slots.fill(&asked, []);
        assert!(!more_can_be_claimed(&mut slots).await, "the last claim left a slot free");
    }

    #[test]
    fn what_each_organisation_has_in_hand_is_counted_until_its_work_ends() {
        let mut slots = Slots::new([&"BPC".to_owned()], 4);
        let phaka = OrganisationId(2);
        let asked = slots.ask();
        let mut taken = slots.fill(&asked, [("BPC", KGALE), ("BPC", KGALE), ("BPC", phaka)]);
        let in_hand = |slots: &mut Slots| slots.ask().into_iter().map(|due| due.in_hand).collect::<Vec<_>>();
        assert_eq!(in_hand(&mut slots), [BTreeMap::from([(KGALE, 2), (phaka, 1)])]);
        taken.pop();
        assert_eq!(in_hand(&mut slots), [BTreeMap::from([(KGALE, 2)])]);
        drop(taken);
        assert_eq!(in_hand(&mut slots), [BTreeMap::new()]);
    }

    #[tokio::test]
    async fn work_that_breaks_off_gives_its_slot_back() {
        let mut slots = slots();
        let asked = slots.ask();
        let taken = slots.fill(&asked, [("BPC", KGALE); 2]);
        let broken = tokio::spawn(async move {
            let _in_hand = taken;
            std::future::pending::<()>().await;
        });
        broken.abort();
        assert!(broken.await.is_err());
        assert!(more_can_be_claimed(&mut slots).await);
    }
}
