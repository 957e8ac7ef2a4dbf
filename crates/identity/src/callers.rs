//! A cache of callers that were looked up recently.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use chrono::{DateTime, Utc};
use clock::Monotonic;
use directory::CredentialHash;

use crate::Caller;

/// The valid callers of the last seconds.
#[derive(Debug)]
pub(crate) struct Callers {
    keep: Duration,
    max: usize,
    remembered: Mutex<HashMap<CredentialHash, Remembered>>,
}

/// What is remembered about a token.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// It was valid a moment ago.
    Caller(Arc<Caller>),
    /// It was valid some time ago and must be looked up again.
    Faded,
    /// Nothing.
    None,
}

#[derive(Debug)]
struct Remembered {
    caller: Arc<Caller>,
    family_id: i64,
    expires_at: DateTime<Utc>,
    since: Monotonic,
}

impl Callers {
    pub(crate) fn new(keep: Duration, max: usize) -> Self {
        Self { keep, max, remembered: Mutex::default() }
    }

    /// What is known about a token.
    pub(crate) fn recall(&self, token: CredentialHash, now: DateTime<Utc>, monotonic: Monotonic) -> Memory {
        let remembered = self.remembered();
        match remembered.get(&token).filter(|found| now < found.expires_at) {
            None => Memory::None,
            Some(found) if monotonic.elapsed_since(found.since) < self.keep => {
                Memory::Caller(Arc::clone(&found.caller))
            }
            Some(_) => Memory::Faded,
        }
    }

    /// Remembers a caller who was looked up at `since`.
    pub(crate) fn remember(
        &self,
        token: CredentialHash,
        caller: &Arc<Caller>,
        family_id: i64,
        expires_at: DateTime<Utc>,
        since: Monotonic,
    ) {
        let mut remembered = self.remembered();
        if remembered.len() >= self.max {
            remembered.retain(|_, other| since.elapsed_since(other.since) < self.keep);
        }
        // The cache is full of recent callers. A caller that does not fit is looked up again at its next request.
        if remembered.len() < self.max {
            let caller = Arc::clone(caller);
            remembered.insert(token, Remembered { caller, family_id, expires_at, since });
        }
    }

    /// Forgets the holder of a token that is not valid any more.
    pub(crate) fn forget(&self, token: CredentialHash) {
        self.remembered().remove(&token);
    }

    /// Forgets all callers of a family that this process revoked.
    pub(crate) fn forget_family(&self, family_id: i64) {
        self.remembered().retain(|_, other| other.family_id != family_id);
    }

    fn remembered(&self) -> MutexGuard<'_, HashMap<CredentialHash, Remembered>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use directory::{Environment, Role, Status};

    use super::*;
    use crate::{CallerOrganisation, CallerUser};

    const KEEP: Duration = Duration::from_secs(5);

    fn caller() -> Arc<Caller> {
        Arc::new(Caller {
            access_token_id: 1,
            client_id: 2,
            organisation: CallerOrganisation {
                id: 3,
                code: "KGALE".into(),
                name: "Kgale Stores".into(),
                environment: Environment::Staging,
            },
            user: CallerUser {
                id: 4,
                username: "till".into(),
                full_name: "Till One".into(),
                phone_number: Some("26771000000".into()),
                email: None,
                status: Status::Active,
            },
            role: Role::Viewer,
        })
    }

    fn at(seconds: u64) -> Monotonic {
        Monotonic::from_origin(Duration::from_secs(seconds))
    }

    fn token(number: u8) -> CredentialHash {
        CredentialHash([number; 32])
    }

    const NEVER: DateTime<Utc> = DateTime::<Utc>::MAX_UTC;
    const NOW: DateTime<Utc> = DateTime::UNIX_EPOCH;

    #[test]
    fn a_caller_is_forgotten_after_five_seconds_and_when_the_token_expires() {
        let callers = Callers::new(KEEP, 10);
        callers.remember(token(1), &caller(), 7, NEVER, at(10));
        callers.remember(token(2), &caller(), 7, NOW, at(10));
        assert_eq!(callers.recall(token(1), NOW, at(14)), Memory::Caller(caller()));
        assert_eq!(callers.recall(token(1), NOW, at(15)), Memory::Faded);
        assert_eq!(callers.recall(token(2), NOW, at(10)), Memory::None);
    }

    #[test]
    fn the_number_of_remembered_callers_is_bounded() {
        let callers = Callers::new(KEEP, 2);
        for number in 0..10 {
            callers.remember(token(number), &caller(), 7, NEVER, at(10));
        }
        assert_eq!(callers.remembered().len(), 2);
        callers.remember(token(11), &caller(), 7, NEVER, at(15));
        assert_eq!(callers.recall(token(11), NOW, at(15)), Memory::Caller(caller()));
        assert_eq!(callers.remembered().len(), 1);
    }

    #[test]
    fn a_revoked_family_is_forgotten_at_once() {
        let callers = Callers::new(KEEP, 10);
        callers.remember(token(1), &caller(), 7, NEVER, at(10));
        callers.remember(token(2), &caller(), 8, NEVER, at(10));
        callers.forget_family(7);
        assert_eq!(callers.recall(token(1), NOW, at(10)), Memory::None);
        assert_eq!(callers.recall(token(2), NOW, at(10)), Memory::Caller(caller()));
    }

    #[test]
    fn the_personal_data_of_a_user_does_not_show_in_a_log() {
        let shown = format!("{:?}", caller());
        assert!(!shown.contains("Till One") && !shown.contains("26771000000"), "{shown}");
    }
}
