//! Three machines on a bridge, with a cluster of Postgres that Patroni keeps and etcd remembers.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Child, Command},
    time::Duration,
};

use acceptance::time::{Deadline, pause};
use reqwest::Client;
use serde::Deserialize;
use tokio_postgres::{Config, NoTls};

use crate::{
    Failure,
    node::{Node, Plan},
    system::{run, start},
};

/// The link between the machines. The programs of the rehearsal are on it too.
pub const BRIDGE: &str = "machines";
const NUMBERS: [usize; 3] = [1, 2, 3];
/// The port of Postgres on each machine.
pub const PORT: u16 = 5432;
/// The address of the proxy, and its port.
pub const PROXY: (&str, u16) = ("10.77.0.254", 5000);

/// How long one question to Patroni may take. A lost machine does not answer.
const ANSWERED_WITHIN: Duration = Duration::from_millis(700);
/// How long the proxy may take to find the primary.
const PROXY_WITHIN: Duration = Duration::from_secs(30);
/// How long the cluster may take to be whole: longer than a new copy of its data.
const WHOLE_WITHIN: Duration = Duration::from_mins(4);

/// The cluster.
pub struct Cluster {
    nodes: Vec<Node>,
    client: Client,
    directory: PathBuf,
    is_synchronous: bool,
}

/// What Patroni says about the cluster.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Standing {
    members: Vec<Member>,
}

#[derive(Clone, Debug, Deserialize)]
struct Member {
    name: String,
    role: String,
    state: String,
    timeline: Option<u32>,
}

/// Which machine has which role.
struct Roles<'a> {
    primary: &'a str,
    /// The standby that commits wait for. Patroni switches over to no other one.
    synchronous: Option<&'a str>,
}

impl Cluster {
    /// Builds the machines and starts them. The bridge must be in a network namespace of its own.
    pub fn build(directory: &Path, plan: &Plan<'_>) -> Result<Self, Failure> {
        run("ip", &["link", "set", "lo", "up"])?;
        run("ip", &["link", "add", BRIDGE, "type", "bridge"])?;
        run("ip", &["addr", "add", "10.77.0.254/24", "dev", BRIDGE])?;
        run("ip", &["link", "set", BRIDGE, "up"])?;
        let build = |number: usize| Node::build(number, directory.join(format!("node{number}")), plan);
        let nodes = NUMBERS.into_iter().map(build).collect::<Result<Vec<_>, _>>()?;
        for node in &nodes {
            node.start()?;
        }
        Ok(Self {
            nodes,
            client: sandbox::http_client()?,
            directory: directory.to_owned(),
            is_synchronous: plan.is_synchronous,
        })
    }

    /// Starts the proxy, and waits until it leads to the primary.
    pub async fn start_proxy(&self, password: &str) -> Result<(), Failure> {
        let settings = self.directory.join("haproxy.cfg");
        std::fs::write(&settings, include_str!("haproxy.cfg"))?;
        let mut proxy = Command::new("haproxy");
        proxy.arg("-db").arg("-f").arg(&settings);
        let _proxy: Child = start(&mut proxy, &self.directory.join("haproxy.log"))?;
        let (host, port) = PROXY;
        let mut config = Config::new();
        config.host(host).port(port).user("postgres").password(password).dbname("postgres");
        let deadline = Deadline::after(PROXY_WITHIN);
        while let Err(error) = config.connect(NoTls).await {
            if deadline.is_over() {
                return Err(format!(
                    "the proxy does not lead to the primary within {PROXY_WITHIN:?}: {error}"
                )
                .into());
            }
            pause(Duration::from_millis(200)).await;
        }
        Ok(())
    }

    /// The addresses of all machines.
    pub fn addresses(&self) -> Vec<String> {
        self.nodes.iter().map(Node::address).collect()
    }

