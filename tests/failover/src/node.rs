//! One machine of the cluster: a network namespace with a link to the others, a small disk, and the processes of etcd,
//! Patroni and Postgres.

use std::{
    fs,
    io::{self, Read},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    Failure,
    system::{run, start},
};

/// The size of the disk that Postgres has for itself.
const DISK: &str = "size=768m,mode=0755";
const MEMBERS: &str = "node1=http://10.77.0.1:2380,node2=http://10.77.0.2:2380,node3=http://10.77.0.3:2380";

/// What all nodes share.
pub struct Plan<'a> {
    /// The directory with Postgres' programs.
    pub programs: &'a Path,
    /// The password of Postgres' roles.
    pub password: &'a str,
    /// Whether commits wait for a standby.
    pub is_synchronous: bool,
    /// Whether Patroni uses version 3 of etcd's protocol. Patroni 3.0.2, that of Debian 12, then overwrites the lock of a new
    /// primary when it goes on after a stop, and the cluster goes back to the former primary and loses commits. Later
    /// versions do not (Patroni's pull request 2689).
    pub has_etcd3: bool,
}

/// A machine. Dropping it does not end its processes: they end with the namespaces of the rehearsal.
pub struct Node {
    number: usize,
    directory: PathBuf,
    /// Keeps the network namespace.
    holder: Child,
    network: PathBuf,
}

impl Node {
    /// Builds the machine, linked to the bridge, with no process on it yet.
    pub fn build(number: usize, directory: PathBuf, plan: &Plan<'_>) -> Result<Self, Failure> {
        let disk = directory.join("disk");
        for part in [&disk, &directory.join("run"), &directory.join("etcd")] {
            fs::create_dir_all(part)?;
        }
        run("mount", &["-t", "tmpfs", "-o", DISK, "tmpfs", &disk.display().to_string()])?;
        let holder = hold_network()?;
        let network = fs::read_link(format!("/proc/{}/ns/net", holder.id()))?;
        let node = Self { number, directory, holder, network };
        node.link()?;
        node.configure(plan)?;
        Ok(node)
    }

    /// Its name in the cluster.
    pub fn name(&self) -> String {
        format!("node{}", self.number)
    }

    /// Its address.
    pub fn address(&self) -> String {
        format!("10.77.0.{}", self.number)
    }

    /// Starts etcd and Patroni, which starts Postgres.
    pub fn start(&self) -> Result<(), Failure> {
        self.start_etcd()?;
        self.start_patroni()
    }

    /// Signals the processes with this name, or all of them. Repeats it until it meets no new process.
    pub fn signal(&self, signal: Signal, name: Option<&str>) -> Result<(), Failure> {
        let mut signalled = Vec::new();
        loop {
            let processes = self.processes(name)?;
            if processes.iter().all(|pid| signalled.contains(pid)) {
                return Ok(());
            }
            for pid in &processes {
                // It may have ended meanwhile.
                let _ended: Result<(), rustix::io::Errno> = kill_process(*pid, signal);
            }
            signalled = processes;
        }
    }

    /// Kills the first process of Postgres, as the kernel does when memory is short.
    pub fn kill_postmaster(&self) -> Result<(), Failure> {
        let file = fs::read_to_string(self.directory.join("disk/data/postmaster.pid"))?;
        let pid = file.lines().next().and_then(|line| Pid::from_raw(line.trim().parse().ok()?));
        Ok(kill_process(pid.ok_or("the file of the postmaster has no process")?, Signal::KILL)?)
    }

    /// Takes its link down, or up again. Nothing is answered meanwhile, not even that the machine is away.
    pub fn set_link(&self, is_up: bool) -> Result<(), Failure> {
        run("ip", &["link", "set", &self.outer_end(), if is_up { "up" } else { "down" }])
    }

    /// Fills its disk to the last block.
    pub fn fill_disk(&self) -> Result<(), Failure> {
        let mut filler = fs::File::create(self.filler())?;
        match io::copy(&mut io::repeat(0), &mut filler) {
            Err(full) if full.kind() == io::ErrorKind::StorageFull => Ok(()),
            Err(error) => Err(error.into()),
            Ok(_) => Err("the disk cannot be filled".into()),
        }
    }

    /// Frees its disk again.
    pub fn free_disk(&self) -> Result<(), Failure> {
        Ok(fs::remove_file(self.filler())?)
    }

    fn filler(&self) -> PathBuf {
        self.directory.join("disk/filler")
    }

    /// The end of its link at the bridge.
    fn outer_end(&self) -> String {
        format!("link{}", self.number)
    }

