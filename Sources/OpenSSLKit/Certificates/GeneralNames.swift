// SPDX-License-Identifier: Apache-2.0
// Gatehouse

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
        var critical: Int32 = 0
        guard let found = unsafe X509_get_ext_d2i(x509, NID_subject_alt_name, &critical, nil) else {
            // -1 means that the certificate has no such extension. Otherwise it is malformed or occurs twice.
            guard critical == -1 else { throw .draining(.malformedCertificate, context: context) }
            return
        }
        let names = OpaquePointer(found)
        defer { unsafe GENERAL_NAMES_free(names) }
        for index in 0..<(unsafe gatehouse_sk_GENERAL_NAME_num(names)) {
            var type: Int32 = 0
            guard let name = unsafe gatehouse_sk_GENERAL_NAME_value(names, index),
                let value = unsafe GENERAL_NAME_get0_value(name, &type)
            else { continue }
            try unsafe body(type, value, name)
        }
    }
}
