//! The connection to the database over TLS, against a real server with certificates of this test's own authority.

use std::{fs, path::PathBuf, time::Duration};

use clock::{Clock, SystemClock};
use database::{Database, DatabaseError, DatabaseSettings, Purpose, migrate};
use local_postgres::{Durability, LocalDatabase, LocalPostgres};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::runtime::Runtime;

/// Far more than a reload of the server's settings takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// How many of our connections the server has encrypted.
const ENCRYPTED: &str = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
    WHERE application_name = 'vendgate' AND ssl";

/// A server that has a certificate for one name.
struct TlsServer {
    /// It runs for as long as this value exists.
    _postgres: LocalPostgres,
    database: LocalDatabase,
    /// The certificate of the authority that issued the server's.
    authority: PathBuf,
}

impl TlsServer {
    fn with_certificate_for(name: &str) -> Self {
        let (authority, certificate, key) = certificate_for(name);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("authority of {name}.pem"));
        fs::write(&path, authority).unwrap();
        let postgres = LocalPostgres::start(Durability::Throwaway).unwrap();
        let database = postgres.create_database("vendgate").unwrap();
        // The server writes its own files, because it accepts a key only if it owns the file.
        for (file, pem) in [("server.crt", certificate), ("server.key", key)] {
            let program = format!("cat > {file} && chmod 600 {file}");
            let lines = pem.lines().map(|line| format!("('{line}')")).collect::<Vec<_>>().join(", ");
            database.run_sql(&format!("COPY (VALUES {lines}) TO PROGRAM '{program}'")).unwrap();
        }
        database.run_sql("ALTER SYSTEM SET ssl = on").unwrap();
        database.run_sql("SELECT pg_reload_conf()").unwrap();
        let began = SystemClock.monotonic();
        while database.run_sql("SHOW ssl").unwrap() != "on" {
            assert!(SystemClock.monotonic().elapsed_since(began) < PATIENCE, "the server does not encrypt");
        }
        Runtime::new().unwrap().block_on(migrate(&database.url().into())).unwrap();
        Self { _postgres: postgres, database, authority: path }
    }

    /// The address on this host, with parameters. `{ca}` stands for the path of the authority.
    fn address(&self, host: &str, parameters: &str) -> String {
        let authority = self.authority.to_string_lossy().replace(' ', "%20");
        let url = self.database.url().replace("@127.0.0.1", &format!("@{host}"));
        format!("{url}?{}", parameters.replace("{ca}", &authority))
    }

    /// Connects; on success returns how many of our connections are encrypted.
    fn connects(&self, host: &str, parameters: &str) -> Result<u32, DatabaseError> {
        let runtime = Runtime::new().unwrap();
        let _connected = connect(&runtime, self.address(host, parameters))?;
        Ok(self.database.run_sql(ENCRYPTED).unwrap().parse().unwrap())
    }
}

fn connect(runtime: &Runtime, url: String) -> Result<Database, DatabaseError> {
    let settings = DatabaseSettings::for_database(url);
    runtime.block_on(Database::connect(settings, Purpose::General, runtime.handle().clone()))
}

/// The PEM forms of an authority, and of a certificate and key that it issued for a host name.
fn certificate_for(name: &str) -> (String, String, String) {
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = parameters.signed_by(&key, &authority).unwrap();
    (authority.pem(), certificate.pem(), key.serialize_pem())
}

/// Every cause of an error, outermost first.
fn causes(error: &DatabaseError) -> String {
    let mut causes = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        causes = format!("{causes}: {cause}");
        next = cause.source();
    }
    causes
}

#[test]
fn verify_full_accepts_the_right_certificate_and_refuses_every_other() {
    let server = TlsServer::with_certificate_for("localhost");
    assert_eq!(server.connects("localhost", "sslmode=disable").unwrap(), 0);
    for encrypted in
        ["sslmode=prefer", "sslmode=require", "sslmode=verify-full&sslrootcert={ca}", "sslrootcert={ca}"]
    {
        assert!(server.connects("localhost", encrypted).unwrap() > 0, "{encrypted}");
    }

    let other_name = server.connects("127.0.0.1", "sslmode=verify-full&sslrootcert={ca}").unwrap_err();
    assert!(causes(&other_name).contains("certificate not valid for name"), "{}", causes(&other_name));
    assert!(server.connects("127.0.0.1", "sslmode=verify-ca&sslrootcert={ca}").unwrap() > 0);

    let unknown = server.connects("localhost", "sslmode=verify-full&sslrootcert=system").unwrap_err();
    assert!(causes(&unknown).contains("UnknownIssuer"), "{}", causes(&unknown));
    let neighbour = TlsServer::with_certificate_for("127.0.0.1");
    let parameters =
        format!("sslmode=verify-full&sslrootcert={}", neighbour.authority.display()).replace(' ', "%20");
    for mode in ["verify-full", "verify-ca", "require"] {
        let error = server.connects("localhost", &parameters.replace("verify-full", mode)).unwrap_err();
        // The two authorities have the same name, so the signature tells them apart.
        assert!(causes(&error).contains("BadSignature"), "{mode}: {}", causes(&error));
    }
    assert!(neighbour.connects("127.0.0.1", "sslmode=verify-full&sslrootcert={ca}").unwrap() > 0);
}

#[test]
fn a_server_without_encryption_is_refused_where_it_is_required() {
    let postgres = LocalPostgres::shared();
    let database = postgres.create_database("unencrypted").unwrap();
    let runtime = Runtime::new().unwrap();
    let url = format!("{}?sslmode=require", database.url());
    let error = connect(&runtime, url.clone()).unwrap_err();
    assert!(causes(&error).contains("server does not support TLS"), "{}", causes(&error));

    let error = runtime.block_on(migrate(&url.into())).unwrap_err();
    assert!(causes(&error).contains("server does not support TLS"), "{}", causes(&error));
}
