//! A relay between a client and a server on this machine. A test can disturb what passes through it.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::Arc,
    thread,
};

/// A relay to one server. It exists until the process ends.
#[derive(Clone, Copy, Debug)]
pub struct Relay {
    address: SocketAddr,
    server: SocketAddr,
}

impl Relay {
    /// Starts a relay to the server at this port of loopback. For each connection `carry` gets its end at the client and
    /// its end at the server, on a thread of its own. The relay needs no runtime, so a test may block its own.
    ///
    /// # Errors
    /// When no port on loopback can be opened.
    pub fn start(
        port: u16,
        carry: impl Fn(&TcpStream, &TcpStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let server = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let carry = Arc::new(carry);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let carry = carry.clone();
                // A connection that cannot be forwarded is closed, and its client notices that.
                thread::spawn(move || {
                    TcpStream::connect(server).and_then(|server| carry(&client, &server)).is_ok()
                });
            }
        });
        Ok(Self { address, server })
    }

    /// The same address of something on the server, through the relay.
    #[must_use]
    pub fn through(&self, url: &str) -> String {
        url.replace(&self.server.to_string(), &self.address.to_string())
    }
}
