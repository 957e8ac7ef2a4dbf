//! How many purchases of each provider a worker may handle at a time: its share of the slots that the provider has for all
//! workers together. A provider whose calls hang for two minutes fills its own slots, and never takes another provider's
//! slots. What an organisation has in hand is counted, because organisations take turns at a provider.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use clock::Monotonic;
use purchase::OrganisationId;
use store::{ClaimedPurchase, DueSlots, WantedSlots, WorkerId};
use tokio::sync::mpsc;

use crate::due_since::DueSince;

/// The slots of one worker. It has none until its shares are known.
#[derive(Debug)]
pub(crate) struct Slots {
    worker: WorkerId,
    /// The most of each provider that this worker takes, however large its share could be.
    most: u16,
    providers: BTreeMap<String, ProviderSlots>,
    /// From before the call that told the shares. `None` if the shares are not known.
    shared_since: Option<Monotonic>,
    returned: mpsc::UnboundedReceiver<Returned>,
    returns: mpsc::UnboundedSender<Returned>,
}

/// The slots of one provider.
#[derive(Clone, Debug, Default)]
struct ProviderSlots {
    /// How many purchases may be in hand.
    share: u16,
    /// The latest claim took all that it could, so there may be more: purchases that are due, or lines of batches.
    may_have_more: bool,
    /// The purchases in hand, by organisation. Those with none are not in the map.
    in_hand: BTreeMap<OrganisationId, u16>,
    due_since: DueSince,
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

impl ProviderSlots {
    fn taken(&self) -> u16 {
        self.in_hand.values().fold(0, |sum, in_hand| sum.saturating_add(*in_hand))
    }

    fn free(&self) -> u16 {
        self.share.saturating_sub(self.taken())
    }
}

impl Slots {
    /// The slots of a worker that takes at most this number of each of these providers.
    pub(crate) fn new<'a>(
        worker: WorkerId,
        providers: impl IntoIterator<Item = &'a String>,
        most: u16,
    ) -> Self {
        let (returns, returned) = mpsc::unbounded_channel();
        let providers = providers.into_iter().map(|code| (code.clone(), ProviderSlots::default())).collect();
        Self { worker, most: most.max(1), providers, shared_since: None, returned, returns }
    }

    /// Whose slots these are.
    pub(crate) const fn worker(&self) -> WorkerId {
        self.worker
    }

    /// The shares that this worker asks for. Nothing may be claimed from here until [`Slots::are_shared`].
    pub(crate) fn wanted(&mut self) -> Vec<WantedSlots> {
        self.shared_since = None;
        self.take_all_back();
        let wanted = self.providers.iter().map(|(code, slots)| WantedSlots {
            provider_code: code.clone(),
            most: self.most,
            in_hand: slots.taken(),
        });
        wanted.collect()
    }

    /// The shares as told by a call that began at `since`.
    pub(crate) fn are_shared(&mut self, shares: &BTreeMap<String, u16>, since: Monotonic) {
        self.shared_since = Some(since);
        for (code, slots) in &mut self.providers {
            let share = shares.get(code).copied().unwrap_or_default();
            // A larger share is used at once, and not at the next look for work.
            slots.may_have_more |= share > slots.share;
            slots.share = share;
        }
    }

    /// From now on this worker only ends what it has in hand.
    pub(crate) const fn take_no_more(&mut self) {
        self.most = 0;
    }

    /// How long until the shares are due for renewal, `renewal` after they were told. `None` if they are not known.
    pub(crate) fn until_renewal(&self, now: Monotonic, renewal: Duration) -> Option<Duration> {
        self.shared_since.map(|since| renewal.saturating_sub(now.elapsed_since(since)))
    }

    /// What can be claimed of due purchases now, which come first. Until the claim returns something, no more is assumed to be due.
    pub(crate) fn ask(&mut self, now: Monotonic) -> Vec<DueSlots> {
        let mut asked = self.left();
        for asked in &mut asked {
            if let Some(slots) = self.providers.get_mut(&asked.provider_code) {
                slots.may_have_more = false;
                asked.since = slots.due_since.time(now);
            }
        }
        asked
    }

