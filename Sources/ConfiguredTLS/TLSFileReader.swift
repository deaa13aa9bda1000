// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf
internal import OpenSSLKit
internal import RealmConfiguration

/// Reads the files of TLS settings.
///
/// An error in a file is reported at the setting that names the file.
struct TLSFileReader {
    let files: ConfigurationFiles

    func parse<Result>(
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

    func identity(_ files: TLSSettings.CertificateFiles) throws(ConfigurationErrors) -> TLSIdentity {
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
