// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// Builds and signs a certificate.
@safe
package struct CertificateBuilder: ~Copyable {
    private static let context = "new certificate"

    private let x509: OpaquePointer

    private init() throws(OpenSSLError) {
        guard let x509 = unsafe X509_new() else { throw .failed(Self.context) }
        unsafe self.x509 = x509
    }

    /// Begins a certificate of version 3 with 128 random bits as its serial number; times are seconds since 1970.
    package static func begin(
        for key: PrivateKey,
        from start: Int64,
        to end: Int64
    ) throws(OpenSSLError) -> CertificateBuilder {
        ErrorQueue.clear()
        let builder = try CertificateBuilder()
        // The number 2 means version 3 (RFC 5280 4.1.2.1).
        try builder.check(unsafe X509_set_version(builder.x509, 2))
        try builder.setSerial(RandomBytes.make(16))
        try builder.setValidity(from: start, to: end)
        try builder.setKey(key)
        return builder
    }

    deinit { unsafe X509_free(x509) }

    private func setSerial(_ bytes: [UInt8]) throws(OpenSSLError) {
        let number = unsafe BN_bin2bn(bytes, Int32(bytes.count), nil)
        defer { unsafe BN_free(number) }
        let serial = unsafe BN_to_ASN1_INTEGER(number, nil)
        defer { unsafe ASN1_STRING_free(serial) }
        try check(unsafe X509_set_serialNumber(x509, serial))
    }

    private func setKey(_ key: PrivateKey) throws(OpenSSLError) {
        try unsafe key.withKey { key throws(OpenSSLError) in
            try check(unsafe X509_set_pubkey(x509, key))
        }
    }

    /// Sets the subject and the issuer; an issuer of nil means that the certificate issues itself.
    package func setName(commonName: String, issuer: Certificate? = nil) throws(OpenSSLError) {
        let name = unsafe X509_get_subject_name(x509)
        let text = Array(commonName.utf8)
        try check(unsafe X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, Int32(text.count), -1, 0))
        guard let issuer else { return try check(unsafe X509_set_issuer_name(x509, name)) }
        try unsafe issuer.withX509 { issuer throws(OpenSSLError) in
            try check(unsafe X509_set_issuer_name(x509, X509_get_subject_name(issuer)))
        }
    }

    /// Adds the extension that names the key of the issuer.
    func addKeyIdentifier(of issuer: Certificate) throws(OpenSSLError) {
        try unsafe issuer.withX509 { issuer throws(OpenSSLError) in
            try unsafe add(NID_authority_key_identifier, value: "keyid:always", issuer: issuer)
        }
    }

    private func setValidity(from start: Int64, to end: Int64) throws(OpenSSLError) {
        guard unsafe ASN1_TIME_set(X509_getm_notBefore(x509), Int(start)) != nil,
            unsafe ASN1_TIME_set(X509_getm_notAfter(x509), Int(end)) != nil
        else { throw .draining(.invalidConfiguration, context: Self.context) }
    }

    /// Adds an extension in the syntax of x509v3_config(5), as a constant because the syntax can refer to files.
    func add(_ extensionID: Int32, value: StaticString) throws(OpenSSLError) {
        try unsafe add(extensionID, value: value, issuer: x509)
    }

    private func add(_ extensionID: Int32, value: StaticString, issuer: OpaquePointer) throws(OpenSSLError) {
        var context = unsafe X509V3_CTX()
        unsafe X509V3_set_ctx(&context, issuer, x509, nil, nil, 0)
        let made = unsafe X509V3_EXT_conf_nid(nil, &context, extensionID, "\(value)")
        defer { unsafe X509_EXTENSION_free(made) }
        guard let made = unsafe made else { throw .failed(Self.context) }
        try check(unsafe X509_add_ext(x509, made, -1))
    }

    package func addServerExtensions(dnsNames: [String], ipAddresses: [String]) throws(OpenSSLError) {
        try add(NID_basic_constraints, value: "critical,CA:FALSE")
        try add(NID_key_usage, value: "critical,digitalSignature")
        try add(NID_ext_key_usage, value: "serverAuth")
        try add(NID_subject_key_identifier, value: "hash")
        try addNames(dnsNames: dnsNames, ipAddresses: ipAddresses)
    }

    /// Adds subjectAltName as ASN.1 values: in the syntax of x509v3_config(5), a comma in a name would start another.
    private func addNames(dnsNames: [String], ipAddresses: [String]) throws(OpenSSLError) {
        guard let names = unsafe GENERAL_NAMES_new() else { throw .failed(Self.context) }
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

    package consuming func sign(with key: PrivateKey) throws(OpenSSLError) -> Certificate {
        let signed = try unsafe key.withKey { key throws(OpenSSLError) in
            unsafe X509_sign(x509, key, Algorithms.shared.sha256)
        }
        guard signed > 0, unsafe X509_up_ref(x509) == 1 else { throw .failed(Self.context) }
        return try unsafe Certificate(owning: x509, context: Self.context)
    }

    private func append(
        _ type: Int32,
        value: UnsafeMutablePointer<ASN1_STRING>?,
        to names: OpaquePointer
    ) throws(OpenSSLError) {
        guard let name = unsafe GENERAL_NAME_new() else {
            unsafe ASN1_STRING_free(value)
            throw .failed(Self.context)
        }
        unsafe GENERAL_NAME_set0_value(name, type, value)
        guard unsafe gatehouse_sk_GENERAL_NAME_push(names, name) > 0 else {
            unsafe GENERAL_NAME_free(name)
            throw .failed(Self.context)
        }
    }

    private func check(_ result: Int32) throws(OpenSSLError) {
        guard result == 1 else { throw .failed(Self.context) }
    }
}
