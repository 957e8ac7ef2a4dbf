//! The options that a seed draws for its simulation: its size, and what may go wrong. Every fault is drawn on or off,
//! because a simulation with all faults at once never gets to the rare ones.

use std::time::Duration;

use purchase::Handling;
use vend::Capabilities;

use crate::chance::Chance;
use crate::flaw::Flaw;
use crate::memory::Repeats;
use crate::provider::{Nature, Outage};
use crate::values::{DECLARATIONS, declared};

pub const SECOND: u64 = 1_000;
pub const MINUTE: u64 = 60 * SECOND;

#[derive(Clone, Debug)]
pub struct Options {
    pub seed: u64,
    pub servers: u64,
    pub workers: u64,
    /// Purchases that one worker resolves at a time.
    pub slots: u16,
    pub subscribers: u64,
    pub intents: u64,
    /// All wallets together can pay for only some of the purchases.
    pub is_poor: bool,
    pub connections: Vec<Connection>,
    /// Faults happen until this time.
    pub faults_end: u64,
    /// In a hundred transactions: the acknowledgement is lost.
    pub acknowledgements_lost: u64,
    /// In a hundred transactions: it is not committed, and no answer says so.
    pub commits_lost: u64,
    /// In a hundred transactions: it is given up as lost, and committed later.
    pub commits_late: u64,
    pub database_is_slow: bool,
    pub database_outages: u64,
    /// How often the database's clock jumps forward.
    pub clock_jumps: u64,
    /// At any time. `kills_at_work` and `pauses_at_work` count in a thousand turns, for the process whose turn it is.
    pub kills: u64,
    pub kills_at_work: u64,
    pub pauses: u64,
    pub pauses_at_work: u64,
    /// In a hundred answers to integrators: it never arrives.
    pub answers_lost: u64,
    /// In a hundred requests: a proxy holds it, for up to a minute.
    pub requests_held: u64,
    /// A proxy stays connected to us after its own client has disconnected.
    pub hang_ups_are_hidden: bool,
    pub operator_looks: bool,
    /// The flaw of this simulation, if any.
    pub flaw: Option<Flaw>,
}

/// What is declared for a connection, and what its provider really does.
#[derive(Clone, Debug)]
pub struct Connection {
    pub declared: Capabilities,
    pub nature: Nature,
}

impl Options {
    pub fn drawn(seed: u64) -> Self {
        let mut chance = Chance::seeded(seed);
        let chance = &mut chance;
        let faults_end = chance.within(10..=80) * MINUTE;
        let connections: Vec<_> =
            (0..chance.within(1..=3)).map(|_nth| Connection::drawn(chance, faults_end)).collect();
        // If not-found counts, safety depends on the database's clock.
        let rests_on_clock = connections.iter().any(|connection| connection.declared.not_found_counts);
        Self {
            seed,
            servers: chance.within(1..=2),
            workers: chance.within(1..=3),
            slots: chance.one_of(&[1, 3, 16]),
            subscribers: chance.within(1..=6),
            intents: chance.within(2..=14),
            is_poor: chance.happens(20),
            connections,
            faults_end,
            acknowledgements_lost: chance.sometimes(1..=20),
            commits_lost: chance.sometimes(1..=20),
            commits_late: chance.sometimes(1..=10),
            database_is_slow: chance.happens(20),
            database_outages: chance.sometimes(1..=3),
            clock_jumps: if rests_on_clock { 0 } else { chance.sometimes(1..=2) },
            kills: chance.sometimes(1..=8),
            kills_at_work: chance.sometimes(2..=40),
            pauses: chance.sometimes(1..=8),
            pauses_at_work: chance.sometimes(2..=60),
            answers_lost: chance.sometimes(1..=40),
            requests_held: chance.sometimes(1..=40),
            hang_ups_are_hidden: chance.happens(50),
            operator_looks: chance.happens(50),
            flaw: None,
        }
    }

    pub fn handling(chance: &mut Chance) -> Handling {
        chance.one_of(&Handling::ALL)
    }
}

impl Connection {
    fn drawn(chance: &mut Chance, faults_end: u64) -> Self {
        let settles_within = Duration::from_secs(chance.one_of(&[10, 600, 600]));
        let declared = Capabilities { settles_within, ..declared(chance.one_of(&DECLARATIONS)) };
        Self { declared, nature: nature(chance, declared, faults_end) }
    }
}

/// A provider that does what is declared for its connection, and no more.
fn nature(chance: &mut Chance, does: Capabilities, faults_end: u64) -> Nature {
    let outages = (0..chance.sometimes(1..=3)).map(|_nth| outage(chance, faults_end)).collect();
    // Only a provider that remembers everything, and checks its memory, is safe with a network that duplicates
    // orders.
    let duplicates = does.repeat_is_safe && does.remembers_refusals && chance.happens(30);
    Nature {
        does,
        repeats: chance.one_of(&[Repeats::FromMemory, Repeats::Rejected]),
        duplicates: if duplicates { chance.within(5..=50) } else { 0 },
        turns_away: if duplicates { 0 } else { chance.sometimes(5..=60) },
        is_busy: chance.sometimes(5..=60),
        refuses: chance.sometimes(5..=40),
        is_late: chance.sometimes(2..=30),
        takes_95_seconds: chance.sometimes(2..=30),
        loses_requests: chance.sometimes(2..=40),
        loses_replies: chance.sometimes(2..=40),
        garbles_replies: chance.sometimes(2..=30),
        swaps_replies: chance.sometimes(2..=30),
        misses_its_own: chance.sometimes(5..=60),
        is_silent: chance.sometimes(5..=60),
        outages,
    }
}

fn outage(chance: &mut Chance, faults_end: u64) -> Outage {
    let from = chance.within(0..=faults_end);
    let length = chance.one_of(&[20 * SECOND, 5 * MINUTE, 40 * MINUTE, 300 * MINUTE]);
    Outage { from, until: (from + length).min(faults_end), refuses_connections: chance.happens(50) }
}
