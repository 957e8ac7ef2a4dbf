//! The world outside, for the sandbox and for tests: an electricity utility that speaks XMLVend 2.1.
//!
//! It vends real STS tokens under published test keys, hangs a virtual meter on the wall for each meter number,
//! keeps a log of every vend that is written before anybody is answered, and misbehaves when told to.
//!
//! | Request | What it does |
//! |---|---|
//! | `POST /xmlvend` | the protocol: customer enquiry, trial vend, vend, last-response advice; SOAP 1.1 and 1.2 |
//! | `GET /vends?subscriber=` | the vend log, whole or of one meter |
//! | `POST /meters/{number}/enter` `{"token"}` | types a token into a meter: `{accepted, kind, reason, units_total}` |
//! | `POST /faults` `{"fault", "subscriber", "operation", "times", …}` | scripts the next replies |
//! | `DELETE /faults` | forgets the script |
//! | `GET /healthz` | answers when it serves |
//!
//! A script line says what is to go wrong with the next `times` (1) replies to an `operation` (`vend`, `check`,
//! `quote`, `enquiry` or `any`; vends if not given) for a `subscriber` (any). The faults:
//!
//! | `fault` | What the client sees |
//! |---|---|
//! | `delay`, `delay_before` | an answer `delay_ms` (1000) late, after vending; a request that waits so long to be looked at |
//! | `drop_before`, `drop_after` | a connection cut before or after vending |
//! | `garbage`, `truncated`, `oversized`, `http_500_after` | after vending: no XML, half an answer, 10 MiB, a page for people |
//! | `system_ex_after` | after vending: a `SystemEx` |
//! | `wrong_meter`, `wrong_amount`, `wrong_currency`, `wrong_reference`, `no_token` | after vending: an answer with that wrong |
//! | `swapped` | the answer of another vend that is to be swapped and comes within `delay_ms` |
//! | `out_of_order` | a true answer with its elements in another order |
//! | `busy`, `refuse` | a refusal: that it is busy, or the `exception` and `text` given |
//! | `unprefixed_fault`, `fault_without_detail` | a refusal (the meter's own, or that it is busy) written so |
//! | `missing_then_present` | on an enquiry: that there is no such transaction, although there is |
//!
//! [`scenarios`] lists the meters and what happens to whoever buys for them.
#![warn(missing_docs)]

mod memory;
mod meter;
mod meters;
mod refusal;
mod routes;
mod scenario;
mod script;
mod settings;
mod simulator;
mod swap;
mod tariff;
mod utility;
mod vend_log;
mod vendor_float;
mod world;
mod xmlvend;

pub use scenario::{Scenario, ScenarioMeter, population, scenario, scenarios};
pub use settings::{OnRepeat, Password, Remembers, SettingsError, SimulatorSettings};
pub use simulator::{Simulator, StartError};
