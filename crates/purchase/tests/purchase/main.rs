//! The state machine, the protocols and their rules. The tests with much to search, the model and the simulation, are programs of
//! their own.
#![expect(dead_code, reason = "the world is shared with the exhaustive model, which uses more of it")]

mod diagram;
mod example;
mod invariants;
mod protocols;
mod schedules;
mod sends;
mod table;
mod words;
#[path = "../world/world.rs"]
mod world;
