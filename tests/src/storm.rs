//! What attacks the house from outside: a town that lives fast, integrators who keep a record of everything that they
//! ask and are told, and servers that are killed or stopped at a chosen point.

mod arming;
mod integrator;
mod order;
mod seed;
mod street;
mod town;
mod victim;

pub use arming::armed_by_the_environment;
pub use integrator::{Account, HASTY, Integrator, PATIENT};
pub use order::{Order, Route};
pub use seed::{Seed, rounds};
pub use street::{Behaviour, Street};
pub use town::{StormTown, now, until};
pub use victim::{End, Victim};
