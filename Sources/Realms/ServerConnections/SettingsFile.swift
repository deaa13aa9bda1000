// SPDX-License-Identifier: Apache-2.0

internal import Files
package import OpenSSLKit
package import RealmKit

extension RealmProperties {
    /// Calls a function that reads the value of a property, and adds the name of the property to its fault.
    package func reading<Value>(
        _ name: String,
        _ body: () throws(BadValue) -> Value
    ) throws(BadRealm) -> Value {
        try Result { () throws(BadValue) in try body() }
            .mapError { BadRealm($0.description, setting: name) }.get()
    }
}

/// Reads the files that the properties name.
package enum SettingsFile {
    package static let maximumBytes = 1 << 20

    /// The file with the authorities that the system trusts, as on Debian.
    package static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    /// Returns the bytes of a file; other users must not be able to read one with a private key.
    package static func read(_ path: String, setting: String, isPrivateKey: Bool = false) throws(BadRealm) -> Secret {
        do throws(UnreadableFile) {
            let (file, status) = try OpenFile.regular(path)
            guard status.size <= maximumBytes else { throw UnreadableFile.tooLong(limit: maximumBytes) }
            if isPrivateKey { _ = try FileTrust.check(path, as: .privateKey, opened: status) }
            return try Secret(capacity: status.size) { output throws(UnreadableFile) in
                do throws(SystemError) { try file.fill(&output) } catch { throw UnreadableFile.system(error) }
            }
        } catch {
            switch error {
            case .notRegular, .tooLong:
                throw BadRealm("\(path) is not a file of at most \(maximumBytes) bytes", setting: setting)
            case .untrusted(let finding): throw BadRealm(finding.text, setting: setting)
            case .system, .beingWritten:
                throw BadRealm("\(path) cannot be read: \(error.reason)", setting: setting)
            }
        }
    }

    /// Reads the certificates of a file in PEM, one or more, in their order.
    package static func certificates(_ path: String, setting: String) throws(BadRealm) -> [Certificate] {
        let text = try read(path, setting: setting)
        return try Result { () throws(OpenSSLError) in
            try text.withBytes { bytes throws(OpenSSLError) in try Certificate.chain(pem: bytes, name: path) }
        }.mapError { BadRealm("\($0)", setting: setting) }.get()
    }
}

/// The PEM files of the certificate with which this program connects to a server.
package struct ClientCertificateFiles: Sendable {
    /// The file with the certificate and its chain.
    package let chain: String
    /// The file with the key; it may be the same file.
    package let key: String
    private let keySetting: String

    /// Reads the properties `client-certificate` and `client-key`; nil if neither is set.
    package init?(_ properties: RealmProperties) throws(BadRealm) {
        guard properties.has("client-certificate") else {
            guard !properties.has("client-key") else {
                throw BadRealm("must be set together with client-key", setting: "client-certificate")
            }
            return nil
        }
        chain = try properties.string("client-certificate")
        // One file may contain both.
        keySetting = properties.has("client-key") ? "client-key" : "client-certificate"
        key = try properties.string(keySetting)
        // The libraries of some realms read the files themselves, so the key is not kept.
        _ = try identity()
    }

    /// Reads the certificate with its chain and its key.
    package func identity() throws(BadRealm) -> TLSIdentity {
        let certificates = try SettingsFile.certificates(chain, setting: "client-certificate")
        let text = try SettingsFile.read(key, setting: keySetting, isPrivateKey: true)
        return try Result { () throws(OpenSSLError) in
            let privateKey = try text.withBytes { bytes throws(OpenSSLError) in try PrivateKey(pem: bytes, name: key) }
            return try TLSIdentity(certificateChain: certificates, privateKey: privateKey)
        }.mapError { BadRealm("\($0)", setting: keySetting) }.get()
    }
}
