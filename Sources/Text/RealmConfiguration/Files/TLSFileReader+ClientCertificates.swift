// SPDX-License-Identifier: Apache-2.0

package import LoginConf
package import OpenSSLKit

extension TLSFileReader {
    /// Reads the revocation lists for client certificates, in order, each with its file.
    ///
    /// - Parameter tls: The TLS settings.
    /// - Returns: The lists.
    /// - Throws: ``ConfigurationErrors`` at the setting of a file that cannot be used.
    package func revocationLists(
        _ tls: TLSSettings
    ) throws(ConfigurationErrors) -> [(file: Located<String>, list: RevocationList)] {
        var lists: [(file: Located<String>, list: RevocationList)] = []
        for file in tls.clientRevocationFiles {
            let read = try parse(file) { bytes throws(OpenSSLError) in
                try RevocationList.lists(pem: bytes, name: file.value)
            }
            lists += read.map { (file, $0) }
        }
        return lists
    }

    /// Reads the authorities for client certificates.
    ///
    /// - Parameters:
    ///   - tls: The TLS settings.
    ///   - lists: The lists that ``revocationLists(_:)`` has read.
    /// - Returns: The policy; nil if no client certificates are requested.
    /// - Throws: ``ConfigurationErrors`` at the setting of the file, if it cannot be used.
    package func clientCertificatePolicy(
        _ tls: TLSSettings,
        revocationLists lists: [RevocationList]
    ) throws(ConfigurationErrors) -> ClientCertificatePolicy? {
        let mode: ClientCertificatePolicy.Mode
        switch tls.clientCertificates {
        case .none: return nil
        case .optional: mode = .optional
        case .required: mode = .required
        }
        guard let file = tls.clientAuthorityFile else {
            preconditionFailure("client certificates without authorities are rejected when the settings are read")
        }
        return try parse(file) { bytes throws(OpenSSLError) in
            try ClientCertificatePolicy(
                mode: mode,
                authorities: try Certificate.chain(pem: bytes, name: file.value),
                revocationLists: lists,
                maximumDepth: tls.clientDepth
            )
        }
    }
}
