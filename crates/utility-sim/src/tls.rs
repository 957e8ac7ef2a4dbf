//! Serves the HTTP interfaces with TLS: decrypts each connection, and passes its bytes on to the plain address.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};
use tokio_rustls::TlsAcceptor;

use crate::settings::TlsSettings;

/// The pause after a connection could not be accepted, because the process has too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// The server's side of TLS with the certificate of the settings.
pub(crate) fn acceptor(settings: &TlsSettings) -> io::Result<TlsAcceptor> {
    let unusable = |what: &'static str| move |_why| io::Error::new(io::ErrorKind::InvalidInput, what);
    let chain = CertificateDer::pem_slice_iter(settings.certificate_pem.as_bytes()).collect::<Result<_, _>>();
    let key = PrivateKeyDer::from_pem_slice(settings.private_key_pem.expose().as_bytes());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_single_cert(
            chain.map_err(unusable("the certificate is not PEM"))?,
            key.map_err(unusable("the private key is not PEM"))?,
        );
    config.map(|config| TlsAcceptor::from(Arc::new(config))).map_err(io::Error::other)
}

/// Accepts connections until the thread ends. Each has a connection to the plain address of its own, so a connection that is
/// cut there is cut here.
pub(crate) async fn serve(listener: TcpListener, acceptor: TlsAcceptor, plain: SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, _peer)) => {
                actix_web::rt::spawn(pass_on(stream, acceptor.clone(), plain));
            }
            Err(why) => {
                tracing::warn!(%why, "a TLS connection cannot be accepted");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn pass_on(stream: TcpStream, acceptor: TlsAcceptor, plain: SocketAddr) -> io::Result<()> {
    let mut decrypted = acceptor.accept(stream).await?;
    let mut inner = TcpStream::connect(plain).await?;
    copy_bidirectional(&mut decrypted, &mut inner).await.map(drop)
}
