//! What can happen to the cluster.

use std::{fmt, time::Duration};

use acceptance::time::{Deadline, pause};

use rustix::process::Signal;

use crate::{Failure, cluster::Cluster, node::Node};

/// How long a fault lasts that takes away no primary by itself.
const FOR_A_WHILE: Duration = Duration::from_secs(8);
/// Longer than Patroni needs to give up a primary.
const EFFECTIVE_WITHIN: Duration = Duration::from_mins(1);
/// How long the primary sells without its standbys: shorter than Patroni's `retry_timeout`.
const SOLD_ALONE: Duration = Duration::from_millis(2_500);

/// One fault. Each is healed at the end of its round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The primary's machine loses its power.
    MachineLost,
    /// The primary's Postgres is killed. Its Patroni lives.
    PostgresKilled,
    /// The primary's machine stops, and goes on when another one is the primary.
    MachineStopped,
    /// Only Patroni stops on the primary's machine. Its Postgres goes on, so two take themselves for the primary.
    PatroniStopped,
    /// The primary's machine is cut off from everything.
    CutOff,
    /// The disk of the primary is full. Postgres goes on, and Patroni leaves it the primary.
    DiskFull,
    /// An operator moves the primary.
    Switchover,
    /// The synchronous standby's machine loses its power.
    StandbyLost,
    /// Both standbys are cut off, so no commit can be acknowledged.
    StandbysCutOff,
    /// Two of the three members of etcd stop.
    EtcdMinority,
    /// The primary's machine loses its power, with commits that no standby has. Only a cluster without synchronous
    /// replication acknowledges those, so it is not one of [`Fault::ALL`]: the check must find what is lost.
    TailLost,
}

/// The machines as the fault found them.
pub struct Struck<'a> {
    primary: &'a Node,
    standbys: [&'a Node; 2],
}

impl Fault {
    /// All faults.
    pub const ALL: [Self; 10] = [
        Self::MachineLost,
        Self::PostgresKilled,
        Self::MachineStopped,
        Self::PatroniStopped,
        Self::CutOff,
        Self::DiskFull,
        Self::Switchover,
        Self::StandbyLost,
        Self::StandbysCutOff,
        Self::EtcdMinority,
    ];

    /// Whether sales go on while the fault lasts. After the others they go on when it is healed.
    pub fn is_survived(self) -> bool {
        !matches!(self, Self::DiskFull | Self::StandbysCutOff | Self::EtcdMinority)
    }

    /// Strikes a whole cluster.
    pub async fn strike(self, cluster: &Cluster) -> Result<Struck<'_>, Failure> {
        let (primary, standbys) = cluster.whole().await?;
        let [first, second] = standbys;
        match self {
            Self::MachineLost => primary.signal(Signal::KILL, None)?,
            Self::PostgresKilled => primary.kill_postmaster()?,
            Self::MachineStopped => primary.signal(Signal::STOP, None)?,
            Self::PatroniStopped => primary.signal(Signal::STOP, Some("patroni"))?,
            Self::CutOff => primary.set_link(false)?,
            Self::DiskFull => primary.fill_disk()?,
            Self::Switchover => cluster.switch_over(primary, first).await?,
            Self::StandbyLost => first.signal(Signal::KILL, None)?,
            Self::StandbysCutOff => {
                first.set_link(false)?;
                second.set_link(false)?;
            }
            Self::EtcdMinority => {
                first.signal(Signal::STOP, Some("etcd"))?;
                second.signal(Signal::STOP, Some("etcd"))?;
            }
            Self::TailLost => {
                first.set_link(false)?;
                second.set_link(false)?;
                pause(SOLD_ALONE).await;
                // Its kernel would still send what its processes wrote.
                primary.set_link(false)?;
                primary.signal(Signal::KILL, None)?;
                first.set_link(true)?;
                second.set_link(true)?;
            }
        }
        Ok(Struck { primary, standbys })
    }

    /// Waits until a fault that works slowly has had its effect, or has lasted long enough.
    pub async fn takes_effect(self, cluster: &Cluster, struck: &Struck<'_>) -> Result<(), Failure> {
        let Struck { primary, standbys: [first, second] } = struck;
        let deadline = Deadline::after(EFFECTIVE_WITHIN);
        loop {
            let is_effective = match self {
                Self::PatroniStopped => {
                    cluster.is_primary(first).await == Some(true)
                        || cluster.is_primary(second).await == Some(true)
                }
                Self::EtcdMinority => cluster.is_primary(primary).await == Some(false),
                Self::DiskFull | Self::StandbysCutOff => {
                    pause(FOR_A_WHILE).await;
                    true
                }
                Self::MachineLost
                | Self::PostgresKilled
                | Self::MachineStopped
                | Self::CutOff
                | Self::Switchover
                | Self::StandbyLost
                | Self::TailLost => true,
            };
            if is_effective {
                return Ok(());
            }
            if deadline.is_over() {
                return Err(
                    format!("{self}, and Patroni did nothing about it within {EFFECTIVE_WITHIN:?}").into()
                );
            }
            pause(Duration::from_millis(300)).await;
        }
    }

    /// Ends the fault.
    pub fn heal(self, struck: &Struck<'_>) -> Result<(), Failure> {
        let Struck { primary, standbys: [first, second] } = struck;
        match self {
            Self::MachineLost => primary.start(),
            Self::TailLost => primary.set_link(true).and_then(|()| primary.start()),
            Self::PostgresKilled | Self::Switchover => Ok(()),
            Self::MachineStopped | Self::PatroniStopped => primary.signal(Signal::CONT, None),
            Self::CutOff => primary.set_link(true),
            Self::DiskFull => primary.free_disk(),
            Self::StandbyLost => first.start(),
            Self::StandbysCutOff => first.set_link(true).and_then(|()| second.set_link(true)),
            Self::EtcdMinority => {
                first.signal(Signal::CONT, None)?;
                second.signal(Signal::CONT, None)
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::MachineLost => "the primary's machine is lost",
            Self::PostgresKilled => "the primary's Postgres is killed",
            Self::MachineStopped => "the primary's machine stops and goes on",
            Self::PatroniStopped => "the primary's Patroni stops: two primaries",
            Self::CutOff => "the primary is cut off",
            Self::DiskFull => "the primary's disk is full for 8 s",
            Self::Switchover => "switchover by an operator",
            Self::StandbyLost => "a standby is lost",
            Self::StandbysCutOff => "both standbys are cut off for 8 s",
            Self::EtcdMinority => "two members of etcd stop",
            Self::TailLost => "the primary is lost with commits that no standby has",
        })
    }
}
