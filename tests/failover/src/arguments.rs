//! The arguments of the command line.

use crate::{Failure, fault::Fault};

const USAGE: &str =
    "usage: failover [--rounds N] [--only FAULT[,FAULT...]] [--through-proxy] [--asynchronous] [--etcd3]";

/// What is rehearsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// How many faults.
    pub rounds: usize,
    /// The kinds of faults.
    pub kinds: Vec<Fault>,
    /// Whether the servers reach the primary through a proxy instead of by several hosts in their address.
    pub is_through_proxy: bool,
    /// Whether the cluster acknowledges commits without a standby. Then the check must find what is lost.
    pub is_asynchronous: bool,
    /// Whether Patroni uses version 3 of etcd's protocol.
    pub has_etcd3: bool,
}

impl Arguments {
    /// Reads them.
    pub fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut arguments = Self {
            rounds: 30,
            kinds: Fault::ALL.to_vec(),
            is_through_proxy: false,
            is_asynchronous: false,
            has_etcd3: false,
        };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--rounds" => {
                    arguments.rounds = words.next().ok_or(USAGE)?.parse().map_err(|_malformed| USAGE)?;
                }
                "--only" => {
                    let names = words.next().ok_or(USAGE)?;
                    arguments.kinds = names.split(',').map(kind).collect::<Result<_, _>>()?;
                }
                "--etcd3" => arguments.has_etcd3 = true,
                "--through-proxy" => arguments.is_through_proxy = true,
                "--asynchronous" => {
                    arguments.is_asynchronous = true;
                    arguments.kinds = vec![Fault::TailLost];
                }
                _ => return Err(USAGE.into()),
            }
        }
        Ok(arguments)
    }
}

/// A fault by the name of its variant.
fn kind(name: &str) -> Result<Fault, Failure> {
    let found = Fault::ALL.into_iter().find(|fault| format!("{fault:?}") == name);
    found.ok_or_else(|| {
        let names: Vec<String> = Fault::ALL.iter().map(|fault| format!("{fault:?}")).collect();
        format!("there is no fault {name}: choose from {}", names.join(", ")).into()
    })
}
