//! The world outside, for the sandbox and for tests: a utility that sells electricity and water over XMLVend 2.1, and
//! an aggregator that sells airtime over the Reloadly top-up interface, an SMS gateway that is asked as Kannel is, and a
//! mail server.
//!
//! It vends real STS tokens under published test keys, hangs a virtual meter on the wall for each meter number,
//! keeps a log of every vend that is written before anybody is answered, and misbehaves when told to.
//!
//! | Request | What it does |
//! |---|---|
//! | `POST /xmlvend` | the protocol: customer enquiry, trial vend, vend, last-response advice; SOAP 1.1 and 1.2 |
//! | `POST /reloadly/auth/oauth/token` | an access token for client credentials |
//! | `GET /reloadly/topups/operators/countries/{country}`, `…/operators/auto-detect/phone/{number}/countries/{country}` | operators of a country, the operator of a number |
//! | `GET /reloadly/topups/accounts/balance` | what is left of the vendor's money |
//! | `POST /reloadly/topups/topups` | tops up |
//! | `GET /reloadly/topups/topups/{id}/status`, `…/topups/reports/transactions?customIdentifier=` | what became of a top-up |
//! | `GET /cgi-bin/sendsms` | takes an SMS in: `username`, `password`, `to`, `text`, `coding` (0, 2), `charset` |
//! | `POST /cgi-bin/sendsms` | the same: `X-Kannel-Username` and so on in the head, the text as a `text/plain` body |
//! | SMTP, on a port of its own | takes mail in, from anybody; `AUTH PLAIN` for who wants to be known |
//! | `GET /messages?to=` | what has arrived, everybody's or one receiver's: `{channel, to, subject, text, at}` |
//! | `GET /vends?subscriber=` | the vend log, whole or of one subscriber |
//! | `POST /meters/{number}/enter` `{"token"}` | types a token into a meter: `{accepted, kind, reason, units_total}` |
//! | `POST /faults` `{"fault", "subscriber", "operation", "times", …}` | scripts the next replies |
//! | `DELETE /faults` | forgets the script |
//! | `PUT /memory` `{"remembers", "on_repeat"}` | how repeats and enquiries are met from now on |
//! | `DELETE /memory` | forgets everything that was answered so far, but not the log |
//! | `GET /healthz` | answers when it serves |
//!
//! A script line says what is to go wrong with the next `times` (1) replies to an `operation` (`vend`, `check`,
//! `quote`, `enquiry`, `token` or `any` of these, `sms`, `mail`; vends if not given) for a `subscriber` (any). Vends are
//! those of all products; a check is also the question whose a number is, an enquiry also a status or a report; the
//! subscriber of a message is its receiver. The faults:
//!
//! | `fault` | What the client sees |
//! |---|---|
//! | `delay`, `delay_before` | an answer `delay_ms` (1000) late, after vending; a request that waits so long to be looked at |
//! | `drop_before`, `drop_after` | a connection cut before or after vending |
//! | `garbage`, `truncated`, `oversized`, `http_500_after` | after vending: neither XML nor JSON, half an answer, 10 MiB, a page for people |
//! | `system_ex_after` | after vending: a `SystemEx`, or HTTP 500 with an error |
//! | `wrong_meter`, `wrong_amount`, `wrong_currency`, `wrong_reference`, `no_token` | after vending: an answer with that wrong; a wrong meter is also a wrong telephone |
//! | `swapped` | the answer of another vend that is to be swapped and comes within `delay_ms` |
//! | `out_of_order` | a true answer with its elements in another order (XMLVend only) |
//! | `odd_descriptions` | a true answer whose descriptions of tokens hold `:`, `|` and a line break (XMLVend only) |
//! | `busy`, `refuse` | a refusal: that it is busy, or the `exception` (of airtime the error code) and `text` given |
//! | `unprefixed_fault`, `fault_without_detail` | a refusal (the subscriber's own, or that it is busy) written so; of airtime the latter is an error without its code |
//! | `missing_then_present` | on an enquiry: that there is no such transaction, although there is |
//! | `processing`, `processing_then_failed`, `processing_then_refunded` | on a top-up: that it is under way, and after a while how it ended |
//!
//! Of messages only `busy` and `refuse` are refusals (HTTP 503 and SMTP 451; a `refuse` with the exception `permanent`:
//! 403 and 550), `drop_before` and `drop_after` cut the connection before and after the message was taken in, `delay` and
//! `delay_before` say late that it was, and the others change nothing.
//!
//! What a seller remembers is set in [`SimulatorSettings`], and anew by `PUT /memory`. What a connection to it may then
//! be declared to do:
//!
//! | `remembers` | `on_repeat` | Safe to repeat | Remembers refusals | "No record" counts |
//! |---|---|---|---|---|
//! | `everything` | `reject`, `replay` | yes | yes | yes |
//! | `vends` | `reject`, `replay` | yes | no | yes |
//! | `everything` | `vend_again`: it only answers enquiries | no | yes | yes |
//! | `vends` | `vend_again` | no | no | yes |
//! | `nothing` | whatever: each repeat vends | no | no | no |
//!
//! With `missing_then_present`, "no record" does not count for as long as it lasts; after `DELETE /memory` nothing that
//! came before may be repeated, and nothing counts.
//!
//! With `vend_log` and `event_log` set, a simulator that was killed and is started again remembers all that it had
//! answered to vends, what was typed into meters, and what it was told of its memory. Its script of faults and its inbox
//! are empty then, and access tokens must be asked for anew.
//!
//! [`subscribers`] lists everybody who has a name here; [`Scenario`] says what happens to whoever buys for a meter.
#![warn(missing_docs)]

mod answer;
mod event_log;
mod lines;
mod local_time;
mod memory;
mod messaging;
mod meter;
mod meters;
mod product;
mod refusal;
mod reloadly;
mod routes;
mod scenario;
mod script;
mod settings;
mod simulator;
mod subscriber;
mod swap;
mod tariff;
mod utility;
mod vend_log;
mod vendor_float;
mod world;
mod xmlvend;

pub use product::Product;
pub use scenario::{Scenario, ScenarioMeter, scenario, scenarios, water_scenarios};
pub use settings::{
    AirtimeSettings, MessageSettings, OnRepeat, Password, Remembers, SettingsError, SimulatorSettings,
};
pub use simulator::{Simulator, StartError};
pub use subscriber::{Subscriber, ordinary, population, subscriber, subscribers};
