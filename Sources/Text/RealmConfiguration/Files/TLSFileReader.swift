// SPDX-License-Identifier: Apache-2.0

package import LoginConf
package import OpenSSLKit

/// Reads the files of TLS settings; an error in a file is reported at the setting that names the file.
package struct TLSFileReader {
    private let files: ConfigurationFiles

    package init(files: ConfigurationFiles) { self.files = files }

    /// Reads a file, and returns what `body` makes of its bytes.
    package func parse<Value>(
        _ file: Located<String>,
        _ body: ([UInt8]) throws(OpenSSLError) -> Value
    ) throws(ConfigurationErrors) -> Value {
        let bytes = try files.read(file.value)
            .mapError { file.errors("\(file.value) cannot be read: \($0.reason)") }.get()
        return try Result { () throws(OpenSSLError) in try body(bytes) }
            .mapError { file.errors("\($0)") }.get()
    }

    /// Reports files in the wrong order: a key as the certificate, and a certificate as the key.
    private func checkOrder(_ files: TLSSettings.CertificateFiles) throws(ConfigurationErrors) {
        guard holds(files.certificate) == (certificate: false, key: true),
            holds(files.key) == (certificate: true, key: false)
        else { return }
        throw files.certificate.errors(
            "certificate and key are exchanged: \(files.certificate.value) contains a key, \(files.key.value) a certificate",
            hint: "write certificate \(files.key.value); key \(files.certificate.value);"
        )
    }

    /// Returns which PEM blocks a file has; none if it cannot be read, which is reported later.
    private func holds(_ file: Located<String>) -> (certificate: Bool, key: Bool) {
        guard case .success(let bytes) = self.files.read(file.value) else { return (false, false) }
        return (
            bytes.firstRange(of: "-----BEGIN CERTIFICATE-----".utf8) != nil,
            bytes.firstRange(of: "PRIVATE KEY-----".utf8) != nil
        )
    }

    /// Reads a certificate chain, its key, and its OCSP response if there is one.
    package func identity(_ files: TLSSettings.CertificateFiles) throws(ConfigurationErrors) -> TLSIdentity {
        try checkOrder(files)
        let chain = try parse(files.certificate) { bytes throws(OpenSSLError) in
            try Certificate.chain(pem: bytes, name: files.certificate.value)
        }
        let identity = try parse(files.key) { bytes throws(OpenSSLError) in
            let key = try PrivateKey(pem: bytes, name: files.key.value)
            return try TLSIdentity(certificateChain: chain, privateKey: key)
        }
        guard let file = files.ocspResponse else { return identity }
        return try parse(file) { bytes throws(OpenSSLError) in
            try TLSIdentity(
                certificateChain: chain,
                privateKey: identity.privateKey,
                ocspResponse: OCSPResponse(der: bytes, for: identity.leaf, name: file.value)
            )
        }
    }

    // MARK: Client certificates

    /// Reads the revocation lists for client certificates, in order, each with its file.
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

    /// Reads the authorities for client certificates, for a policy with the lists that ``revocationLists(_:)`` has read;
    /// nil if no client certificates are requested.
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
