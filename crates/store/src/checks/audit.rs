//! The audit log, walked along from its first line to its last, a stretch in each look.

use super::{Breach, Broken, Law};
use crate::StoreError;
use crate::identity::{AuditFault, AuditMark, Walk, head, links_after};
use crate::transaction::Transaction;

/// Most lines of a look.
const LINES_MAX: i64 = 2_000;

/// The way along the log. It begins again when it has come to the end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    walk: Walk,
    /// The newest line at the end of the last walk: the next one must come by it.
    newest: Option<AuditMark>,
}

impl Round {
    /// Goes on along the log.
    pub(super) async fn look(
        &mut self,
        transaction: &mut Transaction,
        broken: &mut Broken,
    ) -> Result<(), StoreError> {
        let kept: Vec<AuditMark> = self.newest.into_iter().chain(head(&mut *transaction).await?).collect();
        let links = links_after(&mut *transaction, &self.walk, LINES_MAX).await?;
        let is_end = i64::try_from(links.len()).is_ok_and(|lines| lines < LINES_MAX);
        let passed = links.iter().try_for_each(|link| self.walk.pass(link, &kept));
        let passed = passed.and_then(|()| if is_end { self.walk.end(&kept) } else { Ok(()) });
        match passed {
            Err(fault) => {
                broken.replace(Law::AuditLogIsWhole, [(line_of(fault), breach(fault))].into());
                self.walk = Walk::default();
            }
            Ok(()) if is_end => {
                broken.replace(Law::AuditLogIsWhole, [].into());
                self.keep();
            }
            Ok(()) => {}
        }
        Ok(())
    }

    /// Says what the newest line is, in a log that is kept elsewhere: from there it can be given to `vendctl audit verify`.
    fn keep(&mut self) {
        let newest = self.walk.last();
        if let Some(head) = newest.filter(|_| newest != self.newest) {
            tracing::info!(%head, lines = self.walk.lines(), "the audit log is whole");
        }
        *self = Self { walk: Walk::default(), newest };
    }
}

const fn line_of(fault: AuditFault) -> i64 {
    match fault {
        AuditFault::Changed { line } | AuditFault::Unlinked { line } | AuditFault::NotAsKept { line } => line,
    }
}

fn breach(fault: AuditFault) -> Breach {
    let subject = format!("audit_log:{}", line_of(fault));
    Breach { law: Law::AuditLogIsWhole, subject, finding: fault.to_string() }
}
