// SPDX-License-Identifier: Apache-2.0

internal import Bytes
public import LoginConf
internal import OpenSSLKit
public import RealmConfiguration

/// The certificate that a server presents: a configured certificate or the development certificate.
public struct ServerCertificate: Sendable {
    /// True for the development certificate, which clients do not trust by default.
    public var isDevelopment: Bool { development != nil }
    /// The file with the certificate.
    public let file: String
    /// The SHA-256 fingerprint of the certificate, in the form `AB:CD:...`.
    public let fingerprint: String
    let identity: TLSIdentity
    /// Nil for a configured certificate.
    let development: DevelopmentCertificate?

    init(_ development: DevelopmentCertificate, in folder: String) {
        identity = development.identity
        file = "\(folder)/\(DevelopmentCertificate.certificateName)"
        fingerprint = identity.leaf.fingerprint
        self.development = development
    }

    init(_ files: TLSSettings.CertificateFiles, reader: TLSFileReader) throws(ConfigurationErrors) {
        identity = try reader.identity(files)
        file = files.certificate.value
        fingerprint = identity.leaf.fingerprint
        development = nil
    }

    /// Returns the problem, other than its dates, that does not prevent the use of the certificate.
    func warning(at now: Int64) -> String? {
        if let end = identity.ocspResponse?.nextUpdate, end < now {
            return "the OCSP response of \(file) has expired and is not sent"
        }
        guard identity.leaf.notBefore <= now else { return "certificate \(identity.leaf.subject) is not valid yet" }
        guard let development, development.isSelfSigned else { return nil }
        let folder = file.dropLast(DevelopmentCertificate.certificateName.utf8.count)
        let authority = folder + DevelopmentCertificate.authorityName
        let end = UTCTime.readableText(Int(clamping: identity.leaf.notAfter))
        return """
            this certificate of an older version of gatehouse is used until \(end); \
            before that, replace the copies of it that proxies trust by \(authority)\
            \(development.authority == nil ? ", which the next start of the server makes" : "")
            """
    }

    /// Returns whether the certificate is valid for a host name in lower case (RFC 9525 section 6.3).
    func isFor(_ name: String) -> Bool {
        let wildcard = name.firstIndex(of: ".").map { "*" + name[$0...] }
        return identity.leaf.dnsNames.contains { known in
            let known = known.lowercased()
            return known == name || known == wildcard
        }
    }

    /// Reads the configured certificate and its key, and checks that they match; nil if none is configured.
    ///
    /// - Throws: ``ConfigurationErrors`` at the setting of the file.
    public static func configured(
        _ settings: ServerSettings,
        files: ConfigurationFiles
    ) throws(ConfigurationErrors) -> ServerCertificate? {
        guard let configured = settings.tls.files else { return nil }
        return try ServerCertificate(configured, reader: TLSFileReader(files: files))
    }
}
