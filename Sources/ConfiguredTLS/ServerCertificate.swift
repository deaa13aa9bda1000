// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
public import LoginConf
internal import OpenSSLKit
public import RealmConfiguration

/// The certificate that a server presents: the configured one, or one of its own for development.
public struct ServerCertificate: Sendable {
    /// True for a development certificate, which no client trusts by default.
    public let isDevelopment: Bool
    /// The file with the certificate.
    public let file: String
    /// The SHA-256 of the certificate, as in `AB:CD:...`.
    public let fingerprint: String
    /// A problem that does not prevent its use, such as its expiry; nil if there is none.
    public let warning: String?
    let identity: TLSIdentity

    init(_ identity: TLSIdentity, file: String, isDevelopment: Bool) {
        self.identity = identity
        self.file = file
        self.isDevelopment = isDevelopment
        fingerprint = identity.leaf.fingerprint
        var warnings: [String] = []
        do throws(OpenSSLError) {
            try identity.leaf.checkValidity(at: Self.now)
        } catch {
            warnings.append("\(error)")
        }
        if let end = identity.ocspResponse?.nextUpdate, end < Self.now {
            warnings.append("the OCSP response of \(file) has expired and is not sent")
        }
        warning = warnings.isEmpty ? nil : warnings.joined(separator: "; ")
    }

    init(_ files: TLSSettings.CertificateFiles, _ reader: TLSFiles) throws(ConfigurationErrors) {
        self.init(try reader.identity(files), file: files.certificate.value, isDevelopment: false)
    }

    /// Returns whether the certificate is valid for a host name in lower case (RFC 9525 section 6.3).
    func isFor(_ name: String) -> Bool {
        let wildcard = name.firstIndex(of: ".").map { "*" + name[$0...] }
        return identity.leaf.dnsNames.contains { known in
            let known = known.lowercased()
            return known == name || known == wildcard
        }
    }

    /// Reads the configured certificate and its key and checks that they match; creates nothing.
    ///
    /// - Parameters:
    ///   - settings: The server's settings.
    ///   - files: The source of the files.
    /// - Returns: The certificate; nil if none is configured.
    /// - Throws: ``ConfigurationErrors`` at the place that names the file.
    public static func configured(
        _ settings: ServerSettings,
        files: ConfigurationFiles
    ) throws(ConfigurationErrors) -> ServerCertificate? {
        guard let configured = settings.tls.files else { return nil }
        return try ServerCertificate(configured, TLSFiles(files: files))
    }

    static var now: Int64 { Int64(time(nil)) }
}
