//! The settings of messages.

use std::fmt;
use std::time::Duration;

use chrono_tz::Tz;
use lettre::message::Mailbox;
use secrecy::SecretString;
use serde::Deserialize;
use store::ClaimedMessage;
use url::Url;

/// A channel whose section is missing is off: its messages are left to other workers. They are
/// given up when no worker has claimed them for a while, and the outbox records that.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NotifySettings {
    /// The SMS gateway.
    pub sms: Option<SmsSettings>,
    /// The mail server.
    pub email: Option<EmailSettings>,
    /// The zone in which messages write dates, by its IANA name.
    pub time_zone: Tz,
    /// How long a channel waits after a pass that found nothing due, in milliseconds.
    pub poll_ms: u64,
    /// How many messages of a channel are claimed, and under way, at once.
    pub at_once: u16,
    /// How long a worker has a claimed message to itself, in milliseconds. More than twice the timeout of every
    /// gateway.
    pub lease_ms: u64,
    /// The pause after the first failure, in milliseconds. Each next pause is twice as long. Each is shortened by up to
    /// half, so that messages that failed together are not sent again together.
    pub first_pause_ms: u64,
    /// The longest pause between two tries of a message, in milliseconds.
    pub longest_pause_ms: u64,
    /// How often a message is tried.
    pub attempts_max: u16,
    /// How long a message is of use, in milliseconds.
    pub useful_for_ms: u64,
    /// How long after its due time a message whose channel is off here is left to workers with a gateway for it, in
    /// milliseconds.
    pub unserved_for_ms: u64,
}

/// A Kannel smsbox.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmsSettings {
    /// Its `sendsms` address, such as `http://127.0.0.1:13013/cgi-bin/sendsms`.
    pub url: Url,
    /// The user name.
    pub username: String,
    /// The password.
    pub password: SecretString,
    /// The sender of the messages: a number, or a word if the network accepts one.
    pub from: String,
    /// The text before the country code of a number.
    #[serde(default = "plus")]
    pub number_prefix: String,
    /// Longest wait for an answer, in milliseconds.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

/// A mail server that is reached over SMTP.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmailSettings {
    /// Its host name, which its certificate must contain.
    pub host: String,
    /// Its port. By default the usual port for `security`.
    pub port: Option<u16>,
    /// How the connection is secured.
    #[serde(default)]
    pub security: MailSecurity,
    /// The user name, if the server requires one.
    pub username: Option<String>,
    /// The password.
    pub password: Option<SecretString>,
    /// The sender of the messages, such as `Vendgate <receipts@operator.example>`.
    pub from: Mailbox,
    /// Longest wait until the server has accepted a message, in milliseconds.
    #[serde(default = "twenty_seconds")]
    pub timeout_ms: u64,
}

/// How a connection to a mail server is secured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailSecurity {
    /// STARTTLS is required: usually port 587.
    #[default]
    StartTls,
    /// TLS from the first byte: usually port 465.
    Tls,
    /// No security, for a server on this machine: usually port 25.
    None,
}

/// Why the settings cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotifySettingsError {
    /// The store does not count that many attempts.
    #[error("notify.attempts_max must be at most 32766")]
    Countless,
    /// A second worker could claim a message that the first is still sending.
    #[error("notify.lease_ms must be more than twice the timeout of every gateway")]
    ShortLease,
    /// The first pause is longer than the longest.
    #[error("notify.first_pause_ms must not be more than notify.longest_pause_ms")]
    Pauses,
    /// The user name is set without the password, or the reverse.
    #[error("notify.email.username and notify.email.password must be set together")]
    HalfCredentials,
    /// The password would be readable on the network.
    #[error("notify.email has a password and no security")]
    OpenPassword,
}

impl NotifySettings {
    /// Checks that the settings can be used together.
    pub fn checked(&self) -> Result<(), NotifySettingsError> {
        if self.attempts_max >= ClaimedMessage::ATTEMPTS_COUNTED {
            return Err(NotifySettingsError::Countless);
        }
        if self.first_pause_ms > self.longest_pause_ms {
            return Err(NotifySettingsError::Pauses);
        }
        let timeouts =
            [self.sms.as_ref().map(|sms| sms.timeout_ms), self.email.as_ref().map(|email| email.timeout_ms)];
        if timeouts.into_iter().flatten().any(|timeout| timeout.saturating_mul(2) >= self.lease_ms) {
            return Err(NotifySettingsError::ShortLease);
        }
        self.email.as_ref().map_or(Ok(()), EmailSettings::checked)
    }

