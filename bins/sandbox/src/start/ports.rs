//! Ports on loopback that stay free until a server listens on them.

use std::{
    io,
    net::{Ipv4Addr, TcpListener},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

use super::StartError;

/// Below the ephemeral ports: any connection could take such a port between its choice and its use.
const FIRST: u32 = 12_000;
const COUNT: u32 = 20_000;
/// Makes each sandbox start its search at another port.
const STRIDE: u32 = 1_009;

static CHOSEN: AtomicU32 = AtomicU32::new(0);

/// The port itself, if it is free. For 0, a free port, and another one in each call.
///
/// # Errors
/// When the port is taken, or this user may not use it.
pub fn free_port(port: u16) -> Result<u16, StartError> {
    if port != 0 {
        return try_port(port);
    }
    let begin = process::id().wrapping_mul(STRIDE);
    for _attempt in 0..COUNT {
        let next = begin.wrapping_add(CHOSEN.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(FIRST + next % COUNT).unwrap_or_default();
        match try_port(port) {
            Err(StartError::PortTaken { .. }) => {}
            decided => return decided,
        }
    }
    Err(StartError::PortTaken { port })
}

fn try_port(port: u16) -> Result<u16, StartError> {
    match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        Ok(_free) => Ok(port),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(StartError::PortTaken { port }),
        Err(source) => Err(StartError::Port { port, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_given_out_twice_and_a_taken_one_never() {
        let first = free_port(0).unwrap();
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, first + 1)).unwrap();
        let second = free_port(0).unwrap();
        assert!(second > first + 1, "{first} {second}");
        assert!(matches!(free_port(first + 1), Err(StartError::PortTaken { .. })));
        assert_eq!(free_port(second).unwrap(), second);
    }
}
