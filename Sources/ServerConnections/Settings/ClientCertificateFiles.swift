// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import RealmKit

/// The PEM files of the certificate with which this program connects to a server.
package struct ClientCertificateFiles: Sendable {
    /// The file with the certificate and its chain.
    package let chain: String
    /// The file with the key; it may be the same file.
    package let key: String

    /// Reads the properties `client-certificate` and `client-key`; nil if neither is set.
    ///
    /// - Parameter properties: Properties whose schema contains both names.
    /// - Throws: ``BadRealm`` if only the key is set, a file cannot be read, or other users can read the key.
    package init?(_ properties: RealmProperties) throws(BadRealm) {
        guard properties.has("client-certificate") else {
            guard !properties.has("client-key") else {
                throw BadRealm("must be set together with client-key", setting: "client-certificate")
            }
            return nil
        }
        chain = try properties.string("client-certificate")
        let setting = properties.has("client-key") ? "client-key" : "client-certificate"
        key = try properties.string(setting)
        _ = try SettingsFile.read(chain, setting: "client-certificate")
        _ = try SettingsFile.read(key, setting: setting, isPrivateKey: true)
    }
}
