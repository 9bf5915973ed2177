//! What goes wrong on a TLS connection.

use dyno_model::Localized;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};

/// Why a TLS connection failed. The English texts are those of rustls.
#[derive(Debug, Clone, PartialEq, Localized)]
pub enum TlsFault {
    /// Nobody who is trusted has signed the server's certificate.
    #[message(
        "invalid peer certificate: UnknownIssuer",
        "服务器证书无效：颁发机构未知（UnknownIssuer）"
    )]
    UnknownIssuer,
    /// Something else is wrong with the server's certificate.
    #[message("invalid peer certificate: {0}", "服务器证书无效：{0}")]
    Certificate(CertificateError),
    /// What arrived is not TLS.
    #[message(
        "received corrupt message of type InvalidContentType",
        "收到损坏的 InvalidContentType 消息；目标可能不是 https"
    )]
    NotTls,
    /// What arrived is damaged TLS.
    #[message("received corrupt message of type {0:?}", "收到损坏的 {0:?} 消息")]
    Damaged(InvalidMessage),
    /// The server says what is wrong.
    #[message("received fatal alert: {0:?}", "收到服务器的警报：{0:?}")]
    Alert(AlertDescription),
    /// Anything else.
    #[message(transparent)]
    Other(Error),
}

impl TlsFault {
    /// Whether the server's certificate is not accepted.
    pub fn is_certificate(&self) -> bool {
        matches!(self, Self::UnknownIssuer | Self::Certificate(_))
    }
}

impl From<Error> for TlsFault {
    fn from(error: Error) -> Self {
        match error {
            Error::InvalidCertificate(CertificateError::UnknownIssuer) => Self::UnknownIssuer,
            Error::InvalidCertificate(why) => Self::Certificate(why),
            Error::InvalidMessage(InvalidMessage::InvalidContentType) => Self::NotTls,
            Error::InvalidMessage(why) => Self::Damaged(why),
            Error::AlertReceived(alert) => Self::Alert(alert),
            other => Self::Other(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_model::Language;

    #[test]
    fn the_english_is_what_rustls_says() {
        for error in [
            Error::InvalidCertificate(CertificateError::UnknownIssuer),
            Error::InvalidCertificate(CertificateError::Expired),
            Error::InvalidMessage(InvalidMessage::InvalidContentType),
            Error::InvalidMessage(InvalidMessage::InvalidServerName),
            Error::AlertReceived(AlertDescription::CertificateRequired),
            Error::DecryptError,
        ] {
            assert_eq!(TlsFault::from(error.clone()).to_string(), error.to_string());
        }
        let expired = TlsFault::from(Error::InvalidCertificate(CertificateError::Expired));
        assert!(expired.is_certificate() && !TlsFault::NotTls.is_certificate());
        assert!(expired.text(Language::Chinese).starts_with("服务器证书无效："));
    }
}
