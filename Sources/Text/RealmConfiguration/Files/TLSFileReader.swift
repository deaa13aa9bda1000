// SPDX-License-Identifier: Apache-2.0

package import LoginConf
package import OpenSSLKit

/// Reads the files of TLS settings.
///
/// An error in a file is reported at the setting that names the file.
package struct TLSFileReader {
    private let files: ConfigurationFiles

    /// Creates a reader.
    ///
    /// - Parameter files: The source of the files.
    package init(files: ConfigurationFiles) { self.files = files }

    /// Reads and parses a file.
    ///
    /// - Parameters:
    ///   - file: The path, at its place in the configuration.
    ///   - body: Parses the bytes of the file.
    /// - Returns: The result of `body`.
    /// - Throws: ``ConfigurationErrors`` at the place of the path.
    package func parse<Result>(
        _ file: Located<String>,
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
        guard case .success(let contents) = self.files.read(file.value) else { return (false, false) }
        let bytes = contents.bytes
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
}

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
