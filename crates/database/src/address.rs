//! Where the database is, and how the connection to it is protected: the address of the settings, with the `sslmode`,
//! `sslrootcert`, `sslcert` and `sslkey` that PostgreSQL's own programs know.

mod client_certificate;

use std::{
    fs, io,
    sync::{Arc, atomic::AtomicU64},
};

use percent_encoding::percent_decode_str;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
    client::{
        WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use rustls_platform_verifier::Verifier as PlatformVerifier;
use tokio::task::AbortHandle;
use tokio_postgres::{
    Client, Config, NoTls,
    config::{SslMode, TargetSessionAttrs},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{Credentials, connection::drive};

use client_certificate::ClientCertificate;

/// The value of `sslrootcert` for the authorities that the operating system trusts.
const SYSTEM_ROOTS: &str = "system";

/// Longer than every mode, and shorter than a password should be.
const LONGEST_MODE: usize = 12;

/// A database's address: the servers that may be its primary, and how the connection is protected.
#[derive(Clone)]
pub(crate) struct Address {
    hosts: Vec<Host>,
}

/// One server.
#[derive(Clone)]
pub(crate) struct Host {
    config: Config,
    tls: Option<MakeRustlsConnect>,
}

/// Why a text is no address of a database. No error repeats the address, because it contains a password.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// It cannot be parsed, or names no host.
    #[error("database_url is no address such as postgres://login:password@host/name")]
    Malformed,
    /// It names a mode that PostgreSQL does not have, or that is not offered here.
    #[error("database_url has sslmode={0}, which must be disable, prefer, require, verify-ca or verify-full")]
    UnknownMode(String),
    /// It names an authority, and a mode that verifies nothing.
    #[error(
        "database_url has sslrootcert and sslmode={0}, which verifies nothing; set sslmode=verify-full, or leave sslrootcert out"
    )]
    VerifiesNothing(String),
    /// The mode verifies certificates, and the file with their authority is missing or not readable.
    #[error("database_url has sslrootcert={path}, which cannot be read as PEM certificates")]
    RootCertificate {
        /// The file.
        path: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// It names only one of a certificate and its key.
    #[error("database_url has one of sslcert and sslkey; give both, or leave both out")]
    HalfACertificate,
    /// It names a certificate, and a mode that may not send it.
    #[error(
        "database_url has sslcert, which is sent only with sslmode=require, verify-ca or verify-full; set verify-full"
    )]
    CertificateUnsent,
    /// The file of the certificate is missing or not readable.
    #[error("database_url has sslcert={path}, which cannot be read as PEM certificates")]
    ClientCertificate {
        /// The file.
        path: String,
        /// Why not.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The file of the key is missing or not readable, or the key is that of another certificate.
    #[error("database_url has sslkey={path}, which cannot be used as the PEM private key of sslcert")]
    ClientKey {
        /// The file.
        path: String,
        /// Why not.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Others may read or replace the key.
    #[error("database_url has sslkey={0}, which others may read: enter chmod 600, or 640 if root owns it")]
    ClientKeyExposed(String),
    /// The TLS library refuses the configuration.
    #[error("the TLS connection to the database cannot be set up")]
    Tls(#[source] TlsError),
}

/// How much of the server is verified, in the words of PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// No encryption.
    Disable,
    /// Encryption if the server has it. Nothing is verified.
    Prefer,
    /// Encryption. The authority is verified only if `sslrootcert` names it.
    Require,
    /// Encryption, and a certificate of the authority.
    VerifyCa,
    /// Encryption, and a certificate of the authority for this host name.
    VerifyFull,
}

/// The options of the address that we read ourselves, and not the driver.
#[derive(Debug, Default, PartialEq, Eq)]
struct Protection {
    mode: Option<String>,
    root_certificate: Option<String>,
    client_certificate: Option<String>,
    client_key: Option<String>,
}

impl Address {
    /// The address and its protection. Reads the file of `sslrootcert`.
    pub(crate) fn parse(url: &str) -> Result<Self, AddressError> {
        let (url, protection) = Protection::taken_from(url)?;
        let mode = protection.mode()?;
        let tls = protection.client_config(mode)?.map(MakeRustlsConnect::new);
        let hosts = one_for_each_host(&url).map(|url| Host::parse(&url, mode, tls.clone()));
        Ok(Self { hosts: hosts.collect::<Result<_, _>>()? })
    }

    /// The servers that may be the primary. There is at least one.
    pub(crate) fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The login and the password of every host, if there is a password.
    pub(crate) fn credentials(&self) -> Option<Credentials> {
        let config = &self.hosts.first()?.config;
        let password = str::from_utf8(config.get_password()?).ok()?;
        Some(Credentials { login: config.get_user()?.to_owned(), password: password.into() })
    }

    /// The same address with more options of the driver.
    pub(crate) fn with(mut self, complete: impl Fn(&mut Config)) -> Self {
        self.hosts.iter_mut().for_each(|host| complete(&mut host.config));
        self
    }
}

impl Host {
    fn parse(url: &str, mode: Mode, tls: Option<MakeRustlsConnect>) -> Result<Self, AddressError> {
        let mut config: Config = url.parse().map_err(|_password_inside| AddressError::Malformed)?;
        // The default of the driver. A mode that it found and this module did not must not be lost.
        if config.get_hosts().is_empty() || config.get_ssl_mode() != SslMode::Prefer {
            return Err(AddressError::Malformed);
        }
        // Each connection is checked here, and a standby may be asked too.
        config.target_session_attrs(TargetSessionAttrs::Any);
        config.ssl_mode(match mode {
            Mode::Disable => SslMode::Disable,
            Mode::Prefer => SslMode::Prefer,
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => SslMode::Require,
        });
        Ok(Self { config, tls })
    }

    /// Connects, and drives the connection in a task of its own, which counts the warnings of the server.
    pub(crate) async fn connect(
        &self,
        warnings: &Arc<AtomicU64>,
    ) -> Result<(Client, AbortHandle), tokio_postgres::Error> {
        let warnings = Arc::clone(warnings);
        let (client, driver) = if let Some(tls) = &self.tls {
            let (client, connection) = self.config.connect(tls.clone()).await?;
            (client, tokio::spawn(drive(connection, warnings)))
        } else {
            let (client, connection) = self.config.connect(NoTls).await?;
            (client, tokio::spawn(drive(connection, warnings)))
        };
        Ok((client, driver.abort_handle()))
    }
}

/// The same address for each of its hosts. libpq separates them by commas, and so does the driver, which asks one after
/// the other.
fn one_for_each_host(url: &str) -> impl Iterator<Item = String> {
    let scheme = url.find("://").map_or(0, |at| at + "://".len());
    // Like the driver: the first `@` ends the credentials.
    let hosts = url.find('@').map_or(scheme, |at| at + 1);
    let (credentials, rest) = url.split_at(hosts);
    let (hosts, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    hosts.split(',').map(move |host| format!("{credentials}{host}{rest}"))
}

impl Protection {
    /// Takes the parameters out of an address that the driver does not know, and returns the rest. Only a URL is an
    /// address, because the driver's other form cannot carry them.
    fn taken_from(url: &str) -> Result<(String, Self), AddressError> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(AddressError::Malformed);
        }
        // A password may contain a question mark.
        let (credentials, rest) = url.split_at(url.find('@').unwrap_or_default());
        let Some((place, query)) = rest.split_once('?') else { return Ok((url.to_owned(), Self::default())) };
        let mut protection = Self::default();
        let mut others = Vec::new();
        for pair in query.split('&') {
            let decoded = |value: &str| percent_decode_str(value).decode_utf8_lossy().into_owned();
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match decoded(key).as_str() {
                "sslmode" => protection.mode = Some(decoded(value)),
                "sslrootcert" => protection.root_certificate = Some(decoded(value)),
                "sslcert" => protection.client_certificate = Some(decoded(value)),
                "sslkey" => protection.client_key = Some(decoded(value)),
                _ => others.push(pair),
            }
        }
        let mark = if others.is_empty() { "" } else { "?" };
        Ok((format!("{credentials}{place}{mark}{}", others.join("&")), protection))
    }

    /// The mode that the parameters ask for. Without a mode the connection is not encrypted, but an authority that is
    /// named must be verified.
    fn mode(&self) -> Result<Mode, AddressError> {
        match (self.mode.as_deref(), &self.root_certificate) {
            (Some(mode @ ("disable" | "prefer")), Some(_)) => {
                Err(AddressError::VerifiesNothing(mode.to_owned()))
            }
            (None | Some("disable"), None) => Ok(Mode::Disable),
            (None, Some(_)) | (Some("verify-full"), _) => Ok(Mode::VerifyFull),
            (Some("prefer"), None) => Ok(Mode::Prefer),
            (Some("require"), None) => Ok(Mode::Require),
            (Some("require" | "verify-ca"), _) => Ok(Mode::VerifyCa),
            // A longer text may be more of the address, and the address contains a password.
            (Some(unknown), _) if unknown.len() <= LONGEST_MODE && unknown.chars().all(is_of_a_mode) => {
                Err(AddressError::UnknownMode(unknown.to_owned()))
            }
            (Some(_), _) => Err(AddressError::Malformed),
        }
    }

    /// The certificate by which the server knows this program, if the address names one. It must be sent, because the
    /// operator who names it relies on it.
    fn client_certificate(&self, mode: Mode) -> Result<Option<ClientCertificate>, AddressError> {
        let (certificate, key) = match (&self.client_certificate, &self.client_key) {
            (None, None) => return Ok(None),
            (Some(certificate), Some(key)) => (certificate, key),
            (Some(_), None) | (None, Some(_)) => return Err(AddressError::HalfACertificate),
        };
        match mode {
            Mode::Disable | Mode::Prefer => Err(AddressError::CertificateUnsent),
            Mode::Require | Mode::VerifyCa | Mode::VerifyFull => {
                ClientCertificate::read(certificate, key).map(Some)
            }
        }
    }

    /// None if the connection is not encrypted.
    fn client_config(&self, mode: Mode) -> Result<Option<ClientConfig>, AddressError> {
        let certificate = self.client_certificate(mode)?;
        let provider = Arc::new(ring::default_provider());
        let roots = self.root_certificate.as_deref().unwrap_or(SYSTEM_ROOTS);
        let verifier: Arc<dyn ServerCertVerifier> = match (mode, roots) {
            (Mode::Disable, _) => return Ok(None),
            (Mode::Prefer | Mode::Require, _) => Arc::new(AnyName::without_authority(&provider)),
            // Any holder of a public certificate would pass without its name, so `verify-ca` verifies it too.
            (Mode::VerifyCa | Mode::VerifyFull, SYSTEM_ROOTS) => {
                Arc::new(PlatformVerifier::new(Arc::clone(&provider)).map_err(AddressError::Tls)?)
            }
            (Mode::VerifyCa, path) => Arc::new(AnyName::of(authority(path, &provider)?, &provider)),
            (Mode::VerifyFull, path) => authority(path, &provider)?,
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(AddressError::Tls)?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        match certificate {
            Some(certificate) => certificate.presented_by(config).map(Some),
            None => Ok(Some(config.with_no_client_auth())),
        }
    }
}

const fn is_of_a_mode(character: char) -> bool {
    matches!(character, 'a'..='z' | '_' | '-')
}

/// Verifies certificates of the authorities in a PEM file.
fn authority(path: &str, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, AddressError> {
    let failed = |source| AddressError::RootCertificate { path: path.to_owned(), source };
    let pem = fs::read(path).map_err(|source| failed(source.into()))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|source| failed(source.to_string().into()))?;
        roots.add(certificate).map_err(|source| failed(source.into()))?;
    }
    if roots.is_empty() {
        return Err(failed(io::Error::from(io::ErrorKind::InvalidData).into()));
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|source| failed(source.into()))
}

/// Accepts a certificate for any name: of the authority, or of any authority if there is none.
#[derive(Debug)]
struct AnyName {
    provider: Arc<CryptoProvider>,
    authority: Option<Arc<WebPkiServerVerifier>>,
}

impl AnyName {
    fn of(authority: Arc<WebPkiServerVerifier>, provider: &Arc<CryptoProvider>) -> Self {
        Self { provider: Arc::clone(provider), authority: Some(authority) }
    }

    fn without_authority(provider: &Arc<CryptoProvider>) -> Self {
        Self { provider: Arc::clone(provider), authority: None }
    }
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let Some(authority) = &self.authority else { return Ok(ServerCertVerified::assertion()) };
        // The name is verified last, so everything else was in order.
        match authority.verify_server_cert(certificate, intermediates, name, ocsp_response, now) {
            Err(TlsError::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests;
