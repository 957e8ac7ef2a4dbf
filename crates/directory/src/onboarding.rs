//! Operator actions that admit or exclude an organisation, a client or a user. Each action writes a line in the audit
//! log.

mod client;
mod organisation;
mod party;
mod secret;
mod user;

pub use client::{ClientRecord, NewClient, create_client, find_client, list_clients};
pub use organisation::{
    NewOrganisation, OrganisationRecord, create_organisation, find_organisation, list_organisations,
    set_receipt_footer,
};
pub use party::{Party, set_status};
pub use secret::{NewSecret, Rotated, SecretRecord, revoke_secret, rotate_secret};
pub use user::{NewUser, UserRecord, create_user, find_user, list_users, replace_password, set_role};
