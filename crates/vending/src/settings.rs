//! The settings of this crate: how long each step may take.

use std::time::Duration;

use certificate::SigningKey;
use chrono_tz::Tz;
use purchase::{RetryPlan, Timing};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use store::MESSAGES_PER_DAY;
use webhook::DestinationRules;
use zeroize::Zeroizing;

use crate::CertificateKeys;

/// The defaults were proven safe. Scale all lengths together or none. All programs of one database have the same ones.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VendingSettings {
    /// From before the reserve until the order must have been sent.
    pub gate_ms: u64,
    /// From the request's arrival until the order must have been sent.
    pub intake_ms: u64,
    /// The total deadline of one vend request, for all providers. Not shorter than their `enquiry_timeout_ms`.
    pub provider_timeout_ms: u64,
    /// How long no other process may take a purchase over from its holder. The holder renews it while it works.
    pub lease_ms: u64,
    /// The gap between two enquiries about one purchase that integrators' questions cause.
    pub enquiry_gap_ms: u64,
    /// The gap between two answers of "no record" that count.
    pub not_found_gap_ms: u64,
    /// How long no confirm buys under a reference about which a retry has answered "not found" or "failed".
    pub reference_rest_ms: u64,
    /// From the first send until nothing is sent any more.
    pub window_ms: u64,
    /// The shortest pause between two looks of the worker at a purchase in doubt.
    pub first_look_ms: u64,
    /// The longest pause between two such looks.
    pub longest_pause_ms: u64,
    /// From the first send of a purchase until each time from which the same order may be sent once more.
    pub repeats_ms: [u64; 5],
    /// From the first send until no order is repeated any more, where "no record" is declared to count.
    pub repeats_end_ms: u64,
    /// From the first send of a managed purchase until each of its five further attempts is due.
    pub attempts_ms: [u64; 5],
    /// How much longer than one vend a caller waits before it is answered that the outcome is unknown.
    pub patience_ms: u64,
    /// How long a customer check that passed may be used again.
    pub check_reuse_ms: u64,
    /// How long a catalogue may be used again.
    pub catalogue_reuse_ms: u64,
    /// How often an integrator may have the message with the token of one purchase sent again within a day. Zero: never. More
    /// than 10 counts as 10, which is the limit of the database.
    pub messages_per_day: u16,
}

/// Where the webhook endpoints of integrators may be. The server and the worker have the same ones.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WebhookSettings {
    /// Whether an endpoint may be `http://`. Only for tests: events would be readable on the network.
    pub allow_http: bool,
    /// Networks in which endpoints may be although they are not public, such as `["10.20.0.0/16"]`. Every integrator can then have
    /// requests sent there.
    pub allow_networks: Vec<String>,
}

/// The text is no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("webhooks.allow_networks has {0:?}, which is no network such as 10.20.0.0/16")]
pub struct BadNetwork(String);

impl WebhookSettings {
    /// The rules for the addresses of endpoints.
    pub fn rules(&self) -> Result<DestinationRules, BadNetwork> {
        let network = |text: &String| text.parse().map_err(|_no_network| BadNetwork(text.clone()));
        let allow_networks = self.allow_networks.iter().map(network).collect::<Result<_, _>>()?;
        Ok(DestinationRules { allow_http: self.allow_http, allow_networks })
    }
}

/// Certificates of the outcomes of purchases. All servers have the same ones.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CertificateSettings {
    /// The key that signs, as 64 hexadecimal digits. Without it the server issues no certificate and answers `certificates_disabled`.
    /// What was issued is shown all the same.
    pub key: Option<SecretString>,
    /// The names (`kid`) of keys that another party may have had. `/.well-known/jwks.json` leaves them out, so nothing that they have
    /// signed is verified any more.
    pub withdrawn: Vec<String>,
}

/// Why the settings of certificates cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCertificateSettings {
    /// The key has another form. It is not repeated.
    #[error("key is not 64 hexadecimal digits")]
    Malformed,
    /// The key that signs is withdrawn.
    #[error("withdrawn has the name of key itself: make a new key")]
    SignsWithWithdrawn,
    /// The text is no name of a key.
    #[error("withdrawn has {0:?}, which is no kid of /.well-known/jwks.json")]
    NoName(String),
}

