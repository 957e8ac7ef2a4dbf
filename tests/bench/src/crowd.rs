//! Clients that send requests at the same time, each over a connection of its own that it keeps.

use std::{mem, time::Duration};

use clock::{Clock, SystemClock};

use crate::{
    Failure,
    client::Client,
    measurement::{Measurement, together},
};

/// Connected clients. Each sends one request again and again.
pub struct Crowd(Vec<Member>);

struct Member {
    client: Client,
    request: Vec<u8>,
    /// In the body of every right answer.
    proof: &'static str,
}

impl Crowd {
    /// Connects a client for each of the requests. `proof` is in the body of every right answer.
    pub async fn connect(
        address: &str,
        requests: impl IntoIterator<Item = Vec<u8>>,
        proof: &'static str,
    ) -> Result<Self, Failure> {
        let mut members = Vec::new();
        for request in requests {
            members.push(Member { client: Client::connect(address).await?, request, proof });
        }
        Ok(Self(members))
    }

    /// Lets every client send its request for a while, at least once. A wrong answer is a failure.
    pub async fn send_for(&mut self, length: Duration) -> Result<Measurement, Failure> {
        let members = mem::take(&mut self.0);
        let (members, measured) = together(members, |member| member.send_for(length)).await?;
        self.0 = members;
        Ok(measured)
    }
}

impl Member {
    async fn send_for(mut self, length: Duration) -> Result<(Self, Vec<Duration>), Failure> {
        let began = SystemClock.monotonic();
        let mut latencies = Vec::new();
        loop {
            let started = SystemClock.monotonic();
            let answer = self.client.exchange(&self.request).await?;
            let answered = SystemClock.monotonic();
            latencies.push(answered.elapsed_since(started));
            if answer.status != 200 || !answer.body.contains(self.proof) {
                return Err(format!("a request was answered {}: {}", answer.status, answer.body).into());
            }
            if answered.elapsed_since(began) >= length {
                return Ok((self, latencies));
            }
        }
    }
}
