//! The certificate by which the server knows this program, in place of a password (`cert` in `pg_hba.conf`), or beside one.

use std::{
    fs::{self, Metadata},
    io,
    os::unix::fs::MetadataExt,
};

use rustls::{
    ClientConfig, ConfigBuilder,
    client::WantsClientCert,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject},
    },
};

use super::AddressError;

/// The permissions that only the owner of a key may have. If root owns the file, its group may read it, too.
const OF_OTHERS: u32 = 0o077;
const OF_OTHERS_THAN_THE_GROUP: u32 = 0o037;

/// A certificate, those between it and its authority, and its key.
pub(super) struct ClientCertificate {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    /// Where the key was read.
    key_path: String,
}

impl ClientCertificate {
    /// Reads both files. Like libpq, it does not use a key that others may read.
    pub(super) fn read(certificate: &str, key: &str) -> Result<Self, AddressError> {
        let failed = |source| AddressError::ClientCertificate { path: certificate.to_owned(), source };
        let pem = fs::read(certificate).map_err(|source| failed(source.into()))?;
        let chain = CertificateDer::pem_slice_iter(&pem).collect::<Result<Vec<_>, pem::Error>>();
        let chain = chain.map_err(|source| failed(source.to_string().into()))?;
        if chain.is_empty() {
            return Err(failed(io::Error::from(io::ErrorKind::InvalidData).into()));
        }
        Ok(Self { chain, key: read_key(key)?, key_path: key.to_owned() })
    }

    /// The configuration of a client that presents it.
    pub(super) fn presented_by(
        self,
        client: ConfigBuilder<ClientConfig, WantsClientCert>,
    ) -> Result<ClientConfig, AddressError> {
        let config = client.with_client_auth_cert(self.chain, self.key);
        config.map_err(|source| AddressError::ClientKey { path: self.key_path, source: source.into() })
    }
}

fn read_key(path: &str) -> Result<PrivateKeyDer<'static>, AddressError> {
    let failed = |source| AddressError::ClientKey { path: path.to_owned(), source };
    let metadata = fs::metadata(path).map_err(|source| failed(source.into()))?;
    if is_exposed(&metadata) {
        return Err(AddressError::ClientKeyExposed(path.to_owned()));
    }
    let pem = fs::read(path).map_err(|source| failed(source.into()))?;
    PrivateKeyDer::from_pem_slice(&pem).map_err(|source| failed(source.to_string().into()))
}

fn is_exposed(metadata: &Metadata) -> bool {
    let forbidden = if metadata.uid() == 0 { OF_OTHERS_THAN_THE_GROUP } else { OF_OTHERS };
    metadata.mode() & forbidden != 0
}
