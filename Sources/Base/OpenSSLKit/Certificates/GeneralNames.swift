// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The general names in a certificate's subjectAltName extension (RFC 5280 4.2.1.6).
enum GeneralNames {
    /// Calls a closure for each name that OpenSSL can read; for none without the extension.
    ///
    /// - Parameters:
    ///   - x509: The certificate.
    ///   - context: The name of the certificate in errors.
    ///   - body: Receives the type, such as `GEN_DNS`, the value, and the whole name. The pointers are valid in the call.
    /// - Throws: ``OpenSSLError`` with code `malformedCertificate`, or an error of the closure.
    static func forEach(
        in x509: OpaquePointer,
        context: String,
        _ body: (Int32, UnsafeMutableRawPointer, UnsafeMutablePointer<GENERAL_NAME>) throws(OpenSSLError) -> Void
    ) throws(OpenSSLError) {
        let place = unsafe X509_get_ext_by_NID(x509, NID_subject_alt_name, -1)
        guard place >= 0 else { return }
        guard unsafe X509_get_ext_by_NID(x509, NID_subject_alt_name, place) < 0,
            let data = unsafe X509_EXTENSION_get_data(X509_get_ext(x509, place))
        else { throw .draining(.malformedCertificate, context: context) }
        let first = unsafe ASN1_STRING_get0_data(data)
        let count = Int(unsafe ASN1_STRING_length(data))
        var end = unsafe first
        guard let names = unsafe d2i_GENERAL_NAMES(nil, &end, count) else {
            throw .draining(.malformedCertificate, context: context)
        }
        defer { unsafe GENERAL_NAMES_free(names) }
        // X509_get_ext_d2i ignores bytes after the names.
        guard unsafe end == first.map({ unsafe $0 + count }) else {
            throw .draining(.malformedCertificate, context: context)
        }
        for index in 0..<(unsafe gatehouse_sk_GENERAL_NAME_num(names)) {
            var type: Int32 = 0
            guard let name = unsafe gatehouse_sk_GENERAL_NAME_value(names, index),
                let value = unsafe GENERAL_NAME_get0_value(name, &type)
            else { continue }
            try unsafe body(type, value, name)
        }
    }
}
