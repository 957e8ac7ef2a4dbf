//! The outside systems, for the sandbox and for tests: a utility that sells electricity and water over XMLVend 2.1, an
//! aggregator that sells airtime over the Reloadly top-up interface, an SMS gateway with Kannel's interface, and a mail
//! server.
//!
//! It vends real STS tokens under published test keys and simulates a virtual meter for each meter number. It logs
//! every vend before it answers, and injects faults on request.
//!
//! | Request | What it does |
//! |---|---|
//! | `POST /xmlvend` | the protocol: customer enquiry, trial vend, vend, last-response advice; SOAP 1.1 and 1.2 |
//! | `POST /reloadly/auth/oauth/token` | an access token for client credentials |
//! | `GET /reloadly/topups/operators/countries/{country}`, `…/operators/auto-detect/phone/{number}/countries/{country}` | the operators of a country, the operator of a number |
//! | `GET /reloadly/topups/accounts/balance` | the balance of the vendor's account |
//! | `POST /reloadly/topups/topups` | tops up |
//! | `GET /reloadly/topups/topups/{id}/status`, `…/topups/reports/transactions?customIdentifier=` | the state of a top-up |
//! | `GET /cgi-bin/sendsms` | accepts an SMS: `username`, `password`, `to`, `text`, `coding` (0, 2), `charset` |
//! | `POST /cgi-bin/sendsms` | the same: `X-Kannel-Username` and so on in the head, the text as a `text/plain` body |
//! | SMTP, on its own port | accepts mail from any client; `AUTH PLAIN` is optional |
//! | `GET /messages?to=` | the received messages, all or of one receiver: `{channel, to, subject, text, at}` |
//! | `GET /vends?subscriber=` | the vend log, whole or of one subscriber |
//! | `POST /meters/{number}/enter` `{"token"}` | enters a token into a meter: `{accepted, kind, reason, units_total}` |
//! | `POST /meters/{number}/reset` | replaces a meter by a new one of the same number, and deletes its script |
//! | `POST /faults` `{"fault", "subscriber", "operation", "times", …}` | scripts the next replies |
//! | `DELETE /faults` | deletes the script |
//! | `GET /load` | the open requests of `POST /xmlvend`, and the most at a time: `{now, most}` |
//! | `DELETE /load` | counts the most anew |
//! | `PUT /memory` `{"remembers", "on_repeat"}` | sets how repeats and enquiries are handled from now on |
//! | `DELETE /memory` | forgets all answers so far, but keeps the log |
//! | `GET /healthz` | answers when it serves |
//!
//! A script line injects a fault into the next `times` (1) replies to an `operation` for a `subscriber` (any). The
//! operation is `vend`, `check`, `quote`, `enquiry`, `token`, `any` of these, `sms` or `mail`. The default is `vend`,
//! or `enquiry` for `missing_then_present`. Vends are those of all products. A check is also the query for the operator
//! of a number. An enquiry is also a status or a report. The subscriber of a message is its receiver. The faults:
//!
//! | `fault` | What the client sees |
//! |---|---|
//! | `delay`, `delay_before` | an answer that is `delay_ms` (1000) late, after vending; a request that is processed that much later |
//! | `drop_before`, `drop_after` | a connection cut before or after vending |
//! | `garbage`, `truncated`, `oversized`, `http_500_after` | after vending: neither XML nor JSON, half an answer, 10 MiB, an HTML page |
//! | `system_ex_after` | after vending: a `SystemEx`, or HTTP 500 with an error |
//! | `wrong_meter`, `wrong_amount`, `wrong_currency`, `wrong_reference`, `no_token` | after vending: an answer with that error; a wrong meter is also a wrong telephone |
//! | `swapped` | the answer of another swapped vend that arrives within `delay_ms` |
//! | `out_of_order` | a correct answer with its elements in another order (XMLVend only) |
//! | `odd_descriptions` | a correct answer whose token descriptions contain `:`, `|` and a line break (XMLVend only) |
//! | `busy`, `refuse` | a refusal: busy, or the given `exception` (for airtime the error code) and `text` |
//! | `unprefixed_fault`, `fault_without_detail` | a refusal (the subscriber's own, or busy) in that form; for airtime the latter is an error without its code |
//! | `missing_then_present` | on an enquiry: no such transaction, although there is one |
//! | `processing`, `processing_then_failed`, `processing_then_refunded` | on a top-up: in progress, and its final state after a while |
//!
//! For messages, only `busy` and `refuse` are refusals: HTTP 503 and SMTP 451, or 403 and 550 for a `refuse` with the
//! exception `permanent`. `drop_before` and `drop_after` cut the connection before and after the message was accepted.
//! `delay` and `delay_before` delay the answer. The other faults have no effect.
//!
//! [`SimulatorSettings`] sets what the simulator remembers, and `PUT /memory` changes it. A provider connection may
//! then declare these properties:
//!
//! | `remembers` | `on_repeat` | Safe to repeat | Remembers refusals | "No record" counts |
//! |---|---|---|---|---|
//! | `everything` | `reject`, `replay` | yes | yes | yes |
//! | `vends` | `reject`, `replay` | yes | no | yes |
//! | `everything` | `vend_again`: it only answers enquiries | no | yes | yes |
//! | `vends` | `vend_again` | no | no | yes |
//! | `nothing` | any: each repeat vends | no | no | no |
//!
//! During `missing_then_present`, "no record" does not count. After `DELETE /memory`, no earlier vend may be repeated,
//! and no answer about an earlier vend counts.
//!
//! With `vend_log` and `event_log` set, a simulator that was killed and restarted remembers all answers to vends, all
//! tokens entered into meters, meters that were replaced, and the settings of its memory. Its fault script and its inbox are empty then, and its
//! access tokens are invalid.
//!
//! [`subscribers`] lists all named subscribers. [`Scenario`] describes the behaviour of each named meter.
#![warn(missing_docs)]

mod answer;
mod event_log;
mod lines;
mod load;
mod local_time;
mod memory;
mod meter;
mod meters;
mod product;
mod reception;
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
