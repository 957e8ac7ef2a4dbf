//! What a connection is for, and how its sessions are set up for that.

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The lanes.
    Money,
    /// All other statements of a server that answers requests.
    Requests,
    /// Everything that the worker and operators do besides. Some of it reads whole tables.
    General,
}

impl Purpose {
    /// The name of its pool in metrics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Money => "money",
            Self::Requests | Self::General => "general",
        }
    }

    /// The statements that set up its sessions, in addition to those of every session.
    ///
    /// A statement of a request finds its rows by keys, and an index has them. The planner knows that only if it has
    /// statistics. Without them, on a young database, it sorted the whole history of an organisation for a page of 20
    /// purchases, and it keeps such a plan until the next `ANALYZE`. So in these sessions every other kind of plan counts
    /// as too dear.
    pub const fn session(self) -> &'static str {
        match self {
            Self::Money | Self::Requests => {
                "SET plan_cache_mode = force_generic_plan; SET jit = off; SET enable_seqscan = off;
                 SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
                 SET enable_material = off;"
            }
            // With ten million purchases the planner expects so much of some statements that it lets them be compiled. That takes more than
            // a second, each time anew, and the statements take milliseconds.
            Self::General => "SET jit = off;",
        }
    }
}
