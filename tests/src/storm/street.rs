//! The simulated utility, told how to misbehave for one meter.

use reqwest::{Client, header::CONTENT_TYPE};
use sandbox::http_client;
use serde_json::{Value, json};

use crate::checker::Letter;

/// What a provider does with the orders for one meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Behaviour {
    /// Vends and says so.
    Ordinary,
    /// Vends, and the answer is lost.
    LostReply,
    /// The first order is lost.
    LostRequest,
    /// Every order is lost.
    AlwaysLost,
    /// Is always too busy.
    Busy,
    /// Is too busy once.
    BusyThenOk,
    /// Vends, and takes as long about it as it may.
    Slow,
    /// Vends, and answers when nobody waits any more.
    Delayed,
    /// Looks at the order, and vends, when nobody waits any more.
    LooksLate,
    /// Refuses for good.
    Blocked,
    /// Vends, and answers HTTP 500.
    Http500,
    /// Vends, and answers what nobody can read.
    Garbage,
    /// Vends, and answers half.
    Truncated,
    /// Vends, and answers about another meter.
    WrongMeter,
    /// Vends, and answers under another reference.
    WrongReference,
    /// Vends twice, and changes the answers round.
    Swapped,
    /// Vends, loses the answer, and says once that there is no such order.
    MissingThenPresent,
}

impl Behaviour {
    /// All of them.
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

    /// Those after which nobody knows at first what became of the order.
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

    /// Those after which a further order is sent.
    pub const LOSING: [Self; 2] = [Self::LostRequest, Self::AlwaysLost];

    /// Later than the provider's deadline at the storm's pace.
    const LATE_MS: u32 = 1_800;
    /// Within that deadline.
    const SLOW_MS: u32 = 700;
    const EVERY_TIME: u32 = 1_000;

    /// The lines of the simulator's script.
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

/// The simulator's own interface.
#[derive(Clone, Debug)]
pub struct Street {
    client: Client,
    url: String,
}

impl Street {
    pub fn new(url: &str) -> Self {
        Self { client: http_client().unwrap(), url: url.to_owned() }
    }

    /// From now on it does so with the orders for this meter.
    pub async fn will(&self, meter: &str, behaviour: Behaviour) {
        for mut line in behaviour.script() {
            if let Some(fields) = line.as_object_mut() {
                fields.insert("subscriber".to_owned(), meter.into());
            }
            let request = self.client.post(format!("{}/faults", self.url));
            let request = request.header(CONTENT_TYPE, "application/json").body(line.to_string());
            let answer = request.send().await.unwrap();
            assert!(answer.status().is_success(), "{answer:?}");
        }
    }

    /// What people have received.
    pub async fn inbox(&self) -> Vec<Letter> {
        let answer = self.client.get(format!("{}/messages", self.url)).send().await.unwrap();
        serde_json::from_str(&answer.text().await.unwrap()).unwrap()
    }

    /// Everything that was to go wrong and has not yet goes right.
    pub async fn behaves(&self) {
        let answer = self.client.delete(format!("{}/faults", self.url)).send().await.unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
    }
}
