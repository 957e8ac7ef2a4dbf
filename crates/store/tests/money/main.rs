//! Money and purchases against a real database: what is held, settled, released and refused. The same must be
//! true when acknowledgements are lost, when many callers come at once, and when other sessions hold the
//! locks.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "what a test prepares may fail loudly"
)]

mod breakers;
mod catalogue;
mod certificates;
mod checks;
mod closed_keys;
mod closings;
mod crowd;
mod due;
mod env;
mod feed;
mod guards;
mod housekeeping;
mod keys;
mod leases;
mod listing;
mod lost;
mod low_wallets;
mod moves;
mod outbox;
mod oversight;
mod overtaken;
mod pause_events;
mod pauses;
mod proxy;
mod reading;
mod recording;
mod references;
mod refused_confirms;
mod reserving;
mod slot_shares;
mod specification;
mod statements;
mod stuck;
mod trial_balances;
mod trouble;
mod waiting;
