//! TLS with rustls: the system's or the user's certificate authorities, client certificates, or no
//! verification with `--insecure`.

mod fault;
mod own;

pub use fault::TlsFault;

use dyno_model::{Localized, Message, message};
use own::OwnCertificates;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The user's certificate settings.
#[derive(Debug, Clone, Default)]
pub struct TlsSettings {
    /// Do not check the server's certificate.
    pub insecure: bool,
    /// Trust the authorities in this PEM file, and no others.
    pub ca_cert: Option<PathBuf>,
    /// Present the client certificate in this PEM file, which also contains its key.
    pub client_cert: Option<PathBuf>,
}

/// Why TLS could not be set up.
#[derive(Debug, Localized)]
pub enum TlsError {
    /// A PEM file could not be used.
    #[message("{flag}: {path}: {why}", "{flag}：{path}：{why}", path = path.display())]
    File {
        /// The flag that named it.
        flag: &'static str,
        /// The file.
        path: PathBuf,
        /// What was wrong.
        why: Message,
    },
    /// The system has no roots.
    #[message(
        "this system has no trusted certificate authorities ({0}); pass some with --ca-cert FILE",
        "本机没有受信任的证书颁发机构（{0}）；请用 --ca-cert FILE 指定"
    )]
    NoRoots(Message),
    /// rustls refused the configuration.
    #[message("setting up TLS failed: {0}", "无法设置 TLS：{0}")]
    Config(#[from] rustls::Error),
}

/// Builds the configuration that all connections share.
pub fn client_config(settings: &TlsSettings) -> Result<Arc<ClientConfig>, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()?;
    let builder = match &settings.ca_cert {
        _ if settings.insecure => {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Unchecked(provider)))
        }
        Some(path) => builder.dangerous().with_custom_certificate_verifier(listed(path, provider)?),
        None => builder.with_root_certificates(system_roots()?),
    };
    let mut config = match &settings.client_cert {
        None => builder.with_no_client_auth(),
        Some(path) => {
            let flag = "--client-cert";
            let chain = certificates(flag, path)?;
            let key = PrivateKeyDer::from_pem_file(path).map_err(|error| {
                let why = message!("no private key in it ({error})", "其中没有私钥（{error}）");
                file(flag, path, why)
            })?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| file(flag, path, Message::quoted(error)))?
        }
    };
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn file(flag: &'static str, path: &Path, why: Message) -> TlsError {
    TlsError::File { flag, path: path.to_owned(), why }
}

fn certificates(flag: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(path).and_then(|certificates| certificates.collect());
    match all {
        Ok(all) if all.is_empty() => {
            Err(file(flag, path, message!("no certificate in it", "其中没有证书")))
        }
        Ok(all) => Ok(all),
        Err(error) => {
            let why = message!("not a PEM file ({error})", "不是 PEM 文件（{error}）");
            Err(file(flag, path, why))
        }
    }
}

/// Those that the certificates in a file vouch for.
fn listed(path: &Path, provider: Arc<CryptoProvider>) -> Result<Arc<OwnCertificates>, TlsError> {
    let flag = "--ca-cert";
    let listed = certificates(flag, path)?;
    let mut store = RootCertStore::empty();
    for certificate in &listed {
        store.add(certificate.clone()).map_err(|error| file(flag, path, Message::quoted(error)))?;
    }
    let by_authority = WebPkiServerVerifier::builder_with_provider(Arc::new(store), provider)
        .build()
        .map_err(|error| file(flag, path, Message::quoted(error)))?;
    Ok(Arc::new(OwnCertificates { by_authority, listed }))
}

fn system_roots() -> Result<RootCertStore, TlsError> {
    let mut store = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    store.add_parsable_certificates(found.certs);
    if store.is_empty() {
        let none = || message!("none found", "一个也没有找到");
        return Err(TlsError::NoRoots(found.errors.first().map_or_else(none, Message::quoted)));
    }
    Ok(store)
}

/// Accepts any certificate, for `--insecure`.
#[derive(Debug)]
struct Unchecked(Arc<CryptoProvider>);

impl ServerCertVerifier for Unchecked {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, dss, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
