//! The HTTP server on its socket.
//!
//! `actix_web::HttpServer` has no hook for the bytes that it reads. Therefore its parts are assembled here as it does
//! itself, with [`web::HeadChecks`] between the socket and the HTTP dispatcher.

use std::future::ready;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use actix_http::body::MessageBody;
use actix_http::error::DispatchError;
use actix_http::{Extensions, HttpService, Request, Response};
use actix_server::Server;
use actix_service::{IntoServiceFactory, ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::Error;
use actix_web::dev::{AppConfig, ServiceResponse};
use actix_web::rt::net::TcpStream;
use clock::SharedClock;
use socket2::{Domain, Protocol, Socket, Type};
use web::{CallerSockets, CheckedStream, HeadChecks, HeadLimits};

use crate::settings::HttpSettings;

/// Connections that the kernel queues until they are accepted.
const BACKLOG: i32 = 1_024;

/// How long closing a connection may take.
const DISCONNECT_WITHIN: Duration = Duration::from_secs(1);

/// Listens. Returns the server, which serves when it is polled, and its address.
pub(crate) fn listen<App, AppFactory, Body>(
    settings: &HttpSettings,
    limits: HeadLimits,
    clock: SharedClock,
    application: impl Fn() -> App + Clone + Send + 'static,
) -> io::Result<(Server, SocketAddr)>
where
    App: IntoServiceFactory<AppFactory, Request> + 'static,
    AppFactory: ServiceFactory<
            Request,
            Config = AppConfig,
            Response = ServiceResponse<Body>,
            Error = Error,
            InitError = (),
        > + 'static,
    AppFactory::Service: 'static,
    Body: MessageBody + 'static,
{
    let socket = bind(&settings.listen)?;
    let address = socket.local_addr()?;
    let callers = Arc::new(CallerSockets::new(clock));
    let keep_alive = Duration::from_secs(settings.keep_alive_s);
    let workers = settings.workers.max(1);
    let server = Server::build().workers(workers).shutdown_timeout(settings.drain_s);
    let server = server.max_concurrent_connections(settings.connections_max.div_ceil(workers).max(1));
    let stopping = server.graceful_shutdown_signal();
    let server = server.disable_signals().listen("api", socket, move || {
        let (checks, stopping, callers) = (HeadChecks::new(limits), stopping.clone(), Arc::clone(&callers));
        let application = application().into_factory();
        let application =
            application.map_err(|error| Response::from(error.as_response_error().error_response()));
        let http = HttpService::build()
            .keep_alive(keep_alive)
            // `HeadChecks` limits the time of a head.
            .client_request_timeout(Duration::ZERO)
            .client_disconnect_timeout(DISCONNECT_WITHIN)
            .local_addr(address)
            .graceful_shutdown_signal(move || {
                let stopping = stopping.clone();
                async move { stopping.notified().await }
            })
            .on_connect_ext(move |connection: &CheckedStream, extensions: &mut Extensions| {
                extensions.insert(Arc::new(callers.of(connection.socket())));
                extensions.insert(connection.answers());
            })
            .h1(map_config(application, |()| AppConfig::default()));
        fn_service(move |socket: TcpStream| {
            let peer = socket.peer_addr().ok();
            ready(Ok::<_, DispatchError>((checks.of(socket), peer)))
        })
        .and_then(http)
    })?;
    Ok((server.run(), address))
}

fn bind(listen: &str) -> io::Result<TcpListener> {
    let mut refused = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in listen.to_socket_addrs()? {
        match bind_to(address) {
            Ok(listener) => return Ok(listener),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

fn bind_to(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A stopped server is restarted at once, on the same port.
    #[cfg(not(windows))]
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
