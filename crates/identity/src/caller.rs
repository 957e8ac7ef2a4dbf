//! The caller: the client, user and organisation of a request, and their permissions.

use std::fmt;

use directory::{CallerRecord, Environment, Role, Status};

use crate::Permission;

/// The holder of an access token. A purchase records these ids, and they are checked again before money moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub access_token_id: i64,
    /// The OAuth client, by id.
    pub client_id: i64,
    pub organisation: CallerOrganisation,
    pub user: CallerUser,
    pub role: Role,
}

/// The organisation that a caller acts for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerOrganisation {
    pub id: i64,
    pub code: String,
    pub name: String,
    pub environment: Environment,
}

/// The user on whose behalf a caller acts. Its `Debug` does not reveal personal data.
#[derive(Clone, PartialEq, Eq)]
pub struct CallerUser {
    pub id: i64,
    pub username: String,
    pub full_name: String,
    /// E.164 digits.
    pub phone_number: Option<String>,
    pub email: Option<String>,
    pub status: Status,
}

impl Caller {
    /// Whether the caller has this permission.
    pub fn may(&self, permission: Permission) -> bool {
        self.permissions().contains(&permission)
    }

    /// All permissions of the caller.
    pub fn permissions(&self) -> &'static [Permission] {
        Permission::of(self.role)
    }
}

impl From<CallerRecord> for Caller {
    fn from(record: CallerRecord) -> Self {
        Self {
            access_token_id: record.access_token_id,
            client_id: record.oauth_client_id,
            organisation: CallerOrganisation {
                id: record.organisation_id,
                code: record.organisation_code,
                name: record.organisation_name,
                environment: record.environment,
            },
            user: CallerUser {
                id: record.user_id,
                username: record.username,
                full_name: record.full_name,
                phone_number: record.phone_number,
                email: record.email,
                status: record.user_status,
            },
            role: record.role,
        }
    }
}

impl fmt::Debug for CallerUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallerUser").field("id", &self.id).finish_non_exhaustive()
    }
}
