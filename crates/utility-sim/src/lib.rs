//! The outside systems, for the sandbox and for tests: a utility that sells electricity and water over XMLVend 2.1, an
//! aggregator that sells airtime over the Reloadly top-up interface, an aggregator that sells electricity for the same
//! meters over the VTpass interface, an SMS gateway with Kannel's interface, and a mail server.
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
//! | `POST /vtpass/api/merchant-verify`, `…/pay`, `…/requery` | the customer of a meter, an order in naira, what became of it |
//! | `GET /cgi-bin/sendsms` | accepts an SMS: `username`, `password`, `to`, `text`, `coding` (0, 2), `charset` |
//! | `POST /cgi-bin/sendsms` | the same: `X-Kannel-Username` and so on in the head, the text as a `text/plain` body |
//! | SMTP, on its own port | accepts mail from any client; `AUTH PLAIN` is optional |
//! | `GET /messages?to=` | the received messages, all or of one receiver: `{channel, to, subject, text, at}` |
//! | `GET /vends?subscriber=` | the vend log, whole or of one subscriber |
//! | `GET /statement?product=&from=&until=&plant=` | the vends of a period as the CSV file that a provider sends, with planted differences |
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
//! | `busy`, `refuse` | a refusal: busy, or the given `exception` (of an aggregator, its code) and `text` |
//! | `unprefixed_fault`, `fault_without_detail` | a refusal (the subscriber's own, or busy) in that form; for airtime the latter is an error without its code, over VTpass a failure without its request id |
//! | `missing_then_present` | on an enquiry: no such transaction, although there is one |
//! | `processing`, `processing_then_failed`, `processing_then_refunded` | of an aggregator: in progress, and its final state after a while |
//!
//! A planted difference of a statement is `KIND:SUBSCRIBER`, and is in the newest vend of the subscriber; several are separated by
//! commas. The kinds are `missing`, `invented`, `repeated`, `amount`, `currency`, `meter`, `token` and `time`. The simulator does not know
//! the code that a client has for a provider: `product` selects. `/vends` and `/statement` refuse any other parameter with 400.
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
//! # In the process of a test
//!
//! A test of another team needs no requests to control it, and can have it speak TLS:
//!
//! ```
//! use std::sync::Arc;
//!
//! use clock::SystemClock;
//! use utility_sim::{
//!     Misbehaviour, Mishap, Operation, Simulator, SimulatorSettings, TlsSettings, VendResult, scenario,
//! };
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! # rustls::crypto::ring::default_provider().install_default().ok();
//! // A certificate for the simulator, which the client has to trust.
//! let issued = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
//! let certificate = issued.cert.pem();
//! let tls = TlsSettings::new(certificate.clone(), &issued.signing_key.serialize_pem());
//! let settings = SimulatorSettings { tls: Some(tls), ..SimulatorSettings::default() };
//! let simulator = Simulator::start(&settings, Arc::new(SystemClock))?;
//!
//! // The next vend for this meter happens, and its answer is lost.
//! let meter = scenario("active_11_digit").ok_or("no such meter")?.number;
//! simulator.script(Misbehaviour::new(Mishap::DropAfter).for_subscriber(meter).in_reply_to(Operation::Vend));
//!
//! let trusted = reqwest::Certificate::from_pem(certificate.as_bytes())?;
//! let client = reqwest::Client::builder().tls_certs_merge([trusted]).no_proxy().build()?;
//! let url = simulator.https_url().ok_or("no TLS")?;
//! let minute = chrono::DateTime::<chrono::Utc>::from(std::time::SystemTime::now()) + chrono::TimeDelta::hours(1);
//! let order = format!(
//!     r#"{{"request_id": "{}till7", "serviceID": "ikeja-electric", "billersCode": "{meter}",
//!          "variation_code": "prepaid", "amount": 2000, "phone": "08011111111"}}"#,
//!     minute.format("%Y%m%d%H%M"),
//! );
//! let sent = client.post(format!("{url}/vtpass/api/pay")).body(order);
//! let keys = [("api-key", "sandbox-vtpass-key"), ("secret-key", "SK_sandbox-vtpass-secret")];
//! let sent = keys.into_iter().fold(sent, |sent, (name, key)| sent.header(name, key));
//! assert!(sent.send().await.is_err());
//!
//! // What really happened, and what the meter says to the token.
//! let [vend] = &simulator.vends_for(meter)[..] else { return Err("not one vend".into()) };
//! assert_eq!((vend.outcome, vend.currency.as_str()), (VendResult::Vended, "NGN"));
//! let entered = simulator.enter(meter, &vend.tokens[0]).ok_or("no such meter")?;
//! assert!(entered.entry.is_accepted());
//! assert!(simulator.messages_to("26771000001").is_empty());
//! # Ok(())
//! # }
//! # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
//! ```
//!
//! [`subscribers`] lists all named subscribers. [`Scenario`] describes the behaviour of each named meter.
#![warn(missing_docs)]

mod answer;
mod control;
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
mod statement;
mod subscriber;
mod swap;
mod tariff;
mod tls;
mod utility;
mod vend_log;
mod vendor_float;
mod vtpass;
mod world;
mod xmlvend;

pub use control::Entered;
pub use message_sim::{Channel, Message};
pub use product::Product;
pub use scenario::{Scenario, ScenarioMeter, scenario, scenarios, water_scenarios};
pub use script::{Misbehaviour, Mishap, Operation};
pub use settings::{
    AirtimeSettings, MessageSettings, OnRepeat, Password, Remembers, SettingsError, SimulatorSettings,
    TlsSettings, VtpassSettings,
};
pub use simulator::{Simulator, StartError};
pub use sts::{Acceptance, Entry, EntryRefusal};
pub use subscriber::{Subscriber, ordinary, population, subscriber, subscribers};
pub use vend_log::{VendRecord, VendResult};
