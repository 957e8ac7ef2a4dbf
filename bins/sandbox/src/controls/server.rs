//! The server of the controls, on a thread of its own.

use std::{
    io,
    net::{Ipv4Addr, TcpListener},
    thread::{self, JoinHandle},
};

use actix_web::{
    App, HttpServer,
    dev::{Server, ServerHandle},
    web::Data,
};

use super::configure;
use crate::Office;

/// The controls of a running sandbox. Dropping them stops their server.
#[derive(Debug)]
pub(crate) struct Controls {
    url: String,
    server: ServerHandle,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Controls {
    /// Serves on a port of loopback that the system chooses. Returns when it accepts connections.
    ///
    /// A port that is tried first may still be taken at the next moment: while another thread starts a program, that program
    /// keeps a copy of the socket of the trial.
    pub(crate) fn serve(office: Office) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let url = format!("http://{}", listener.local_addr()?);
        let (made, handle) = std::sync::mpsc::sync_channel(1);
        let thread = thread::Builder::new().name("controls".to_owned()).spawn(move || {
            actix_web::rt::System::new().block_on(async move {
                let server = server(office, listener);
                let kept = server.as_ref().map(Server::handle).map_err(|why| io::Error::from(why.kind()));
                // The receiver is gone only if the caller is gone.
                let _sent = made.send(kept);
                server?.await
            })
        })?;
        let server = handle.recv().map_err(io::Error::other)??;
        Ok(Self { url, server, thread: Some(thread) })
    }

    /// The base of its URLs: `http://127.0.0.1:4714`.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Controls {
    fn drop(&mut self) {
        // The command is sent when the future is created. Only its completion would have to be awaited.
        drop(self.server.stop(false));
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}

fn server(office: Office, listener: TcpListener) -> io::Result<Server> {
    let office = Data::new(office);
    let server = HttpServer::new(move || App::new().app_data(office.clone()).configure(configure))
        .workers(1)
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}
