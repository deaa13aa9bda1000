// SPDX-License-Identifier: Apache-2.0

package import OpenSSLKit
package import RealmKit

/// The PEM files of the certificate with which this program connects to a server.
package struct ClientCertificateFiles: Sendable {
    /// The file with the certificate and its chain.
    package let chain: String
    /// The file with the key; it may be the same file.
    package let key: String
    /// The property that names the file with the key.
    private let keySetting: String

    /// Reads the properties `client-certificate` and `client-key`; nil if neither is set.
    ///
    /// - Parameter properties: Properties whose schema contains both names.
    /// - Throws: ``BadRealm`` if only the key is set, a file cannot be read, other users can read the key, or the key does
    ///   not belong to the certificate.
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
    ///
    /// - Returns: The certificate.
    /// - Throws: ``BadRealm`` as at the beginning.
    package func identity() throws(BadRealm) -> TLSIdentity {
        let certificates = try SettingsFile.certificates(chain, setting: "client-certificate")
        let text = try SettingsFile.read(key, setting: keySetting, isPrivateKey: true)
        do throws(OpenSSLError) {
            let privateKey = try text.withBytes { bytes throws(OpenSSLError) in try PrivateKey(pem: bytes, name: key) }
            return try TLSIdentity(certificateChain: certificates, privateKey: privateKey)
        } catch {
            throw BadRealm("\(error)", setting: keySetting)
        }
    }
}