impl CertificateSettings {
    /// The length of the name of a key: a SHA-256 in base64url.
    const NAME_LENGTH: usize = 43;

    /// The keys of these settings.
    pub fn keys(&self) -> Result<CertificateKeys, BadCertificateSettings> {
        let signing = self.key.as_ref().map(signing_key).transpose()?;
        if let Some(text) = self.withdrawn.iter().find(|text| text.len() != Self::NAME_LENGTH) {
            return Err(BadCertificateSettings::NoName(text.clone()));
        }
        let own = signing.as_ref().map(|key| key.public_key().id());
        if own.is_some_and(|own| self.withdrawn.iter().any(|name| name == own.as_str())) {
            return Err(BadCertificateSettings::SignsWithWithdrawn);
        }
        Ok(CertificateKeys::new(signing, self.withdrawn.clone()))
    }
}

fn signing_key(digits: &SecretString) -> Result<SigningKey, BadCertificateSettings> {
    let mut seed = Zeroizing::new([0; SigningKey::SEED_LENGTH]);
    hex::decode_to_slice(digits.expose_secret(), seed.as_mut_slice())
        .map_err(|_names_a_digit| BadCertificateSettings::Malformed)?;
    Ok(SigningKey::from_seed(&seed))
}

/// How much work a worker takes on at a time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkerSettings {
    /// The maximum number of purchases of one provider that this worker handles at a time. All workers together handle no more
    /// than the slots that are declared for the provider (`vendctl provider declare --worker-slots`), and each its share of them.
    /// A provider that hangs takes no other provider's slots.
    pub slots_per_provider: u16,
    /// How long a worker waits before it looks for work again, if there was none.
    pub idle_pause_ms: u64,
    /// How many seconds the work in progress has to end before the process ends.
    pub drain_s: u64,
    /// The IANA name of the time zone of the service, as `web.time_zone` of the server. The references of what is bought for batches
    /// have the year and month of this zone.
    pub time_zone: String,
}

/// The text is no time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("worker.time_zone is {0:?}, which is not the IANA name of a time zone")]
pub struct BadTimeZone(String);

impl Default for WorkerSettings {
    fn default() -> Self {
        // The deadline of one vend, and thirty seconds to settle it.
        Self {
            slots_per_provider: 64,
            idle_pause_ms: 1_000,
            drain_s: 150,
            time_zone: "Africa/Gaborone".to_owned(),
        }
    }
}

impl WorkerSettings {
    /// The names of the settings that are zero and must not be.
    pub fn zeros(&self) -> impl Iterator<Item = &'static str> {
        let lengths = [
            ("slots_per_provider", self.slots_per_provider == 0),
            ("idle_pause_ms", self.idle_pause_ms == 0),
        ];
        lengths.into_iter().filter_map(|(name, is_zero)| is_zero.then_some(name))
    }

    /// The time zone of the service.
    ///
    /// # Errors
    /// If there is no such zone.
    pub fn zone(&self) -> Result<Tz, BadTimeZone> {
        self.time_zone.parse().map_err(|_unknown| BadTimeZone(self.time_zone.clone()))
    }

    pub(crate) const fn idle_pause(&self) -> Duration {
        Duration::from_millis(self.idle_pause_ms)
    }

    pub(crate) const fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_s)
    }
}

impl Default for VendingSettings {
    fn default() -> Self {
        let timing = Timing::default();
        Self {
            gate_ms: milliseconds(timing.gate),
            intake_ms: milliseconds(timing.intake),
            provider_timeout_ms: milliseconds(timing.provider_timeout),
            lease_ms: milliseconds(timing.lease),
            enquiry_gap_ms: milliseconds(timing.enquiry_gap),
            not_found_gap_ms: milliseconds(timing.not_found_gap),
            reference_rest_ms: milliseconds(timing.reference_rest),
            window_ms: milliseconds(timing.window),
            first_look_ms: milliseconds(timing.plan.first_look),
            longest_pause_ms: milliseconds(timing.plan.longest_pause),
            repeats_ms: timing.plan.repeats.map(milliseconds),
            repeats_end_ms: milliseconds(timing.plan.repeats_end),
            attempts_ms: timing.plan.attempts.map(milliseconds),
            patience_ms: 30_000,
            check_reuse_ms: 60_000,
            catalogue_reuse_ms: 5_000,
            messages_per_day: MESSAGES_PER_DAY.into(),
        }
    }
}

