//! The simulated utility, which misbehaves for one meter as instructed.

use reqwest::{Client, RequestBuilder, Response, StatusCode, header::CONTENT_TYPE};
use sandbox::http_client;
use serde_json::{Value, json};

use crate::checker::Letter;

/// How often a request may stay unread.
const UNREAD_MAX: usize = 5;

/// What the provider does with the orders for one meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Behaviour {
    /// Vends and answers.
    Ordinary,
    /// Vends, and the answer is lost.
    LostReply,
    /// The first order is lost.
    LostRequest,
    /// Every order is lost.
    AlwaysLost,
    /// Always answers that it is too busy.
    Busy,
    /// Answers once that it is too busy.
    BusyThenOk,
    /// Vends, and takes as long as the deadline allows.
    Slow,
    /// Vends, and answers after the deadline.
    Delayed,
    /// Processes the order and vends only after the deadline.
    LooksLate,
    /// Refuses the order for good.
    Blocked,
    /// Vends, and answers HTTP 500.
    Http500,
    /// Vends, and answers with bytes that cannot be parsed.
    Garbage,
    /// Vends, and sends half of the answer.
    Truncated,
    /// Vends, and names another meter in the answer.
    WrongMeter,
    /// Vends, and names another reference in the answer.
    WrongReference,
    /// Vends twice, and swaps the two answers.
    Swapped,
    /// Vends, loses the answer, and says once that there is no such order.
    MissingThenPresent,
}

impl Behaviour {
    /// All behaviours.
    pub const ALL: [Self; 17] = [
        Self::Ordinary,
        Self::LostReply,
        Self::LostRequest,
        Self::AlwaysLost,
        Self::Busy,
        Self::BusyThenOk,
        Self::Slow,
        Self::Delayed,
        Self::LooksLate,
        Self::Blocked,
        Self::Http500,
        Self::Garbage,
        Self::Truncated,
        Self::WrongMeter,
        Self::WrongReference,
        Self::Swapped,
        Self::MissingThenPresent,
    ];

    /// The behaviours after which the outcome of the order is unknown at first.
    pub const DOUBTFUL: [Self; 12] = [
        Self::LostReply,
        Self::LostRequest,
        Self::AlwaysLost,
        Self::Delayed,
        Self::LooksLate,
        Self::Http500,
        Self::Garbage,
        Self::Truncated,
        Self::WrongMeter,
        Self::WrongReference,
        Self::Swapped,
        Self::MissingThenPresent,
    ];

    /// The behaviours after which a further order is sent.
    pub const LOSING: [Self; 2] = [Self::LostRequest, Self::AlwaysLost];

    /// Later than the provider's deadline at the pace of fault injection.
    const LATE_MS: u32 = 1_800;
    /// Within that deadline.
    const SLOW_MS: u32 = 700;
    const EVERY_TIME: u32 = 1_000;

    /// The lines of the simulator's fault script.
    fn script(self) -> Vec<Value> {
        let once = |fault: &str| vec![json!({ "fault": fault })];
        let always = |fault: &str| vec![json!({ "fault": fault, "times": Self::EVERY_TIME })];
        let late = |fault: &str| vec![json!({ "fault": fault, "delay_ms": Self::LATE_MS })];
        match self {
            Self::Ordinary => Vec::new(),
            Self::LostReply => once("drop_after"),
            Self::LostRequest => once("drop_before"),
            Self::AlwaysLost => always("drop_before"),
            Self::Busy => always("busy"),
            Self::BusyThenOk => once("busy"),
            Self::Slow => vec![json!({ "fault": "delay", "delay_ms": Self::SLOW_MS })],
            Self::Delayed => late("delay"),
            Self::LooksLate => late("delay_before"),
            Self::Blocked => vec![json!({
                "fault": "refuse", "exception": "BlockedMeterEx", "text": "Account is blocked",
                "times": Self::EVERY_TIME
            })],
            Self::Http500 => once("http_500_after"),
            Self::Garbage => once("garbage"),
            Self::Truncated => once("truncated"),
            Self::WrongMeter => once("wrong_meter"),
            Self::WrongReference => once("wrong_reference"),
            Self::Swapped => vec![json!({ "fault": "swapped", "delay_ms": 900 })],
            Self::MissingThenPresent => {
                vec![json!({ "fault": "drop_after" }), json!({ "fault": "missing_then_present" })]
            }
        }
    }
}

/// A client of the simulator's own control interface.
#[derive(Clone, Debug)]
pub struct SimulatorClient {
    client: Client,
    url: String,
}

impl SimulatorClient {
    pub fn new(url: &str) -> Self {
        Self { client: http_client().unwrap(), url: url.to_owned() }
    }

    /// Sets the behaviour for the orders for this meter.
    pub async fn will(&self, meter: &str, behaviour: Behaviour) {
        for mut line in behaviour.script() {
            if let Some(fields) = line.as_object_mut() {
                fields.insert("subscriber".to_owned(), meter.into());
            }
            let request = self.client.post(format!("{}/faults", self.url));
            carried_out(request.header(CONTENT_TYPE, "application/json").body(line.to_string())).await;
        }
    }

    /// Lets every enquiry from now on take this long, whatever it is about.
    pub async fn answers_enquiries_after(&self, delay_ms: u32) {
        let line = json!({
            "fault": "delay", "operation": "enquiry", "times": u32::MAX, "delay_ms": delay_ms
        });
        let request = self.client.post(format!("{}/faults", self.url));
        carried_out(request.header(CONTENT_TYPE, "application/json").body(line.to_string())).await;
    }

    /// The requests that are open at the provider now, and the most that were open at a time since [`Self::counts_anew`].
    pub async fn load(&self) -> (u64, u64) {
        let answer = carried_out(self.client.get(format!("{}/load", self.url))).await;
        let load: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
        let count = |name| load.get(name).and_then(Value::as_u64).unwrap();
        (count("now"), count("most"))
    }

    /// Counts the most open requests anew.
    pub async fn counts_anew(&self) {
        carried_out(self.client.delete(format!("{}/load", self.url))).await;
    }

    /// The messages that customers have received.
    pub async fn inbox(&self) -> Vec<Letter> {
        let answer = carried_out(self.client.get(format!("{}/messages", self.url))).await;
        serde_json::from_str(&answer.text().await.unwrap()).unwrap()
    }

    /// Removes all faults that have not happened yet.
    pub async fn behaves(&self) {
        carried_out(self.client.delete(format!("{}/faults", self.url))).await;
    }
}

/// Sends the request until it was read. On a starved machine the simulator may close a connection before it reads the head,
/// with a 408.
async fn carried_out(request: RequestBuilder) -> Response {
    let mut answer = request.try_clone().unwrap().send().await.unwrap();
    for _ in 0..UNREAD_MAX {
        if answer.status() != StatusCode::REQUEST_TIMEOUT {
            break;
        }
        answer = request.try_clone().unwrap().send().await.unwrap();
    }
    assert!(answer.status().is_success(), "{answer:?}");
    answer
}
