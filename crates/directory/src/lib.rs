//! Organisations, their clients and users, and their tokens, as rows and whole operations.
//!
//! The crate above defines what a secret, a password or a token *is*. This module has only their hashes.

mod audit;
mod caller;
mod console_identities;
mod console_links;
mod login;
mod onboarding;
mod operator;
mod refresh;
mod schema;
mod words;

pub use audit::{
    AuditContext, AuditEntry, AuditFault, AuditLine, AuditMark, AuditMarkError, AuditQuery, AuditWhole, Walk,
    append, audit_head, head, links_after, list_audit_log, verify_audit_log,
};
pub use caller::{CallerRecord, find_caller};
pub use console_identities::{
    ConsoleIdentity, Identity, add_console_identity, find_console_identity, list_console_identities,
    remove_console_identity,
};
pub use console_links::{ConsoleLink, enter_console_link, take_console_link};
pub use login::{FamilyOpened, LoginRecord, LoginUser, NewFamily, find_login, open_family};
pub use onboarding::{
    ClientRecord, NewClient, NewOrganisation, NewSecret, NewUser, OrganisationRecord, Party, Rotated,
    SecretRecord, UserRecord, create_client, create_organisation, create_user, find_client,
    find_organisation, find_user, list_clients, list_organisations, list_users, replace_password,
    revoke_secret, rotate_secret, set_receipt_footer, set_role, set_status,
};
pub use operator::{Operator, OperatorRole, find_operator, list_operators};
pub use refresh::{Exchange, Exchanged, Proof, exchange};
pub use words::{Environment, Role, Status};

use chrono::{DateTime, Utc};

/// The SHA-256 of a secret or token. Nothing else of it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CredentialHash(pub [u8; 32]);

/// An access token and a refresh token that are issued together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewPair {
    pub access_hash: CredentialHash,
    pub access_expires_at: DateTime<Utc>,
    pub refresh_hash: CredentialHash,
    pub refresh_expires_at: DateTime<Utc>,
}
