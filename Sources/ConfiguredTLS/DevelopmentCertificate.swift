// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf
internal import OpenSSLKit
internal import RealmConfiguration
internal import Store

/// The self-signed certificate of a server whose administrator has not configured a certificate.
///
/// It is valid for `localhost`, `127.0.0.1` and `::1`, and stored in the state folder. A new certificate is created if
/// the stored certificate cannot be read or expires within a day.
enum DevelopmentCertificate {
    static let days = 365
    private static let certificateName = "development-certificate.pem"
    private static let keyName = "development-key.pem"

    static func load(
        _ settings: ServerSettings,
        files: ConfigurationFiles
    ) throws(ConfigurationErrors) -> ServerCertificate {
        let folder: StateFolder
        let identity: TLSIdentity
        do throws(StateFolder.Fault) {
            folder = try StateFolder(settings.stateFolder.value)
            if let kept = existing(in: folder.path, files) { identity = kept } else { identity = try make(in: folder) }
        } catch {
            throw settings.stateFolder.errors("the state folder cannot be used: \(error.reason)")
        }
        return ServerCertificate(identity, file: folder.path(certificateName), isDevelopment: true)
    }

    /// Returns the stored certificate; nil if there is none, if it cannot be read, or if it expires within a day.
    static func existing(_ settings: ServerSettings, files: ConfigurationFiles) -> ServerCertificate? {
        let folder = settings.stateFolder.value
        return existing(in: folder, files).map {
            ServerCertificate($0, file: "\(folder)/\(certificateName)", isDevelopment: true)
        }
    }

    private static func existing(in folder: String, _ files: ConfigurationFiles) -> TLSIdentity? {
        guard case .success(let certificate) = files.read("\(folder)/\(certificateName)"),
            case .success(let key) = files.read("\(folder)/\(keyName)")
        else { return nil }
        do throws(OpenSSLError) {
            let identity = try TLSIdentity(
                certificateChain: try Certificate.chain(pem: certificate.bytes, name: certificateName),
                privateKey: try PrivateKey(pem: key.bytes, name: keyName)
            )
            try identity.leaf.checkValidity(at: ServerCertificate.now + 86_400)
            return identity
        } catch {
            return nil
        }
    }

    /// Creates a certificate and its key, and stores neither.
    static func makeIdentity() throws(OpenSSLError) -> TLSIdentity {
        let (certificate, key) = try SelfSignedCertificate.make(
            dnsNames: ["localhost"],
            ipAddresses: ["127.0.0.1", "::1"],
            validFor: days,
            now: ServerCertificate.now
        )
        return try TLSIdentity(certificateChain: [certificate], privateKey: key)
    }

    private static func make(in folder: StateFolder) throws(StateFolder.Fault) -> TLSIdentity {
        let identity: TLSIdentity
        var keyText: [UInt8] = []
        let certificateText: [UInt8]
        defer { for index in keyText.indices { keyText[index] = 0 } }
        do throws(OpenSSLError) {
            identity = try makeIdentity()
            certificateText = Array(try identity.leaf.pem().utf8)
            keyText = try identity.privateKey.withPEM { span in span.indices.map { span[$0] } }
        } catch {
            throw StateFolder.Fault(reason: "the development certificate cannot be created: \(error)")
        }
        try folder.write(keyText, to: keyName, mode: 0o600)
        try folder.write(certificateText, to: certificateName, mode: 0o644)
        return identity
    }
}
