// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
public import LoginConf
internal import OpenSSLKit
public import RealmConfiguration

/// The certificate a server shows: the configured one, or one of its own for development.
public struct ServerCertificate: Sendable {
    /// Whether it is the server's own, which no client trusts by itself.
    public let isDevelopment: Bool
    /// The file with the certificate.
    public let file: String
    /// The SHA-256 of the certificate, as in `AB:CD:...`.
    public let fingerprint: String
    /// What is doubtful about it, such as that its time is over; nil if nothing is.
    public let doubt: String?
    let identity: TLSIdentity

    init(_ identity: TLSIdentity, file: String, isDevelopment: Bool) {
        self.identity = identity
        self.file = file
        self.isDevelopment = isDevelopment
        fingerprint = identity.leaf.fingerprint
        var doubts: [String] = []
        do throws(OpenSSLError) {
            try identity.leaf.checkValidity(at: Self.now)
        } catch {
            doubts.append("\(error)")
        }
        if let end = identity.ocspResponse?.nextUpdate, end < Self.now {
            doubts.append("the OCSP response of \(file) has run out and is not sent")
        }
        doubt = doubts.isEmpty ? nil : doubts.joined(separator: "; ")
    }

    init(_ files: TLSSettings.CertificateFiles, _ reader: TLSFiles) throws(ConfigurationErrors) {
        self.init(try reader.identity(files), file: files.certificate.value, isDevelopment: false)
    }

    /// Says whether a client that asks for a name, in lower case, will take it (RFC 9525 6.3).
    func isFor(_ name: String) -> Bool {
        let wildcard = name.firstIndex(of: ".").map { "*" + name[$0...] }
        return identity.leaf.dnsNames.contains { known in
            let known = known.lowercased()
            return known == name || known == wildcard
        }
    }

    /// Reads the configured certificate and its key and sees that they fit; makes nothing.
    ///
    /// - Parameters:
    ///   - settings: The server's settings.
    ///   - files: Where files come from.
    /// - Returns: The certificate; nil when none is configured.
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
