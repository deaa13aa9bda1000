// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension Certificate {
    /// Reads all PEM certificates of a text, in order.
    ///
    /// A server's file has the leaf first, then the intermediates.
    ///
    /// Other PEM blocks and text between blocks are skipped, so that one file may contain the key and the certificates.
    ///
    /// - Parameters:
    ///   - pem: The text.
    ///   - name: The name of the file, for error messages.
    /// - Returns: One certificate or more.
    /// - Throws: ``OpenSSLError`` with code `noCertificate` or `malformedCertificate`. Its context contains `name`.
    public static func chain(
        pem: Span<UInt8>,
        name: String
    ) throws(OpenSSLError) -> [Certificate] {
        let context = "certificate file \(name)"
        guard !pem.isEmpty else { throw OpenSSLError(.noCertificate, context: context) }
        ErrorQueue.clear()
        return try unsafe withReadBIO(over: pem, context: context) { bio throws(OpenSSLError) in
            var chain: [Certificate] = []
            while let x509 = unsafe PEM_read_bio_X509(bio, nil, nil, nil) {
                chain.append(try unsafe Certificate(owning: x509, context: context))
            }
            // At the end of the text OpenSSL reports the error "no start line".
            let entries = ErrorQueue.drain()
            let atEnd = entries.last.map { $0.library == ERR_LIB_PEM && $0.reason == PEM_R_NO_START_LINE } ?? false
            guard atEnd else {
                let place = "\(context), certificate \(chain.count + 1)"
                throw OpenSSLError(.malformedCertificate, context: place, reasons: entries.map(\.text))
            }
            guard !chain.isEmpty else { throw OpenSSLError(.noCertificate, context: context) }
            return chain
        }
    }

    /// Reads all PEM certificates of a text, in order.
    ///
    /// - Throws: ``OpenSSLError`` with code `noCertificate` or `malformedCertificate`. Its context contains `name`.
    public static func chain(pem: [UInt8], name: String) throws(OpenSSLError) -> [Certificate] {
        try chain(pem: pem.span, name: name)
    }

    /// Returns the certificate as a PEM block that ends with a line feed.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    public func pem() throws(OpenSSLError) -> String {
        try unsafe withX509 { x509 throws(OpenSSLError) in
            let bio = try MemoryBIO(context: "certificate \(subject)")
            guard unsafe PEM_write_bio_X509(bio.pointer, x509) == 1 else {
                throw .draining(.libraryFailure, context: "certificate \(subject)")
            }
            return try bio.string()
        }
    }
}
