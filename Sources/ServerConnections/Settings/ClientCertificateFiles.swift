// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import OpenSSLKit
package import RealmKit

/// The PEM files of the certificate with which this program connects to a server.
package struct ClientCertificateFiles: Sendable {
    /// The file with the certificate and its chain.
    package let chain: String
    /// The file with the key; it may be the same file.
    package let key: String
    /// The certificate with its chain and its key.
    package let identity: TLSIdentity

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
        let setting = properties.has("client-key") ? "client-key" : "client-certificate"
        key = try properties.string(setting)
        let certificates = try SettingsFile.certificates(chain, setting: "client-certificate")
        let text = try SettingsFile.read(key, setting: setting, isPrivateKey: true)
        do throws(OpenSSLError) {
            let key = try text.withBytes { [key] bytes throws(OpenSSLError) in
                try PrivateKey(pem: bytes, name: key)
            }
            identity = try TLSIdentity(certificateChain: certificates, privateKey: key)
        } catch {
            throw BadRealm("\(error)", setting: setting)
        }
    }
}
