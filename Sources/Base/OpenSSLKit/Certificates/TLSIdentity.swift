// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The certificate chain and private key with which a client or server authenticates itself.
public struct TLSIdentity: Sendable {
    /// The certificate chain, which is never empty: the leaf first, then the intermediates.
    public let certificateChain: [Certificate]
    /// The key of the leaf.
    public let privateKey: PrivateKey
    /// The first certificate of the chain.
    public var leaf: Certificate { certificateChain[0] }
    /// The OCSP response about the leaf, which a server sends to clients that request it; nil if there is none.
    public let ocspResponse: OCSPResponse?

    /// Creates an identity with a chain of the leaf and the intermediates, and the key of the leaf.
    ///
    /// - Throws: ``OpenSSLError`` with code `noCertificate` for an empty chain, or with code `keyMismatch` if the key
    ///   does not belong to the leaf.
    public init(
        certificateChain: [Certificate],
        privateKey: PrivateKey,
        ocspResponse: OCSPResponse? = nil
    ) throws(OpenSSLError) {
        guard let leaf = certificateChain.first else {
            throw OpenSSLError(.noCertificate, context: "certificate chain")
        }
        guard try privateKey.belongs(to: leaf) else {
            throw OpenSSLError(.keyMismatch, context: "certificate \(leaf.subject)")
        }
        self.certificateChain = certificateChain
        self.privateKey = privateKey
        self.ocspResponse = ocspResponse
    }
}

/// A response of an authority about the status of a certificate (RFC 6960), which a server sends with it (RFC 6066 8).
public struct OCSPResponse: Sendable, Hashable {
    /// The DER form, sent to clients unchanged.
    public let der: [UInt8]
    /// The last second of its validity, in seconds since 1970-01-01 00:00 UTC; nil if it does not expire.
    ///
    /// A server does not send an expired response, because clients reject it.
    public let nextUpdate: Int64?

    /// Reads a response, and checks that it reports a certificate as good; clients check its signature.
    ///
    /// The DER form is that which `openssl ocsp -respout` writes. It must contain the hash of the certificate's issuer
    /// name, and the certificate's serial number. `name` is that of the file, for error messages.
    ///
    /// - Throws: ``OpenSSLError`` with code `malformedOCSPResponse` or `rejectedOCSPResponse`. Its context contains
    ///   `name`.
    public init(der: [UInt8], for certificate: Certificate, name: String) throws(OpenSSLError) {
        let context = "OCSP response file \(name)"
        ErrorQueue.clear()
        let parsed = unsafe der.withUnsafeBufferPointer { bytes in
            var start = bytes.baseAddress
            let response = unsafe d2i_OCSP_RESPONSE(nil, &start, bytes.count)
            guard unsafe start == bytes.baseAddress.map({ unsafe $0 + bytes.count }) else {
                unsafe OCSP_RESPONSE_free(response)
                return unsafe OpaquePointer?.none
            }
            return unsafe response
        }
        guard let response = unsafe parsed else { throw .draining(.malformedOCSPResponse, context: context) }
        defer { unsafe OCSP_RESPONSE_free(response) }
        let status = unsafe OCSP_response_status(response)
        guard status == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
            let reason = unsafe OCSP_response_status_str(Int(status)).map { unsafe String(cString: $0) } ?? "\(status)"
            throw OpenSSLError(.rejectedOCSPResponse, context: "\(context) with status \(reason)")
        }
        guard let basic = unsafe OCSP_response_get1_basic(response) else {
            throw .draining(.malformedOCSPResponse, context: context)
        }
        defer { unsafe OCSP_BASICRESP_free(basic) }
        for index in 0..<(unsafe OCSP_resp_count(basic)) {
            let single = unsafe OCSP_resp_get0(basic, index)
            guard try unsafe Self.isAbout(single, of: certificate) else { continue }
            var next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
            let status = unsafe OCSP_single_get0_status(single, nil, nil, nil, &next)
            guard status == V_OCSP_CERTSTATUS_GOOD else {
                let reason = unsafe String(cString: OCSP_cert_status_str(Int(status)))
                throw OpenSSLError(.rejectedOCSPResponse, context: "\(context) with status \(reason)")
            }
            nextUpdate = try unsafe next.map { next throws(OpenSSLError) in
                try unsafe Certificate.seconds(of: next, context: context)
            }
            self.der = der
            return
        }
        let text = "\(context), which is not about certificate \(certificate.subject)"
        throw OpenSSLError(.rejectedOCSPResponse, context: text)
    }

    private static func isAbout(_ single: OpaquePointer?, of certificate: Certificate) throws(OpenSSLError) -> Bool {
        var name: UnsafeMutablePointer<ASN1_OCTET_STRING>?
        var algorithm: OpaquePointer?
        var serial: UnsafeMutablePointer<ASN1_INTEGER>?
        let identifier = unsafe OCSP_SINGLERESP_get0_id(single)
        guard unsafe OCSP_id_get0_info(&name, &algorithm, nil, &serial, identifier) == 1,
            let digest = unsafe EVP_get_digestbyname(OBJ_nid2sn(OBJ_obj2nid(algorithm)))
        else { return false }
        return try unsafe certificate.withX509 { x509 throws(OpenSSLError) in
            var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
            var count: UInt32 = 0
            guard unsafe X509_NAME_digest(X509_get_issuer_name(x509), digest, &hash, &count) == 1 else { return false }
            guard let name = unsafe name else { return false }
            return unsafe bytes(of: name).elementsEqual(hash.prefix(Int(count)))
                && ASN1_INTEGER_cmp(X509_get0_serialNumber(x509), serial) == 0
        }
    }
}
