//! A Postgres that encrypts its connections, and knows clients by their certificates.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use clock::{Clock, SystemClock};
use local_postgres::{Durability, LocalDatabase, LocalPostgres};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, ExtendedKeyUsagePurpose,
    IsCa, KeyPair,
};

use crate::database::prepare;

/// Far more than a reload of the server's settings takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with a migrated database. It runs for as long as this value exists.
pub struct TlsServer {
    _postgres: LocalPostgres,
    /// The database.
    pub database: LocalDatabase,
    /// The certificate of the authority that issued all certificates.
    pub authority: PathBuf,
    issuer: CertifiedIssuer<'static, KeyPair>,
    directory: PathBuf,
}

/// A certificate of a client, and its key: files in PEM.
#[derive(Clone, Debug)]
pub struct ClientFiles {
    /// The certificate.
    pub certificate: PathBuf,
    /// Its key, which no other user may read.
    pub key: PathBuf,
}

impl TlsServer {
    /// A server with a certificate for this name, and with files in `directory`. Lines `hba` go before those of its `pg_hba.conf`, and
    /// `ident` are the lines of its `pg_ident.conf`.
    pub fn start(name: &str, directory: &Path, hba: &[&str], ident: &[&str]) -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(parameters, new_key()).expect("an authority signs itself");
        let key = new_key();
        let parameters = CertificateParams::new(vec![name.to_owned()]).expect("the name is one of a host");
        let certificate = parameters.signed_by(&key, &issuer).expect("an authority signs");

        let postgres = LocalPostgres::start(Durability::Throwaway).expect("a test needs its server");
        let database =
            postgres.database_from_template("vendgate", prepare).expect("a test needs its database");
        let authority = directory.join(format!("authority of {}.pem", database.port()));
        fs::write(&authority, issuer.pem()).expect("the directory can be written");
        let server =
            Self { _postgres: postgres, database, authority, issuer, directory: directory.to_owned() };
        server.writes("server.crt", certificate.pem().lines());
        server.writes("server.key", key.serialize_pem().lines());
        server.writes("clients.crt", server.issuer.pem().lines());
        let hba = hba
            .iter()
            .copied()
            .chain(["host all all 127.0.0.1/32 scram-sha-256", "local all all scram-sha-256"]);
        server.writes("pg_hba.conf", hba);
        server.writes("pg_ident.conf", ident.iter().copied());
        server.run("ALTER SYSTEM SET ssl_ca_file = 'clients.crt'");
        server.run("ALTER SYSTEM SET ssl = on");
        server.run("SELECT pg_reload_conf()");
        let began = SystemClock.monotonic();
        while server.run("SHOW ssl") != "on" {
            assert!(SystemClock.monotonic().elapsed_since(began) < PATIENCE, "the server does not encrypt");
        }
        server
    }

    /// A certificate of the same authority for a client of this name.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub fn certifies(&self, name: &str) -> io::Result<ClientFiles> {
        self.files(name, &self.issuer)
    }

    /// A certificate of another authority for a client of this name.
    ///
    /// # Errors
    /// If the files cannot be written.
    pub fn does_not_certify(&self, name: &str) -> io::Result<ClientFiles> {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let other = CertifiedIssuer::self_signed(parameters, new_key()).map_err(io::Error::other)?;
        self.files(&format!("no-{name}"), &other)
    }

    /// The parameters of an address that verify the server, and present this certificate to it.
    pub fn parameters(&self, ClientFiles { certificate, key }: &ClientFiles) -> String {
        let [authority, certificate, key] =
            [&self.authority, certificate, key].map(|path| path.to_string_lossy().replace(' ', "%20"));
        format!("sslmode=verify-full&sslrootcert={authority}&sslcert={certificate}&sslkey={key}")
    }

    fn files(&self, name: &str, issuer: &CertifiedIssuer<'static, KeyPair>) -> io::Result<ClientFiles> {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = DistinguishedName::new();
        parameters.distinguished_name.push(DnType::CommonName, name.trim_start_matches("no-"));
        parameters.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let key = new_key();
        let certificate = parameters.signed_by(&key, issuer).map_err(io::Error::other)?;
        let path =
            |extension: &str| self.directory.join(format!("{name}-{}.{extension}", self.database.port()));
        let files = ClientFiles { certificate: path("pem"), key: path("key") };
        fs::write(&files.certificate, certificate.pem())?;
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&files.key)?;
        file.write_all(key.serialize_pem().as_bytes())?;
        Ok(files)
    }

    /// The server writes its own files, because it accepts a key only if it owns the file.
    fn writes<'a>(&self, file: &str, lines: impl Iterator<Item = &'a str>) {
        let program = format!("cat > {file} && chmod 600 {file}");
        let lines: Vec<String> = lines.map(|line| format!("('{line}')")).collect();
        let lines = if lines.is_empty() { "('')".to_owned() } else { lines.join(", ") };
        self.run(&format!("COPY (VALUES {lines}) TO PROGRAM '{program}'"));
    }

    fn run(&self, sql: &str) -> String {
        self.database.run_sql(sql).expect("a superuser may do it")
    }
}

fn new_key() -> KeyPair {
    KeyPair::generate().expect("a key needs randomness only")
}