impl VendingSettings {
    /// The names of the settings that are zero and must not be.
    pub fn zeros(&self) -> impl Iterator<Item = &'static str> {
        (self.gate_ms == 0).then_some("gate_ms").into_iter()
    }

    /// The time chain.
    pub fn timing(&self) -> Timing {
        Timing {
            gate: Duration::from_millis(self.gate_ms),
            intake: Duration::from_millis(self.intake_ms),
            provider_timeout: Duration::from_millis(self.provider_timeout_ms),
            lease: Duration::from_millis(self.lease_ms),
            enquiry_gap: Duration::from_millis(self.enquiry_gap_ms),
            not_found_gap: Duration::from_millis(self.not_found_gap_ms),
            reference_rest: Duration::from_millis(self.reference_rest_ms),
            window: Duration::from_millis(self.window_ms),
            plan: RetryPlan {
                first_look: Duration::from_millis(self.first_look_ms),
                longest_pause: Duration::from_millis(self.longest_pause_ms),
                repeats: self.repeats_ms.map(Duration::from_millis),
                repeats_end: Duration::from_millis(self.repeats_end_ms),
                attempts: self.attempts_ms.map(Duration::from_millis),
            },
        }
    }

    /// The maximum time that a caller waits.
    pub(crate) fn longest_wait(&self) -> Duration {
        Duration::from_millis(self.provider_timeout_ms.saturating_add(self.patience_ms))
    }

    pub(crate) const fn check_reuse(&self) -> Duration {
        Duration::from_millis(self.check_reuse_ms)
    }

    pub(crate) const fn catalogue_reuse(&self) -> Duration {
        Duration::from_millis(self.catalogue_reuse_ms)
    }
}

fn milliseconds(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_withdrawn_key_does_not_sign_and_a_key_is_not_shown() {
        let settings = |key: &str, withdrawn: &[&str]| CertificateSettings {
            key: Some(key.into()),
            withdrawn: withdrawn.iter().map(|name| (*name).to_owned()).collect(),
        };
        let digits = "07".repeat(32);
        let own = SigningKey::from_seed(&[7; 32]).public_key().id();
        let other = SigningKey::from_seed(&[8; 32]).public_key().id();
        let judged = |settings: CertificateSettings| settings.keys().map(drop);
        assert_eq!(judged(CertificateSettings::default()), Ok(()));
        assert_eq!(judged(settings(&digits, &[other.as_str()])), Ok(()));
        assert_eq!(
            judged(settings(&digits, &[own.as_str()])),
            Err(BadCertificateSettings::SignsWithWithdrawn)
        );
        assert_eq!(judged(settings("hunter2", &[])), Err(BadCertificateSettings::Malformed));
        let no_name = Err(BadCertificateSettings::NoName("2025".to_owned()));
        assert_eq!(judged(settings(&digits, &["2025"])), no_name);
        assert!(!format!("{:?}", settings(&digits, &[])).contains(&digits));
    }

    #[test]
    fn a_worker_that_would_spin_or_never_work_is_refused() {
        let default = WorkerSettings::default;
        let zeros = |settings: WorkerSettings| settings.zeros().collect::<Vec<_>>();
        assert_eq!(zeros(WorkerSettings { idle_pause_ms: 1, ..default() }), [""; 0]);
        let idle = WorkerSettings { idle_pause_ms: 0, slots_per_provider: 0, ..default() };
        assert_eq!(zeros(idle), ["slots_per_provider", "idle_pause_ms"]);
    }
}