    /// The names of the settings that are zero and must not be.
    pub fn zeros(&self) -> impl Iterator<Item = &'static str> {
        let is_zero = |number: Option<u64>| number == Some(0);
        let (sms, email) = (self.sms.as_ref(), self.email.as_ref());
        let lengths = [
            ("poll_ms", self.poll_ms == 0),
            ("at_once", self.at_once == 0),
            ("lease_ms", self.lease_ms == 0),
            ("first_pause_ms", self.first_pause_ms == 0),
            ("attempts_max", self.attempts_max == 0),
            ("useful_for_ms", self.useful_for_ms == 0),
            ("sms.timeout_ms", is_zero(sms.map(|sms| sms.timeout_ms))),
            ("email.port", is_zero(email.and_then(|email| email.port).map(u64::from))),
            ("email.timeout_ms", is_zero(email.map(|email| email.timeout_ms))),
        ];
        lengths.into_iter().filter_map(|(name, is_zero)| is_zero.then_some(name))
    }

    /// The longest pause after this many failures. The pause itself may be half as long.
    pub(crate) fn pause_after(&self, attempts: u16) -> Duration {
        let doublings = u32::from(attempts.saturating_sub(1)).min(32);
        let pause = self.first_pause_ms.saturating_mul(1_u64 << doublings);
        Duration::from_millis(pause.min(self.longest_pause_ms))
    }

    pub(crate) const fn lease(&self) -> Duration {
        Duration::from_millis(self.lease_ms)
    }

    pub(crate) const fn poll(&self) -> Duration {
        Duration::from_millis(self.poll_ms)
    }

    pub(crate) const fn unserved_for(&self) -> Duration {
        Duration::from_millis(self.unserved_for_ms)
    }

    pub(crate) const fn useful_for(&self) -> Duration {
        Duration::from_millis(self.useful_for_ms)
    }
}

impl Default for NotifySettings {
    fn default() -> Self {
        Self {
            sms: None,
            email: None,
            time_zone: Tz::Africa__Gaborone,
            poll_ms: 1_000,
            at_once: 16,
            lease_ms: 120_000,
            first_pause_ms: 15_000,
            longest_pause_ms: 900_000,
            attempts_max: 100,
            useful_for_ms: 86_400_000,
            unserved_for_ms: 3_600_000,
        }
    }
}

impl EmailSettings {
    const fn checked(&self) -> Result<(), NotifySettingsError> {
        match (&self.username, &self.password, self.security) {
            (Some(_), Some(_), MailSecurity::None) => Err(NotifySettingsError::OpenPassword),
            (Some(_), Some(_), MailSecurity::StartTls | MailSecurity::Tls) | (None, None, _) => Ok(()),
            (Some(_), None, _) | (None, Some(_), _) => Err(NotifySettingsError::HalfCredentials),
        }
    }

    pub(crate) const fn port(&self) -> u16 {
        match (self.port, self.security) {
            (Some(port), _) => port,
            (None, MailSecurity::StartTls) => 587,
            (None, MailSecurity::Tls) => 465,
            (None, MailSecurity::None) => 25,
        }
    }
}

impl fmt::Debug for SmsSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("SmsSettings")
            .field("host", &self.url.host_str())
            .field("number_prefix", &self.number_prefix)
            .field("timeout_ms", &self.timeout_ms)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for EmailSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("EmailSettings")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("security", &self.security)
            .field("timeout_ms", &self.timeout_ms)
            .finish_non_exhaustive()
    }
}

fn plus() -> String {
    "+".to_owned()
}

const fn ten_seconds() -> u64 {
    10_000
}

const fn twenty_seconds() -> u64 {
    20_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn email(security: MailSecurity, username: Option<&str>, password: Option<&str>) -> NotifySettings {
        let email = EmailSettings {
            host: "mail.example".into(),
            port: None,
            security,
            username: username.map(str::to_owned),
            password: password.map(Into::into),
            from: "Vendgate <receipts@operator.example>".parse().unwrap(),
            timeout_ms: 20_000,
        };
        NotifySettings { email: Some(email), ..NotifySettings::default() }
    }

    #[test]
    fn the_defaults_can_be_used() {
        assert_eq!(NotifySettings::default().checked(), Ok(()));
        assert_eq!(email(MailSecurity::StartTls, Some("a"), Some("b")).checked(), Ok(()));
    }

    #[test]
    fn what_could_not_work_is_refused() {
        let default = NotifySettings::default;
        for (settings, why) in [
            (NotifySettings { attempts_max: 32_767, ..default() }, NotifySettingsError::Countless),
            (NotifySettings { first_pause_ms: 900_001, ..default() }, NotifySettingsError::Pauses),
            (
                NotifySettings { lease_ms: 40_000, ..email(MailSecurity::None, None, None) },
                NotifySettingsError::ShortLease,
            ),
            (email(MailSecurity::Tls, Some("a"), None), NotifySettingsError::HalfCredentials),
            (email(MailSecurity::None, Some("a"), Some("b")), NotifySettingsError::OpenPassword),
        ] {
            assert_eq!(settings.checked(), Err(why));
        }
    }

    #[test]
    fn a_notifier_that_would_never_send_or_never_pause_is_refused() {
        let mut settings = email(MailSecurity::Tls, None, None);
        assert_eq!(settings.zeros().count(), 0);
        settings.email.as_mut().unwrap().port = Some(0);
        let settings = NotifySettings { at_once: 0, poll_ms: 0, first_pause_ms: 0, ..settings };
        assert_eq!(
            settings.zeros().collect::<Vec<_>>(),
            ["poll_ms", "at_once", "first_pause_ms", "email.port"]
        );
    }

    #[test]
    fn every_pause_is_twice_the_last_until_the_longest() {
        let settings = NotifySettings::default();
        let seconds = [1, 2, 3, 6, 7, 100, u16::MAX].map(|attempt| settings.pause_after(attempt).as_secs());
        assert_eq!(seconds, [15, 30, 60, 480, 900, 900, 900]);
    }
}
