//! The user that runs the server. Postgres refuses to run as root, so root runs it as another user.

use std::{fs::File, os::unix::process::CommandExt, path::Path, process::Command};

use crate::LocalPostgresError;

/// The users that may replace root, in this order.
const STAND_INS: [&str; 2] = ["postgres", "nobody"];

/// A user of this machine other than root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Account {
    uid: u32,
    gid: u32,
}

impl Account {
    /// The user that must run the server instead of this process's user. `None` if this process's user can.
    pub(crate) fn standing_in_for_root() -> Result<Option<Self>, LocalPostgresError> {
        if !is_root() {
            return Ok(None);
        }
        let stand_in = STAND_INS.iter().find_map(|name| Self::named(name));
        stand_in.map(Some).ok_or(LocalPostgresError::NoUserToRunAs)
    }

    fn named(name: &str) -> Option<Self> {
        Some(Self { uid: id("-u", Some(name))?, gid: id("-g", Some(name))? })
    }

    /// Makes `command` run as this user, with the user's own group only.
    pub(crate) fn runs(self, command: &mut Command) {
        command.uid(self.uid).gid(self.gid);
    }

    /// Gives an open file to this user.
    pub(crate) fn owns_open(self, file: &File) -> std::io::Result<()> {
        std::os::unix::fs::fchown(file, Some(self.uid), Some(self.gid))
    }

    /// Gives a file or directory to this user.
    pub(crate) fn owns(self, path: &Path) -> std::io::Result<()> {
        std::os::unix::fs::chown(path, Some(self.uid), Some(self.gid))
    }
}

/// Whether this process runs as root.
pub(crate) fn is_root() -> bool {
    id("-u", None) == Some(0)
}

/// Calls the system's `id`, which knows users from all sources and not only from `/etc/passwd`.
fn id(of: &str, user: Option<&str>) -> Option<u32> {
    let output = Command::new("id").arg(of).args(user).output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_is_named_exactly_when_this_process_is_root_and_is_never_root() {
        let stand_in = Account::standing_in_for_root().unwrap();
        assert_eq!(stand_in.is_some(), is_root());
        assert!(stand_in.is_none_or(|account| account.uid != 0));
    }

    #[test]
    fn a_user_that_does_not_exist_is_no_account() {
        assert_eq!(Account::named("no-such-user-here"), None);
    }
}
