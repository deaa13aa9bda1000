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
        do throws(OpenSSLError) {
            try identity.leaf.checkValidity(at: Self.now)
            doubt = nil
        } catch {
            doubt = "\(error)"
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
        guard let certificate = settings.certificateFile, let key = settings.keyFile else { return nil }
        let chain = try parse(certificate, files) { bytes throws(OpenSSLError) in
            try Certificate.chain(pem: bytes, name: certificate.value)
        }
        let identity = try parse(key, files) { bytes throws(OpenSSLError) in
            let privateKey = try PrivateKey(pem: bytes, name: key.value)
            return try TLSIdentity(certificateChain: chain, privateKey: privateKey)
        }
        return ServerCertificate(identity, file: certificate.value, isDevelopment: false)
    }

    /// The certificate a server would show: the configured one, or the one for development if there is one; makes nothing.
    ///
    /// - Parameters:
    ///   - settings: The server's settings.
    ///   - files: Where files come from.
    /// - Returns: The certificate; nil when the first start is to make one for development.
    /// - Throws: ``ConfigurationErrors`` at the place that names the file.
    public static func existing(
        _ settings: ServerSettings,
        files: ConfigurationFiles
    ) throws(ConfigurationErrors) -> ServerCertificate? {
        if let configured = try configured(settings, files: files) { return configured }
        return DevelopmentCertificate.existing(settings, files: files)
    }

    private static func parse<Result>(
        _ file: Placed<String>,
        _ files: ConfigurationFiles,
        _ body: ([UInt8]) throws(OpenSSLError) -> Result
    ) throws(ConfigurationErrors) -> Result {
        switch files.read(file.value) {
        case .success(let contents):
            do throws(OpenSSLError) {
                return try body(contents.bytes)
            } catch {
                throw file.errors("\(error)")
            }
        case .failure(let fault):
            throw file.errors("\(file.value) cannot be read: \(fault.reason)")
        }
    }

    static var now: Int64 { Int64(time(nil)) }
}
