//! The audit log, checked from its first line to its last, one stretch in each look.

use database::{DatabaseError, Transaction};
use directory::{AuditFault, AuditMark, Walk, head, links_after};

use super::{Broken, Invariant, Violation};

/// The maximum number of lines of a look.
const LINES_MAX: i64 = 2_000;

/// The progress along the log. It starts again after the end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Round {
    walk: Walk,
    /// The newest line at the end of the last walk. The next walk must pass it.
    newest: Option<AuditMark>,
}

impl Round {
    /// Continues along the log.
    pub(super) async fn look(
        &mut self,
        transaction: &Transaction,
        broken: &mut Broken,
    ) -> Result<(), DatabaseError> {
        let kept: Vec<AuditMark> = self.newest.into_iter().chain(head(transaction).await?).collect();
        let links = links_after(transaction, &self.walk, LINES_MAX).await?;
        let is_end = i64::try_from(links.len()).is_ok_and(|lines| lines < LINES_MAX);
        let passed = links.iter().try_for_each(|link| self.walk.pass(link, &kept));
        let passed = passed.and_then(|()| if is_end { self.walk.end(&kept) } else { Ok(()) });
        match passed {
            Err(fault) => {
                broken.replace(Invariant::AuditLogIsWhole, [(line_of(fault), violation(fault))].into());
                self.walk = Walk::default();
            }
            Ok(()) if is_end => {
                broken.replace(Invariant::AuditLogIsWhole, [].into());
                self.finish();
            }
            Ok(()) => {}
        }
        Ok(())
    }

    /// Logs the newest line, and starts the next walk. The logs are stored elsewhere, and the line can be given to
    /// `vendctl audit verify` from there.
    fn finish(&mut self) {
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

fn violation(fault: AuditFault) -> Violation {
    let subject = format!("audit_log:{}", line_of(fault));
    Violation { invariant: Invariant::AuditLogIsWhole, subject, finding: fault.to_string() }
}
