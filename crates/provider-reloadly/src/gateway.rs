//! The requests to the vendor. Every request has a pass.

use std::time::Duration;

use clock::SharedClock;
use provider::Gate;
use provider_http::header::{self, HeaderMap, HeaderValue};
use provider_http::{HttpReply, NoReply, Outgoing, Transport, TransportSettings, Url, below};

use crate::access::{Access, NoAccess, Pass};
use crate::phone::Phone;
use crate::settings::{ReloadlySettings, SettingsError};

/// The version of the vendor's API that this crate uses.
const ACCEPT: &str = "application/com.reloadly.topups-v1+json";

/// Why a question has no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    NoAccess(NoAccess),
    NoReply(NoReply),
}

/// The shared state of all requests to the vendor.
#[derive(Debug)]
pub(crate) struct Gateway {
    access: Access,
    base: Url,
    country: String,
    /// The maximum duration of a question that moves no money.
    enquiry_timeout: Duration,
}

impl Gateway {
    pub(crate) fn new(settings: &ReloadlySettings, clock: SharedClock) -> Result<Self, SettingsError> {
        Ok(Self {
            base: settings.topups_url()?,
            access: Access::new(settings, clock)?,
            country: settings.country()?.as_ref().to_owned(),
            enquiry_timeout: Duration::from_millis(settings.enquiry_timeout_ms),
        })
    }

    /// A pass for an order.
    pub(crate) async fn pass(&self, transport: &Transport) -> Result<Pass, NoAccess> {
        self.access.pass(transport, self.enquiry_timeout).await
    }

    /// Asks for the network of a number.
    pub(crate) async fn detect(&self, transport: &Transport, phone: &Phone) -> Result<HttpReply, Unread> {
        let path = ["operators", "auto-detect", "phone", phone.digits(), "countries", &self.country];
        self.read(transport, below(&self.base, path)).await
    }

    /// Asks for the report about an order.
    pub(crate) async fn report(&self, transport: &Transport, identifier: &str) -> Result<HttpReply, Unread> {
        self.transactions(transport, [("customIdentifier", identifier)]).await
    }

    /// Asks for the transactions that have these properties.
    pub(crate) async fn transactions<'a>(
        &self,
        transport: &Transport,
        query: impl IntoIterator<Item = (&'a str, &'a str)> + Send,
    ) -> Result<HttpReply, Unread> {
        let mut url = below(&self.base, ["topups", "reports", "transactions"]);
        url.query_pairs_mut().extend_pairs(query);
        self.read(transport, url).await
    }

    /// Asks for the balance of our account.
    pub(crate) async fn balance(&self, transport: &Transport) -> Result<HttpReply, Unread> {
        self.read(transport, below(&self.base, ["accounts", "balance"])).await
    }

    /// Sends an order once. If the vendor does not accept the pass, the next request gets a new one.
    pub(crate) async fn order(
        &self,
        transport: &Transport,
        pass: &Pass,
        body: Vec<u8>,
        gate: &Gate,
        within: Duration,
    ) -> Result<HttpReply, NoReply> {
        let mut headers = headers(pass);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let outgoing = Outgoing { url: below(&self.base, ["topups"]), headers, body };
        let reply = transport.post(outgoing, gate, within).await?;
        if reply.status == 401 {
            self.access.give_up(pass);
        }
        Ok(reply)
    }

    /// The country code for orders.
    pub(crate) fn country(&self) -> &str {
        &self.country
    }

    /// Sends a question. If the pass is not accepted, it is sent once more with a new pass. This is safe, because a
    /// question moves no money.
    async fn read(&self, transport: &Transport, url: Url) -> Result<HttpReply, Unread> {
        let asking = async {
            let pass = self.pass(transport).await.map_err(Unread::NoAccess)?;
            let reply = self.get(transport, &pass, url.clone()).await?;
            if reply.status != 401 {
                return Ok(reply);
            }
            self.access.give_up(&pass);
            let pass = self.pass(transport).await.map_err(Unread::NoAccess)?;
            self.get(transport, &pass, url).await
        };
        let in_time = tokio::time::timeout(self.enquiry_timeout, asking).await;
        in_time.unwrap_or(Err(Unread::NoReply(NoReply::TimedOut)))
    }

    async fn get(&self, transport: &Transport, pass: &Pass, url: Url) -> Result<HttpReply, Unread> {
        transport.get(url, headers(pass), self.enquiry_timeout).await.map_err(Unread::NoReply)
    }
}

/// A new transport to the vendor, with its own connections.
pub(crate) fn transport(settings: &ReloadlySettings) -> Result<Transport, SettingsError> {
    let addresses = [settings.token_url()?, settings.topups_url()?];
    let transport = Transport::new(TransportSettings {
        over_tls: addresses.iter().any(|address| address.scheme() == "https"),
        extra_root_certificate_pem: settings.extra_root_certificate_pem.as_deref(),
        ..TransportSettings::connecting_within(Duration::from_millis(settings.connect_timeout_ms))
    });
    transport.map_err(SettingsError::Client)
}

fn headers(pass: &Pass) -> HeaderMap {
    HeaderMap::from_iter([
        (header::ACCEPT, HeaderValue::from_static(ACCEPT)),
        (header::AUTHORIZATION, pass.header.clone()),
    ])
}