    /// The machines of the primary and of the standbys, as soon as the cluster is whole: one primary, one synchronous
    /// standby, and both standbys on the primary's timeline. The synchronous standby comes first.
    pub async fn whole(&self) -> Result<(&Node, [&Node; 2]), Failure> {
        let deadline = Deadline::after(WHOLE_WITHIN);
        loop {
            let standing = self.standing().await;
            if let Some(roles) = standing.roles_in_a_whole_cluster(self.is_synchronous) {
                return self.divided(&roles);
            }
            if deadline.is_over() {
                return Err(format!("the cluster is not whole within {WHOLE_WITHIN:?}: {standing:?}").into());
            }
            pause(Duration::from_millis(300)).await;
        }
    }

    /// Whether the machine says that it is the primary, or that it is not. `None` if it says nothing.
    pub async fn is_primary(&self, node: &Node) -> Option<bool> {
        let url = format!("http://{}:8008/primary", node.address());
        let answer = self.client.get(url).timeout(ANSWERED_WITHIN).send().await.ok()?;
        Some(answer.status().is_success())
    }

    /// Asks Patroni to make another machine the primary.
    pub async fn switch_over(&self, from: &Node, to: &Node) -> Result<(), Failure> {
        let body = serde_json::json!({ "leader": from.name(), "candidate": to.name() }).to_string();
        let url = format!("http://{}:8008/switchover", from.address());
        let request = self.client.post(url).header("content-type", "application/json").body(body);
        let answer = request.timeout(Duration::from_mins(1)).send().await?;
        let status = answer.status();
        if status.is_success() {
            return Ok(());
        }
        Err(format!("Patroni refuses the switchover: {status} {}", answer.text().await?).into())
    }

    /// The standing, as the first machine that answers sees it.
    async fn standing(&self) -> Standing {
        for node in &self.nodes {
            let url = format!("http://{}:8008/cluster", node.address());
            let Ok(answer) = self.client.get(url).timeout(ANSWERED_WITHIN).send().await else { continue };
            let Ok(text) = answer.text().await else { continue };
            if let Ok(standing) = serde_json::from_str(&text) {
                return standing;
            }
        }
        Standing::default()
    }

    fn divided(&self, roles: &Roles<'_>) -> Result<(&Node, [&Node; 2]), Failure> {
        let (primaries, mut standbys): (Vec<&Node>, Vec<&Node>) =
            self.nodes.iter().partition(|node| node.name() == roles.primary);
        standbys.sort_by_key(|node| roles.synchronous != Some(&node.name()));
        match (primaries.as_slice(), standbys.as_slice()) {
            ([primary], [first, second]) => Ok((*primary, [*first, *second])),
            _ => Err(format!("there is no machine {}", roles.primary).into()),
        }
    }
}

/// Takes the disks of all machines away, so that their directories can be removed.
pub fn unmount(directory: &Path) -> Result<(), Failure> {
    for number in NUMBERS {
        let disk = directory.join(format!("node{number}/disk"));
        run("umount", &["--lazy", &disk.display().to_string()])?;
    }
    Ok(())
}

impl Standing {
    fn roles_in_a_whole_cluster(&self, is_synchronous: bool) -> Option<Roles<'_>> {
        let mut by_role: BTreeMap<&str, Vec<&Member>> = BTreeMap::new();
        for member in &self.members {
            by_role.entry(&member.role).or_default().push(member);
        }
        let [primary] = by_role.get("leader")?.as_slice() else { return None };
        let synchronous = by_role.get("sync_standby").map_or(&[][..], Vec::as_slice);
        let follows = |member: &Member| {
            matches!(member.state.as_str(), "running" | "streaming")
                && member.timeline.is_some()
                && member.timeline == primary.timeline
        };
        let is_whole = self.members.len() == 3
            && synchronous.len() == usize::from(is_synchronous)
            && self.members.iter().all(follows);
        let synchronous = synchronous.first().map(|member| member.name.as_str());
        is_whole.then_some(Roles { primary: &primary.name, synchronous })
    }
}
