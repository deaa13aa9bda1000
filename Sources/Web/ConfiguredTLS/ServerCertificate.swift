// SPDX-License-Identifier: Apache-2.0

internal import Bytes
public import LoginConf
package import OpenSSLKit
public import RealmConfiguration
public import RealmKit

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

/// The certificates that a configuration names, and the warnings about those that expire within 30 days.
///
/// They are the certificates of the server, of authorities and of connections to other servers, and the authority of
/// the development certificate. The development certificate is renewed before it expires, and so it is not among them.
public struct ExpiringCertificates: Sendable {
    /// A file with more certificates is a collection such as that of the system, in which some always expire.
    private static let maximumCount = 20

    /// Each with the place that names its file.
    private let certificates: [(file: Located<String>, certificate: Certificate)]

    /// Reads the files; a file that cannot be read, which is reported elsewhere, is left out.
    public init(_ configuration: Configuration, files: ConfigurationFiles) {
        let settings = configuration.server
        var names = configuration.certificateFiles
        if settings.tls.files == nil {
            names.append(settings.stateFolder.map { "\($0)/\(DevelopmentCertificate.authorityName)" })
        }
        var certificates: [(Located<String>, Certificate)] = []
        var seen: Set<String> = []
        for name in names where seen.insert(name.value).inserted {
            guard case .success(let bytes) = files.read(name.value) else { continue }
            guard let chain = try? Certificate.chain(pem: bytes, name: name.value),
                chain.count <= Self.maximumCount
            else { continue }
            certificates += chain.map { (name, $0) }
        }
        self.certificates = certificates
    }

    /// The files, each with the time at which the first of its certificates expires, in seconds since 1970.
    package var expiryByFile: [String: Int64] {
        Dictionary(certificates.map { ($0.file.value, $0.certificate.notAfter) }, uniquingKeysWith: min)
    }

    /// Returns the warnings, at the places that name the files.
    public func warnings(at clock: WallClock) -> [Diagnostic] {
        certificates.compactMap { file, certificate in
            Self.warning(certificate, "in \(file.value)", at: clock).map { file.warning($0) }
        }
    }

    /// Returns the warning about a certificate at a place such as `in FILE`; nil if it is valid for 30 days.
    package static func warning(_ certificate: Certificate, _ place: String, at clock: WallClock) -> String? {
        let now = Int64(clock.seconds)
        guard certificate.notAfter < now + 30 * 86_400 else { return nil }
        let date = UTCTime.readableText(Int(clamping: certificate.notAfter))
        let text = "certificate \(certificate.subject) \(place)"
        guard certificate.notAfter >= now else { return "\(text) has expired on \(date)" }
        let days = (certificate.notAfter - now) / 86_400
        return "\(text) expires on \(date), in \(days) \(days == 1 ? "day" : "days")"
    }
}