    fn link(&self) -> Result<(), Failure> {
        let (outer, inner) = (self.outer_end(), format!("inner{}", self.number));
        let (holder, address) = (self.holder.id().to_string(), format!("{}/24", self.address()));
        run("ip", &["link", "add", &outer, "type", "veth", "peer", "name", &inner])?;
        run("ip", &["link", "set", &inner, "netns", &holder])?;
        run("ip", &["link", "set", &outer, "master", crate::cluster::BRIDGE])?;
        run("ip", &["link", "set", &outer, "up"])?;
        let network = format!("--net=/proc/{holder}/ns/net");
        let inside = |arguments: &[&str]| run("nsenter", &[&[network.as_str(), "ip"], arguments].concat());
        inside(&["link", "set", "lo", "up"])?;
        inside(&["addr", "add", &address, "dev", &inner])?;
        inside(&["link", "set", &inner, "up"])
    }

    fn configure(&self, plan: &Plan<'_>) -> Result<(), Failure> {
        let settings = include_str!("patroni.yml")
            .replace("{number}", &self.number.to_string())
            .replace("{address}", &self.address())
            .replace("{directory}", &self.directory.display().to_string())
            .replace("{programs}", &plan.programs.display().to_string())
            .replace("{password}", plan.password)
            .replace("{synchronous}", &plan.is_synchronous.to_string())
            .replace("{etcd}", if plan.has_etcd3 { "etcd3" } else { "etcd" });
        let file = self.settings();
        fs::write(&file, settings)?;
        for path in [file, self.directory.join("disk"), self.directory.join("run")] {
            run("chown", &["postgres:postgres", &path.display().to_string()])?;
        }
        Ok(fs::set_permissions(self.directory.join("disk"), fs::Permissions::from_mode(0o700))?)
    }

    fn settings(&self) -> PathBuf {
        self.directory.join("patroni.yml")
    }

    fn start_etcd(&self) -> Result<(), Failure> {
        let (name, address) = (self.name(), self.address());
        let (clients, peers) = (format!("http://{address}:2379"), format!("http://{address}:2380"));
        let mut etcd = self.command("etcd");
        etcd.arg("--name").arg(&name).arg("--data-dir").arg(self.directory.join("etcd"));
        etcd.args(["--listen-client-urls", &clients, "--advertise-client-urls", &clients]);
        etcd.args(["--listen-peer-urls", &peers, "--initial-advertise-peer-urls", &peers]);
        etcd.args(["--initial-cluster", MEMBERS, "--initial-cluster-state", "new"]);
        etcd.args(["--enable-v2", "--log-level", "warn"]);
        start(&mut etcd, &self.directory.join("etcd.log")).map(drop)
    }

    /// As another user, because Postgres refuses to run as root.
    fn start_patroni(&self) -> Result<(), Failure> {
        let mut patroni = self.command("setpriv");
        patroni.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "/usr/bin/patroni"]);
        patroni.arg(self.settings()).current_dir("/").env("HOME", self.directory.join("run"));
        start(&mut patroni, &self.directory.join("patroni.log")).map(drop)
    }

    /// A program on this machine, with an environment of its own.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("setsid");
        command.arg("nsenter").arg(format!("--net=/proc/{}/ns/net", self.holder.id())).arg(program);
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LANG", "C.UTF-8");
        command
    }

    /// Its processes with this name, or all of them: those in its network namespace.
    fn processes(&self, name: Option<&str>) -> Result<Vec<Pid>, Failure> {
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc")? {
            let path = entry?.path();
            let pid = path.file_name().and_then(|name| name.to_str()?.parse().ok()).and_then(Pid::from_raw);
            let Some(pid) = pid.filter(|pid| pid.as_raw_nonzero().get().unsigned_abs() != self.holder.id())
            else {
                continue;
            };
            let is_here = fs::read_link(path.join("ns/net")).is_ok_and(|network| network == self.network);
            let is_named = name.is_none_or(|name| {
                fs::read_to_string(path.join("comm")).is_ok_and(|comm| comm.trim() == name)
            });
            if is_here && is_named {
                found.push(pid);
            }
        }
        Ok(found)
    }
}

/// A process in a network namespace of its own. It says so first: a link to it would otherwise stay in ours.
fn hold_network() -> Result<Child, Failure> {
    let mut holder = Command::new("unshare")
        .args(["--net", "sh", "-c", "echo; exec sleep infinity"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut said = [0];
    holder.stdout.take().ok_or("the holder has no output")?.read_exact(&mut said)?;
    Ok(holder)
}
