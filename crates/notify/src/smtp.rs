//! E-mail over SMTP.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::PoolConfig;
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Tokio1Executor};
use secrecy::ExposeSecret;

use crate::{EmailSettings, Gateway, GatewayError, Letter, MailSecurity, Undelivered};

/// The enhanced codes that refuse this mailbox for good (RFC 3463, section 3.2; RFC 7505). The three-digit code alone
/// is not enough: a server that refuses to relay also answers 550. Of the other codes about addresses, 5.1.0 may
/// concern the sender, and 5.1.7 and 5.1.8 do. The operator can correct the sender.
const NO_SUCH_MAILBOX: [&str; 6] = ["5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.1.6", "5.1.10"];

/// Longer than a burst of messages, and shorter than the time for which servers keep an idle connection.
const IDLE_CONNECTION: Duration = Duration::from_secs(20);

/// A mail server.
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    timeout: Duration,
    host: String,
}

impl Smtp {
    /// Prepares the client. Opens no connection yet.
    pub fn new(settings: &EmailSettings) -> Result<Self, GatewayError> {
        let timeout = Duration::from_millis(settings.timeout_ms);
        let parameters = || TlsParameters::new(settings.host.clone()).map_err(GatewayError::Smtp);
        let tls = match settings.security {
            MailSecurity::None => Tls::None,
            MailSecurity::StartTls => Tls::Required(parameters()?),
            MailSecurity::Tls => Tls::Wrapper(parameters()?),
        };
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&settings.host)
            .port(settings.port())
            .tls(tls)
            .timeout(Some(timeout))
            .pool_config(PoolConfig::new().idle_timeout(IDLE_CONNECTION));
        if let (Some(username), Some(password)) = (&settings.username, &settings.password) {
            let credentials = Credentials::new(username.clone(), password.expose_secret().to_owned());
            transport = transport.credentials(credentials);
        }
        let (from, host) = (settings.from.clone(), settings.host.clone());
        Ok(Self { transport: transport.build(), from, timeout, host })
    }

    fn message(&self, letter: &Letter) -> Result<Message, Undelivered> {
        let unusable = |what: &str| Undelivered::Refused { said: what.to_owned() };
        let to: Address = letter.to.parse().map_err(|_malformed| unusable("not an address"))?;
        let automatic =
            HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned());
        Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(letter.subject.as_str())
            // The same for every repeat, so that a mail client can recognise a duplicate.
            .message_id(Some(format!("<{}@{}>", letter.id, self.from.email.domain())))
            .date(letter.written_at.into())
            .raw_header(automatic)
            .header(ContentType::TEXT_PLAIN)
            .body(letter.text.clone())
            .map_err(|_incomplete| unusable("not a message"))
    }
}

#[async_trait]
impl Gateway for Smtp {
    async fn send(&self, letter: &Letter) -> Result<(), Undelivered> {
        let message = self.message(letter)?;
        // Each command has a timeout. This one limits the whole exchange.
        match tokio::time::timeout(self.timeout, self.transport.send(message)).await {
            Ok(Ok(_accepted)) => Ok(()),
            Ok(Err(error)) => Err(verdict(&error)),
            Err(_elapsed) => Err(Undelivered::Later { said: "no answer in time".to_owned() }),
        }
    }
}

impl fmt::Debug for Smtp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Smtp").field("host", &self.host).finish_non_exhaustive()
    }
}

/// Includes only the codes of the server's reply: its text may contain the address.
fn verdict(error: &lettre::transport::smtp::Error) -> Undelivered {
    match error.status() {
        Some(code) => match no_such_mailbox(error) {
            Some(enhanced) => Undelivered::Refused { said: format!("{code} {enhanced}") },
            None => Undelivered::Later { said: code.to_string() },
        },
        None if error.is_timeout() => Undelivered::Later { said: "no answer in time".to_owned() },
        None if error.is_tls() => Undelivered::Later { said: "no TLS".to_owned() },
        None => Undelivered::Later { said: "the connection broke".to_owned() },
    }
}

/// The enhanced code with which a permanent refusal of this mailbox begins (RFC 2034, section 4).
fn no_such_mailbox(error: &lettre::transport::smtp::Error) -> Option<&'static str> {
    let said = error.source().filter(|_| error.is_permanent())?.to_string();
    let enhanced = said.split_whitespace().next()?;
    NO_SUCH_MAILBOX.into_iter().find(|code| *code == enhanced)
}
