// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// Builds and signs a certificate.
@safe
struct CertificateBuilder: ~Copyable {
    private static let context = "self-signed certificate"

    private let x509: OpaquePointer

    init() throws(OpenSSLError) {
        guard let x509 = unsafe X509_new() else { throw .draining(.libraryFailure, context: Self.context) }
        unsafe self.x509 = x509
    }

    deinit { unsafe X509_free(x509) }

    func setVersion3() throws(OpenSSLError) {
        // The number 2 means version 3 (RFC 5280 4.1.2.1).
        try check(unsafe X509_set_version(x509, 2))
    }

    func setSerial(_ bytes: [UInt8]) throws(OpenSSLError) {
        let number = unsafe BN_bin2bn(bytes, Int32(bytes.count), nil)
        defer { unsafe BN_free(number) }
        let serial = unsafe BN_to_ASN1_INTEGER(number, nil)
        defer { unsafe ASN1_STRING_free(serial) }
        try check(unsafe X509_set_serialNumber(x509, serial))
    }

    func setName(commonName: String) throws(OpenSSLError) {
        let name = unsafe X509_get_subject_name(x509)
        let text = Array(commonName.utf8)
        try check(unsafe X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, Int32(text.count), -1, 0))
        try check(unsafe X509_set_issuer_name(x509, name))
    }

    func setValidity(from start: Int64, to end: Int64) throws(OpenSSLError) {
        guard unsafe ASN1_TIME_set(X509_getm_notBefore(x509), Int(start)) != nil,
            unsafe ASN1_TIME_set(X509_getm_notAfter(x509), Int(end)) != nil
        else { throw .draining(.invalidConfiguration, context: Self.context) }
    }

    func setKey(_ key: PrivateKey) throws(OpenSSLError) {
        try unsafe key.withKey { key throws(OpenSSLError) in
            try check(unsafe X509_set_pubkey(x509, key))
        }
    }

    /// Adds an extension in the syntax of x509v3_config(5).
    ///
    /// The value must be a constant, because the syntax can refer to files.
    func add(_ extensionID: Int32, value: StaticString) throws(OpenSSLError) {
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, x509, x509, nil, nil, 0)
        let made = unsafe X509V3_EXT_conf_nid(nil, &context, extensionID, "\(value)")
        defer { unsafe X509_EXTENSION_free(made) }
        guard let made = unsafe made else { throw .draining(.libraryFailure, context: Self.context) }
        try check(unsafe X509_add_ext(x509, made, -1))
    }

    /// Adds the names of subjectAltName.
    ///
    /// The names are added as ASN.1 values. The syntax of x509v3_config(5) is not used, because a comma in a name would
    /// start another name.
    func addNames(dnsNames: [String], ipAddresses: [String]) throws(OpenSSLError) {
        guard let names = unsafe GENERAL_NAMES_new() else {
            throw .draining(.libraryFailure, context: Self.context)
        }
        defer { unsafe GENERAL_NAMES_free(names) }
        for name in dnsNames {
            guard DNSName.isValid(name) else { throw OpenSSLError(.invalidName, context: "\"\(name)\"") }
            let text = Array(name.utf8)
            let value = unsafe ASN1_STRING_type_new(V_ASN1_IA5STRING)
            try check(unsafe ASN1_STRING_set(value, text, Int32(text.count)))
            try unsafe append(GEN_DNS, value: value, to: names)
        }
        for address in ipAddresses {
            guard let value = unsafe a2i_IPADDRESS(address) else {
                throw .draining(.invalidName, context: "\"\(address)\"")
            }
            try unsafe append(GEN_IPADD, value: value, to: names)
        }
        try check(unsafe X509_add1_ext_i2d(x509, NID_subject_alt_name, UnsafeMutableRawPointer(names), 0, 0))
    }

    consuming func sign(with key: PrivateKey) throws(OpenSSLError) -> Certificate {
        let signed = try unsafe key.withKey { key throws(OpenSSLError) in
            unsafe X509_sign(x509, key, Algorithms.shared.sha256)
        }
        guard signed > 0, unsafe X509_up_ref(x509) == 1 else {
            throw .draining(.libraryFailure, context: Self.context)
        }
        return try unsafe Certificate(owning: x509, context: Self.context)
    }

    private func append(
        _ type: Int32,
        value: UnsafeMutablePointer<ASN1_STRING>?,
        to names: OpaquePointer
    ) throws(OpenSSLError) {
        guard let name = unsafe GENERAL_NAME_new() else {
            unsafe ASN1_STRING_free(value)
            throw .draining(.libraryFailure, context: Self.context)
        }
        unsafe GENERAL_NAME_set0_value(name, type, value)
        guard unsafe gatehouse_sk_GENERAL_NAME_push(names, name) > 0 else {
            unsafe GENERAL_NAME_free(name)
            throw .draining(.libraryFailure, context: Self.context)
        }
    }

    private func check(_ result: Int32) throws(OpenSSLError) {
        guard result == 1 else { throw .draining(.libraryFailure, context: Self.context) }
    }
}
