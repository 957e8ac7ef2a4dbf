//! Authentication and permissions of callers.
//!
//! The servers use [`Identity`]. It exchanges credentials for tokens ([`Identity::login`], [`Identity::refresh`]) and
//! tokens for callers ([`Identity::authenticate`]). The operator's tools use [`Onboarding`], which registers
//! organisations, clients and users.
//!
//! The password grant is obsolete for people in browsers (RFC 9700, section 2.4). It is used here for integrators' own
//! servers, where a password is useless without a client secret of 256 random bits.

mod authenticate;
mod caller;
mod callers;
mod credential;
mod entropy;
mod login;
mod onboarding;
mod password;
mod permission;
mod refresh;
mod refused;
mod settings;
mod successors;

pub use authenticate::{AuthError, Recalled};
pub use caller::{Caller, CallerOrganisation, CallerUser};
pub use credential::{AccessToken, ClientSecret, Credential, CredentialKind, RefreshToken};
pub use directory::{
    AuditContext, ClientRecord, Environment, OrganisationRecord, Party, Role, SecretRecord, Status,
    UserRecord,
};
pub use entropy::{Entropy, EntropyError, SystemEntropy};
pub use login::{IssuedTokens, LoginCredentials, LoginError};
pub use onboarding::{ClientCredentials, Onboarding, OnboardingError, RotatedSecret, UserDetails};
pub use password::HashError;
pub use permission::{Permission, scope};
pub use refresh::{ClientProof, RefreshCredentials};
pub use settings::{IdentitySettings, IdentitySettingsError};

use std::{fmt, sync::Arc, time::Duration};

use callers::Callers;
use clock::SharedClock;
use database::Database;
use password::Passwords;
use refused::RefusedTokens;
use successors::SuccessorKey;

/// How long an invalid token is refused without asking the database again.
const REFUSED_KEPT: Duration = Duration::from_mins(1);

/// The servers' authentication service. One per process, shared by reference.
pub struct Identity {
    database: Database,
    clock: SharedClock,
    entropy: Arc<dyn Entropy>,
    settings: IdentitySettings,
    successor_key: SuccessorKey,
    passwords: Passwords,
    callers: Callers,
    refused: RefusedTokens,
}

impl Identity {
    /// # Errors
    /// If the settings contradict each other or their key is malformed.
    pub fn try_new(
        settings: IdentitySettings,
        database: Database,
        clock: SharedClock,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, IdentitySettingsError> {
        settings.check()?;
        let successor_key = SuccessorKey::from_hex(&settings.refresh_key)?;
        let passwords = Passwords::new(settings.password_checks_at_once, settings.password_queue_max);
        let callers = Callers::new(settings.cache(), settings.cache_max);
        let refused = RefusedTokens::new(REFUSED_KEPT, settings.cache_max);
        Ok(Self { database, clock, entropy, settings, successor_key, passwords, callers, refused })
    }

    /// The environment that this deployment serves.
    pub fn environment(&self) -> Environment {
        self.settings.environment
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("settings", &self.settings).finish_non_exhaustive()
    }
}
