//! Fault injection from outside the service: a test environment with short time limits, integrators that record every
//! request and answer, and servers that are killed or stopped at a chosen failpoint.

mod arming;
mod env;
mod integrator;
mod order;
mod seed;
mod simulator;
mod victim;

pub use arming::armed_by_the_environment;
pub use env::{FaultEnv, MANY_METERS, now, until};
pub use integrator::{Account, HASTY, Integrator, PATIENT};
pub use order::{Order, Route};
pub use seed::{Seed, rounds};
pub use simulator::{Behaviour, SimulatorClient};
pub use victim::{End, Victim};
