//! What an operator does to let somebody in or keep them out. Each deed leaves a line in the audit log.

mod client;
mod organisation;
mod party;
mod secret;
mod user;

pub use client::{ClientRecord, NewClient, create_client, find_client};
pub use organisation::{NewOrganisation, OrganisationRecord, create_organisation, find_organisation};
pub use party::{Party, set_status};
pub use secret::{NewSecret, SecretRecord, add_secret, expire_secret, revoke_secret};
pub use user::{NewUser, create_user};
