//! The floods: connections that send unauthenticated requests from many addresses.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clock::{Clock, Monotonic, SystemClock};
use sandbox::Credentials;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::requests::{
    Sender, login_with_wrong_secret, malformed, read_with_unknown_token, refresh_with_unknown_token,
};
use crate::client::Client;

/// The connections of a flood whose senders wait for each answer.
const CONNECTIONS: u32 = 60;
/// The source addresses of a flood. Each has its own limit.
const ADDRESSES: u32 = 40;
/// The rate of requests with unknown access tokens. It does not depend on the answers.
const TOKENS_PER_SECOND: u64 = 700;
/// Enough connections to keep that rate, although the server delays an answer by a second when a limit is exceeded.
const TOKEN_CONNECTIONS: u32 = 1_000;
/// The pause after a connection that could not be opened.
const PAUSE: Duration = Duration::from_millis(50);

/// The kind of request that a flood sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flood {
    Logins,
    Tokens,
    Refreshes,
    Malformed,
}

impl Flood {
    pub const ALL: [Self; 4] = [Self::Logins, Self::Tokens, Self::Refreshes, Self::Malformed];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Logins => "logins, wrong secret",
            Self::Tokens => "unknown access tokens",
            Self::Refreshes => "refreshes, unknown token",
            Self::Malformed => "malformed requests",
        }
    }

    const fn connections(self) -> u32 {
        match self {
            Self::Tokens => TOKEN_CONNECTIONS,
            Self::Logins | Self::Refreshes | Self::Malformed => CONNECTIONS,
        }
    }

    fn request(self, sender: &Sender<'_>, credentials: &Credentials, number: u64) -> Vec<u8> {
        match self {
            Self::Logins => login_with_wrong_secret(sender, credentials, number),
            Self::Tokens => read_with_unknown_token(sender, number),
            Self::Refreshes => refresh_with_unknown_token(sender, credentials, number),
            Self::Malformed => malformed(sender, number),
        }
    }
}

/// The answers to a flood.
#[derive(Debug, Default)]
pub struct FloodOutcome {
    pub lasted: Duration,
    /// The number of answers with each status. 0 counts the connections that ended without an answer.
    pub statuses: BTreeMap<u16, u64>,
}

/// A running flood.
pub struct Attackers {
    connections: JoinSet<BTreeMap<u16, u64>>,
    ends: watch::Sender<bool>,
    began: Monotonic,
}

struct Plan {
    flood: Flood,
    address: Arc<str>,
    credentials: Credentials,
    began: Monotonic,
    sent: AtomicU64,
}

impl Attackers {
    pub fn begin(flood: Flood, address: &Arc<str>, credentials: &Credentials) -> Self {
        let began = SystemClock.monotonic();
        let credentials = credentials.clone();
        let plan = Plan { flood, address: address.clone(), credentials, began, sent: AtomicU64::new(1) };
        let (plan, (ends, end)) = (Arc::new(plan), watch::channel(false));
        let mut connections = JoinSet::new();
        for connection in 0..flood.connections() {
            connections.spawn(plan.clone().attack(connection, end.clone()));
        }
        Self { connections, ends, began }
    }

    /// Ends the flood and returns the answers.
    pub async fn end(mut self) -> FloodOutcome {
        let lasted = SystemClock.monotonic().elapsed_since(self.began);
        self.ends.send_replace(true);
        let mut statuses = BTreeMap::new();
        while let Some(outcome) = self.connections.join_next().await {
            for (status, times) in outcome.into_iter().flatten() {
                let counted: &mut u64 = statuses.entry(status).or_default();
                *counted = counted.saturating_add(times);
            }
        }
        FloodOutcome { lasted, statuses }
    }
}

impl Plan {
    /// One connection, which is opened again after it ends.
    async fn attack(self: Arc<Self>, connection: u32, end: watch::Receiver<bool>) -> BTreeMap<u16, u64> {
        let from = format!("203.0.113.{}", connection.rem_euclid(ADDRESSES).saturating_add(1));
        let (mut outcome, mut client) = (BTreeMap::new(), None);
        while !*end.borrow() {
            let number = self.sent.fetch_add(1, Ordering::Relaxed);
            self.wait_for_turn(number).await;
            let sender = Sender { address: &self.address, from: &from };
            let request = self.flood.request(&sender, &self.credentials, number);
            let status = exchange(&mut client, &self.address, &request).await;
            if status.is_none() {
                tokio::time::sleep(PAUSE).await;
            }
            let counted: &mut u64 = outcome.entry(status.unwrap_or_default()).or_default();
            *counted = counted.saturating_add(1);
        }
        outcome
    }

    /// Delays a request to its scheduled time, if the flood has a rate.
    async fn wait_for_turn(&self, number: u64) {
        if self.flood != Flood::Tokens {
            return;
        }
        let moment = Duration::from_micros(number.saturating_mul(1_000_000).div_euclid(TOKENS_PER_SECOND));
        let passed = SystemClock.monotonic().elapsed_since(self.began);
        tokio::time::sleep(moment.saturating_sub(passed)).await;
    }
}

/// Sends a request and returns the status of the answer. It opens a connection if there is none. The server may close
/// the connection after the answer.
async fn exchange(client: &mut Option<Client>, address: &str, request: &[u8]) -> Option<u16> {
    let mut connected = match client.take() {
        Some(connected) => connected,
        None => Client::connect(address).await.ok()?,
    };
    let answer = connected.exchange(request).await.ok()?;
    if !answer.closes {
        *client = Some(connected);
    }
    Some(answer.status)
}
