// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
public import LoginConf
internal import OpenSSLKit
public import RealmConfiguration

/// The certificate that a server presents: a configured certificate or the development certificate.
public struct ServerCertificate: Sendable {
    /// True for the development certificate, which clients do not trust by default.
    public let isDevelopment: Bool
    /// The file with the certificate.
    public let file: String
    /// The SHA-256 fingerprint of the certificate, in the form `AB:CD:...`.
    public let fingerprint: String
    /// A problem that does not prevent the use of the certificate, such as expiry; nil if there is no problem.
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

    init(_ files: TLSSettings.CertificateFiles, _ reader: TLSFileReader) throws(ConfigurationErrors) {
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

    /// Reads the configured certificate and its key, and checks that they match.
    ///
    /// - Parameters:
    ///   - settings: The server's settings.
    ///   - files: The source of the files.
    /// - Returns: The certificate; nil if no certificate is configured.
    /// - Throws: ``ConfigurationErrors`` at the setting of the file.
    public static func configured(
        _ settings: ServerSettings,
        files: ConfigurationFiles
    ) throws(ConfigurationErrors) -> ServerCertificate? {
        guard let configured = settings.tls.files else { return nil }
        return try ServerCertificate(configured, TLSFileReader(files: files))
    }

    static var now: Int64 { Int64(time(nil)) }
}