    /// What is left for lines of batches. A look for lines, of which there are seldom any, says nothing about due purchases.
    pub(crate) fn left(&mut self) -> Vec<DueSlots> {
        self.take_all_back();
        if self.shared_since.is_none() {
            return Vec::new();
        }
        let free = self.providers.iter().filter(|(_code, slots)| slots.free() > 0);
        let free = free.map(|(code, slots)| DueSlots {
            provider_code: code.clone(),
            slots: slots.free(),
            since: None,
            in_hand: slots.in_hand.clone(),
        });
        free.collect()
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
                slots.may_have_more |= slots.free() == 0;
            }
        }
        taken
    }

    /// The same for due purchases, whose claim began at `now`. Each one carries the oldest due time of its provider that the claim saw.
    pub(crate) fn fill_due(
        &mut self,
        asked: &[DueSlots],
        claimed: &[ClaimedPurchase],
        now: Monotonic,
    ) -> Vec<Slot> {
        let named = claimed.iter().map(|due| (due.record.provider_code.as_str(), due.record.organisation));
        let taken = self.fill(asked, named);
        let oldest = claimed.iter().map(|due| (due.record.provider_code.as_str(), due.oldest_due));
        self.saw(asked, &oldest.collect(), now);
        taken
    }

    /// Waits until a provider of which there may be more work has a free slot.
    pub(crate) async fn more_can_be_claimed(&mut self) {
        while !self.providers.values().any(|slots| slots.may_have_more && slots.free() > 0) {
            let returned = self.returned.recv().await.expect("this value holds a sender");
            self.take_back(&returned);
        }
    }

    fn saw(&mut self, asked: &[DueSlots], oldest: &BTreeMap<&str, Option<DateTime<Utc>>>, now: Monotonic) {
        for DueSlots { provider_code, .. } in asked {
            if let Some(slots) = self.providers.get_mut(provider_code) {
                let oldest = oldest.get(provider_code.as_str()).copied().flatten();
                slots.due_since = slots.due_since.after_a_claim(now, oldest, slots.free() == 0);
            }
        }
    }

    fn take(&mut self, code: &str, organisation: OrganisationId) -> Slot {
        if let Some(slots) = self.providers.get_mut(code) {
            let in_hand = slots.in_hand.entry(organisation).or_default();
            *in_hand = in_hand.saturating_add(1);
        }
        Slot {
            returned: Returned { provider_code: code.to_owned(), organisation },
            returns: self.returns.clone(),
        }
    }

    fn take_all_back(&mut self) {
        while let Ok(returned) = self.returned.try_recv() {
            self.take_back(&returned);
        }
    }

    fn take_back(&mut self, returned: &Returned) {
        if let Some(slots) = self.providers.get_mut(&returned.provider_code) {
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

    use chrono::DateTime;
    use clock::{Clock, ManualClock};

    use super::*;

    const KGALE: OrganisationId = OrganisationId(1);
    const RENEWAL: Duration = Duration::from_secs(1);

    fn now() -> Monotonic {
        ManualClock::at(DateTime::UNIX_EPOCH).monotonic()
    }

    fn codes() -> [String; 2] {
        ["BPC".to_owned(), "WUC".to_owned()]
    }

    fn shares(each: u16) -> BTreeMap<String, u16> {
        codes().map(|code| (code, each)).into()
    }

    /// A worker with a share of two slots of each provider.
    fn slots() -> Slots {
        let mut slots = Slots::new(WorkerId(1), &codes(), 4);
        slots.are_shared(&shares(2), now());
        slots
    }

    fn free(slots: &mut Slots) -> Vec<(String, u16)> {
        slots.ask(now()).into_iter().map(|due| (due.provider_code, due.slots)).collect()
    }

    fn wanted(slots: &mut Slots) -> Vec<(u16, u16)> {
        slots.wanted().into_iter().map(|wanted| (wanted.most, wanted.in_hand)).collect()
    }

    async fn more_can_be_claimed(slots: &mut Slots) -> bool {
        tokio::time::timeout(Duration::from_millis(20), slots.more_can_be_claimed()).await.is_ok()
    }

    #[tokio::test]
    async fn a_provider_whose_slots_are_taken_leaves_the_others_theirs() {
        let mut slots = slots();
        let asked = slots.ask(now());
        let taken = slots.fill(&asked, [("BPC", KGALE), ("BPC", KGALE), ("WUC", KGALE)]);
        assert_eq!(free(&mut slots), [("WUC".to_owned(), 1)]);
        drop(taken);
        assert_eq!(free(&mut slots), [("BPC".to_owned(), 2), ("WUC".to_owned(), 2)]);
    }

    #[tokio::test]
    async fn more_is_claimed_once_a_slot_is_free_of_a_provider_of_which_more_may_be_due() {
        let mut slots = slots();
        let asked = slots.ask(now());
        let mut taken = slots.fill(&asked, [("WUC", KGALE), ("BPC", KGALE), ("BPC", KGALE)]);
        assert!(
            !more_can_be_claimed(&mut slots).await,
            "one has no free slot, and the other has no more due"
        );
        drop(taken.remove(0));
        assert!(!more_can_be_claimed(&mut slots).await);
        taken.pop();
        assert!(more_can_be_claimed(&mut slots).await);
        let asked = slots.ask(now());
        assert!(!more_can_be_claimed(&mut slots).await, "the claim has brought nothing yet");
        slots.fill(&asked, []);
        assert!(!more_can_be_claimed(&mut slots).await, "the last claim left a slot free");
    }

    #[tokio::test]
    async fn a_look_for_lines_that_finds_none_does_not_end_the_claims_of_due_purchases() {
        let mut slots = slots();
        let asked = slots.ask(now());
        let mut taken = slots.fill(&asked, [("BPC", KGALE); 2]);
        taken.pop();
        let asked = slots.left();
        slots.fill(&asked, []);
        assert!(more_can_be_claimed(&mut slots).await, "the claim of due purchases took all that it could");
    }

    #[tokio::test]
    async fn more_lines_are_taken_once_a_slot_is_free_and_never_after_a_claim_that_failed() {
        let mut slots = slots();
        let asked = slots.ask(now());
        slots.fill(&asked, []);
        let asked = slots.left();
        let mut taken = slots.fill(&asked, [("BPC", KGALE); 2]);
        assert!(!more_can_be_claimed(&mut slots).await);
        taken.pop();
        assert!(more_can_be_claimed(&mut slots).await);
        slots.ask(now());
        assert!(!more_can_be_claimed(&mut slots).await, "the database has failed: the worker pauses");
    }

    #[test]
    fn only_a_claim_of_a_provider_that_may_have_left_something_tells_the_next_one_where_to_begin() {
        let mut slots = slots();
        let asked = slots.ask(now());
        let taken = slots.fill(&asked, [("BPC", KGALE), ("BPC", KGALE), ("WUC", KGALE)]);
        let oldest = Some(DateTime::UNIX_EPOCH);
        slots.saw(&asked, &BTreeMap::from([("BPC", oldest), ("WUC", oldest)]), now());
        drop(taken);
        let since = |slots: &mut Slots| slots.ask(now()).into_iter().map(|due| due.since).collect::<Vec<_>>();
        assert_eq!(since(&mut slots), [oldest, None]);
    }

    #[test]
    fn what_each_organisation_has_in_hand_is_counted_until_its_work_ends() {
        let mut slots = Slots::new(WorkerId(1), &codes()[..1], 4);
        slots.are_shared(&shares(4), now());
        let phaka = OrganisationId(2);
        let asked = slots.ask(now());
        let mut taken = slots.fill(&asked, [("BPC", KGALE), ("BPC", KGALE), ("BPC", phaka)]);
        let in_hand =
            |slots: &mut Slots| slots.ask(now()).into_iter().map(|due| due.in_hand).collect::<Vec<_>>();
        assert_eq!(in_hand(&mut slots), [BTreeMap::from([(KGALE, 2), (phaka, 1)])]);
        taken.pop();
        assert_eq!(in_hand(&mut slots), [BTreeMap::from([(KGALE, 2)])]);
        drop(taken);
        assert_eq!(in_hand(&mut slots), [BTreeMap::new()]);
    }

    #[tokio::test]
    async fn work_that_breaks_off_gives_its_slot_back() {
        let mut slots = slots();
        let asked = slots.ask(now());
        let taken = slots.fill(&asked, [("BPC", KGALE); 2]);
        let broken = tokio::spawn(async move {
            let _in_hand = taken;
            std::future::pending::<()>().await;
        });
        broken.abort();
        assert!(broken.await.is_err());
        assert!(more_can_be_claimed(&mut slots).await);
    }

    #[tokio::test]
    async fn nothing_is_claimed_while_the_shares_are_not_known() {
        let mut slots = Slots::new(WorkerId(1), &codes(), 4);
        assert_eq!((free(&mut slots), slots.until_renewal(now(), RENEWAL)), (vec![], None));
        assert_eq!(wanted(&mut slots), [(4, 0), (4, 0)]);
        slots.are_shared(&shares(1), now());
        assert!(more_can_be_claimed(&mut slots).await, "a larger share is used at once");
        let asked = slots.ask(now());
        let _in_hand = slots.fill(&asked, [("BPC", KGALE)]);
        assert_eq!(wanted(&mut slots), [(4, 1), (4, 0)], "a worker tells what it has in hand");
        assert_eq!(free(&mut slots), [], "the answer may be a smaller share");
    }

    #[test]
    fn a_smaller_share_takes_effect_as_the_work_in_hand_ends() {
        let mut slots = slots();
        let asked = slots.ask(now());
        let mut taken = slots.fill(&asked, [("BPC", KGALE); 2]);
        slots.are_shared(&BTreeMap::from([("BPC".to_owned(), 1)]), now());
        assert_eq!(free(&mut slots), [], "the other provider is not in the catalogue any more");
        taken.pop();
        assert_eq!(free(&mut slots), []);
        taken.pop();
        assert_eq!(free(&mut slots), [("BPC".to_owned(), 1)]);
        slots.take_no_more();
        assert_eq!(wanted(&mut slots), [(0, 0), (0, 0)]);
    }

    #[test]
    fn shares_are_renewed_long_before_their_lease_ends() {
        let clock = ManualClock::at(DateTime::UNIX_EPOCH);
        let mut slots = Slots::new(WorkerId(1), &codes(), 4);
        slots.are_shared(&shares(2), clock.monotonic());
        clock.advance(RENEWAL / 4);
        assert_eq!(slots.until_renewal(clock.monotonic(), RENEWAL), Some(RENEWAL * 3 / 4));
        clock.advance(RENEWAL);
        assert_eq!(slots.until_renewal(clock.monotonic(), RENEWAL), Some(Duration::ZERO));
    }
}
