//! The settings of the console.

use boot::{BadListenAddress, Review, TelemetrySettings, check_listen_address};
use database::DatabaseSettings;
use operator_commands::CommandSettings;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use store::SealingSettings;
use url::{Host, Url};

/// All settings of the console.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The console itself.
    pub console: ConsoleSettings,
    /// The servers' keys. Only the approval of a vend that has a token needs them.
    #[serde(default)]
    pub sealing: Option<SealingSettings>,
    /// The OpenID provider at which operators sign in. Without it they sign in with links only.
    #[serde(default)]
    pub openid: Option<OpenIdSettings>,
    /// The log.
    #[serde(default)]
    pub telemetry: TelemetrySettings,
}

/// Where the console listens, and how it reaches the database.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConsoleSettings {
    /// `postgres://login:password@host/name`, where the login is a member of `vendgate_console` and of no other role. It only takes
    /// the links of operators; everything else is done with the login of the person who is signed in.
    pub database_url: SecretString,
    /// The address and the port on which the console listens. Port 0 takes a free port.
    /// Without it, `127.0.0.1:8090`.
    #[serde(default)]
    pub listen: Option<String>,
    /// Where browsers reach the console, without a slash at its end. Its cookie is for HTTPS only, unless this is a loopback address
    /// without HTTPS. Without it, `http://127.0.0.1:8090`.
    #[serde(default)]
    pub public_url: Option<String>,
    /// The zone of times that are shown, and of those that are typed without an offset, by its IANA name: that of the servers.
    /// Without it, `Africa/Gaborone`.
    #[serde(default)]
    pub time_zone: Option<String>,
    /// The greatest amount of one payment or correction, in any currency. Without it, `10000000.00`.
    #[serde(default)]
    pub amount_max: Option<String>,
    /// How often the message with the token of one purchase may be sent again within a day, by integrators and operators together:
    /// what the servers have as `messages_per_day`. Without it, 3. Zero: never. More than 10 counts as 10.
    #[serde(default)]
    pub messages_per_day: Option<u16>,
}

/// An OpenID provider at which operators sign in to the console.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenIdSettings {
    /// The provider, exactly as it names itself, such as `https://id.example`. It must be reached over HTTPS, or on this machine.
    pub issuer: String,
    /// The console as a client of the provider. The address to which the provider sends browsers back is `/sign-in/openid/done` below
    /// `console.public_url`.
    pub client_id: String,
    /// The secret of that client.
    pub client_secret: SecretString,
}

const USUAL_LISTEN: &str = "127.0.0.1:8090";
const USUAL_PUBLIC_URL: &str = "http://127.0.0.1:8090";

/// Browsers would send the cookie over a network that others can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "public_url must be an https address without a slash at its end, or an http address of this machine such as http://127.0.0.1:8090"
)]
pub struct BadPublicUrl;

/// Others could read or change what the provider says, or it cannot be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadOpenId {
    /// The provider is not reached safely.
    #[error(
        "issuer must be an https address without a query, such as https://id.example, or an http address of this machine"
    )]
    Issuer,
    /// The client is not named.
    #[error(
        "client_id and client_secret must not be empty: they are those that the provider has given to the console"
    )]
    Client,
}

impl Settings {
    pub(crate) fn review(&self, review: &mut Review) {
        let console = &self.console;
        review.section("console", || DatabaseSettings::for_database(console.database_url.clone()).checked());
        review.section("console", || console.check_listen());
        review.section("console", || console.is_encrypted().map(drop));
        review.section("console", || console.commands(None).checked());
        if let Some(sealing) = &self.sealing {
            review.section("sealing", || sealing.keys().map(drop));
        }
        if let Some(openid) = &self.openid {
            review.section("openid", || openid.checked());
        }
        review.section("telemetry", || self.telemetry.checked());
    }
}

impl ConsoleSettings {
    fn check_listen(&self) -> Result<(), BadListenAddress> {
        check_listen_address(self.listen())
    }

    pub(crate) fn listen(&self) -> &str {
        self.listen.as_deref().unwrap_or(USUAL_LISTEN)
    }

    /// Whether browsers reach the console over HTTPS.
    pub(crate) fn is_encrypted(&self) -> Result<bool, BadPublicUrl> {
        let public_url = self.public_url();
        let url = Url::parse(public_url).map_err(|_not_an_address| BadPublicUrl)?;
        if public_url.ends_with('/') || !is_safe(&url) {
            return Err(BadPublicUrl);
        }
        Ok(url.scheme() == "https")
    }

    pub(crate) fn public_url(&self) -> &str {
        self.public_url.as_deref().unwrap_or(USUAL_PUBLIC_URL)
    }

    pub(crate) fn commands(&self, sealing: Option<SealingSettings>) -> CommandSettings {
        CommandSettings {
            time_zone: self.time_zone.clone(),
            amount_max: self.amount_max.clone(),
            messages_per_day: self.messages_per_day,
            sealing,
            ..CommandSettings::default()
        }
    }
}

impl OpenIdSettings {
    fn checked(&self) -> Result<(), BadOpenId> {
        let issuer = Url::parse(&self.issuer).ok();
        let is_usable = |url: &Url| is_safe(url) && url.query().is_none() && url.fragment().is_none();
        issuer.filter(is_usable).ok_or(BadOpenId::Issuer)?;
        if self.client_id.is_empty() || self.client_secret.expose_secret().is_empty() {
            return Err(BadOpenId::Client);
        }
        Ok(())
    }
}

/// Whether no other machine can read or change what is sent there: it is HTTPS, or it is on this machine.
pub(crate) fn is_safe(url: &Url) -> bool {
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_here)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(public_url: &str) -> Result<bool, BadPublicUrl> {
        let settings = ConsoleSettings {
            database_url: SecretString::default(),
            listen: None,
            public_url: Some(public_url.to_owned()),
            time_zone: None,
            amount_max: None,
            messages_per_day: None,
        };
        settings.is_encrypted()
    }

    #[test]
    fn only_this_machine_is_reached_without_https() {
        assert_eq!(at("https://console.example"), Ok(true));
        for here in ["http://127.0.0.1:8090", "http://localhost:1", "http://[::1]:8090"] {
            assert_eq!(at(here), Ok(false), "{here}");
        }
        for url in
            ["http://console.example", "https://console.example/", "console.example", "ftp://127.0.0.1"]
        {
            assert_eq!(at(url), Err(BadPublicUrl), "{url}");
        }
    }
    #[test]
    fn an_openid_provider_is_reached_safely_and_knows_the_console() {
        let with = |issuer: &str, client_id: &str, client_secret: &str| {
            let settings = OpenIdSettings {
                issuer: issuer.to_owned(),
                client_id: client_id.to_owned(),
                client_secret: client_secret.into(),
            };
            settings.checked()
        };
        for issuer in ["https://id.example", "https://id.example/realms/staff/", "http://127.0.0.1:3000"] {
            assert_eq!(with(issuer, "console", "s"), Ok(()), "{issuer}");
        }
        for issuer in ["http://id.example", "id.example", "https://id.example?a=b", ""] {
            assert_eq!(with(issuer, "console", "s"), Err(BadOpenId::Issuer), "{issuer}");
        }
        for (client_id, client_secret) in [("", "s"), ("console", "")] {
            assert_eq!(with("https://id.example", client_id, client_secret), Err(BadOpenId::Client));
        }
    }
}
