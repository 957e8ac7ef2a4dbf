//! What the two drivers share. A driver runs a shipped protocol in the world, one command in a turn. The protocol
//! decides. The driver only carries its commands to the world, and the results back.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use chrono::{DateTime, Utc};
use purchase::{Event, Fence, Lifecycle, Next};
use vend::{Doubt, Refusal, RefusalReason, VendOutcome};

use super::World;
use super::flaw::Flaw;
use super::hash::hash_lifecycle;
use super::values::OPENING;

/// How one turn goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Luck {
    /// No fault.
    Well,
    /// The write is committed, but its acknowledgement is lost.
    CommittedUnheard,
    /// The write is not committed, and no answer says so. It may be committed later.
    NotCommitted,
    /// The write is not committed. Of a reserve that is known.
    KnownNotCommitted,
    /// The provider cannot be reached, or its answer is lost.
    Offline,
    /// The provider answers only what it must.
    Reticent,
    /// The provider answers that the order is still in progress, if that may be so.
    StillOpen,
}

/// The result of a write that a driver receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// A driver that forgets to compare has only read.
    NotYet,
    /// No acknowledgement.
    Unacknowledged,
    Moved,
    NotMoved,
}

/// The data that a driver keeps besides the protocol.
#[derive(Clone, Debug)]
pub struct Kept {
    /// When the reserve or the latest record of a send began, until the copy is sent.
    pub began_at: DateTime<Utc>,
    /// When the request of a confirm arrived at the machine that serves it, until the reserve is acknowledged.
    pub arrived_at: DateTime<Utc>,
    /// The fence under which it holds the purchase, as far as it knows.
    pub fence: Option<Fence>,
    /// The fence of a reserve or of a send that is committed, but not acknowledged yet.
    pub unacknowledged: Option<Fence>,
    /// The copy that was sent, until its outcome is received.
    pub copy: Option<usize>,
    pub attempt: u16,
    pub claimed_at: DateTime<Utc>,
    /// The row as it was read by a driver that forgets to compare.
    pub read: Option<Lifecycle>,
}

impl Kept {
    /// What has no meaning yet, or no more, is always the same: states that differ only in that are one state.
    pub fn nothing(world: &World) -> Self {
        Self {
            began_at: OPENING,
            arrived_at: OPENING,
            fence: None,
            unacknowledged: None,
            copy: None,
            attempt: world.stored.as_ref().map_or(1, |lifecycle| lifecycle.attempt),
            claimed_at: OPENING,
            read: None,
        }
    }

    /// Whether its next turn only continues the one before.
    pub const fn is_halfway(&self) -> bool {
        self.unacknowledged.is_some() || self.read.is_some()
    }

    /// The time since the reserve or the record of a send began.
    pub fn since_began(&self, world: &World) -> Duration {
        if world.setup.flaw == Some(Flaw::SendsBehindTheGate) {
            return Duration::ZERO;
        }
        world.since(self.began_at)
    }

    pub fn record(&mut self, world: &mut World, event: Event, luck: Luck) -> Written {
        let next = if world.setup.flaw == Some(Flaw::ForgetsToCompare) {
            let Some(read) = self.read.take() else {
                self.read.clone_from(&world.stored);
                return Written::NotYet;
            };
            world.write_over(&read, event)
        } else {
            match luck {
                Luck::NotCommitted => {
                    world.late_write.get_or_insert(event);
                    return Written::Unacknowledged;
                }
                Luck::KnownNotCommitted => return Written::Unacknowledged,
                Luck::Well | Luck::CommittedUnheard | Luck::Offline | Luck::Reticent | Luck::StillOpen => {
                    world.record(event)
                }
            }
        };
        match (luck, next) {
            (Luck::CommittedUnheard, _) => Written::Unacknowledged,
            (_, Ok(Next::Moved(..))) => Written::Moved,
            (_, Ok(Next::AlreadyThere) | Err(_)) => Written::NotMoved,
        }
    }

    /// The last check of the gate when the copy is sent. In a later turn: the outcome.
    pub fn send(&mut self, world: &mut World, leave_within: Duration, luck: Luck) -> Option<VendOutcome> {
        if let Some(copy) = self.copy.take() {
            let answer = world.provider.answer_to(copy).filter(|_| luck != Luck::Offline);
            world.provider.end_request(copy, world.now);
            return Some(answer.unwrap_or(VendOutcome::Unknown(Doubt::ConnectionLost.into())));
        }
        let is_in_time = self.since_began(world) <= leave_within;
        self.began_at = OPENING;
        if is_in_time && luck != Luck::Offline {
            self.copy = Some(world.send(self.attempt));
            return None;
        }
        Some(VendOutcome::Refused(Refusal::because(RefusalReason::NeverSent)))
    }
}

impl Hash for Kept {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Self { began_at, arrived_at, fence, unacknowledged, copy, attempt, claimed_at, read } = self;
        (began_at, arrived_at, fence, unacknowledged, copy, attempt, claimed_at).hash(hasher);
        if let Some(lifecycle) = read {
            hash_lifecycle(lifecycle, OPENING, hasher);
        }
    }
}
