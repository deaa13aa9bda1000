// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// An X.509 certificate (RFC 5280), which is immutable and can be used from any thread.
@safe
public final class Certificate: @unchecked Sendable {
    // Unchecked because of the pointer. The X509 is not changed after it is read, and its caches have their own lock.
    private let x509: OpaquePointer

    /// The subject's distinguished name in the form of RFC 2253, such as "CN=localhost,O=Gatehouse".
    public let subject: String
    /// The issuer's distinguished name in the form of RFC 2253.
    public let issuer: String
    /// The first second of the certificate's validity, in seconds since 1970-01-01 00:00 UTC.
    public let notBefore: Int64
    /// The last second of the certificate's validity, in seconds since 1970-01-01 00:00 UTC.
    public let notAfter: Int64
    /// The DNS names of subjectAltName (RFC 5280 4.2.1.6), as they are written in the certificate.
    public let dnsNames: [String]
    /// The IP addresses of subjectAltName, in text form.
    public let ipAddresses: [String]
    /// The SHA-256 digest of the certificate's DER form.
    public let digest: Digest

    /// The SHA-256 fingerprint in the form of `openssl x509`: upper-case hexadecimal pairs, separated by colons.
    public var fingerprint: String { digest.fingerprint }

    /// Takes over one reference to an X509 from the caller; it is freed even if the initializer throws.
    init(owning x509: OpaquePointer, context: String) throws(OpenSSLError) {
        do throws(OpenSSLError) {
            let names = try unsafe SubjectAlternativeNames(of: x509, context: context)
            subject = try unsafe Self.text(of: X509_get_subject_name(x509), context: context)
            issuer = try unsafe Self.text(of: X509_get_issuer_name(x509), context: context)
            notBefore = try unsafe Self.seconds(of: X509_get0_notBefore(x509), context: context)
            notAfter = try unsafe Self.seconds(of: X509_get0_notAfter(x509), context: context)
            dnsNames = names.hosts
            ipAddresses = names.ipAddresses
            digest = try unsafe Digest { output throws(OpenSSLError) in
                guard unsafe X509_digest(x509, Algorithms.shared.sha256, output, nil) == 1 else {
                    throw .draining(.malformedCertificate, context: context)
                }
            }
            unsafe self.x509 = x509
        } catch {
            unsafe X509_free(x509)
            throw error
        }
    }

    /// Reads a certificate in DER form, which no further bytes follow; `context` is its origin, for error messages.
    ///
    /// - Throws: ``OpenSSLError`` with code `malformedCertificate`.
    public convenience init(der: [UInt8], context: String) throws(OpenSSLError) {
        ErrorQueue.clear()
        let x509 = unsafe der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
            var start = bytes.baseAddress
            guard unsafe start != nil, let x509 = unsafe d2i_X509(nil, &start, bytes.count) else { return nil }
            guard unsafe start == bytes.baseAddress.map({ unsafe $0 + bytes.count }) else {
                unsafe X509_free(x509)
                return nil
            }
            return unsafe x509
        }
        guard let x509 = unsafe x509 else { throw .draining(.malformedCertificate, context: context) }
        try unsafe self.init(owning: x509, context: context)
    }

    /// The certificate in DER form.
    ///
    /// - Throws: ``OpenSSLError`` with code `libraryFailure`.
    public var der: [UInt8] {
        get throws(OpenSSLError) {
            try unsafe withX509 { x509 throws(OpenSSLError) in
                guard let der = unsafe derForm({ unsafe i2d_X509(x509, $0) }) else {
                    throw .failed("certificate \(subject)")
                }
                return der
            }
        }
    }

    deinit { unsafe X509_free(x509) }

    /// Calls `body` with the X509, which it must not change or free.
    func withX509<R>(_ body: (OpaquePointer) throws(OpenSSLError) -> R) throws(OpenSSLError) -> R {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(x509)
    }

    /// Checks that a time, in seconds since 1970-01-01 00:00 UTC, is in the certificate's validity period.
    ///
    /// - Throws: ``OpenSSLError`` with code `certificateExpired` or `certificateNotYetValid`.
    public func checkValidity(at now: Int64) throws(OpenSSLError) {
        if now > notAfter { throw OpenSSLError(.certificateExpired, context: "certificate \(subject)") }
        if now < notBefore { throw OpenSSLError(.certificateNotYetValid, context: "certificate \(subject)") }
    }

    /// True if the certificate may sign other certificates (RFC 5280 4.2.1.9).
    var isAuthority: Bool {
        get throws(OpenSSLError) {
            ErrorQueue.clear()
            defer { ErrorQueue.clear() }
            return try unsafe withX509 { x509 throws(OpenSSLError) in unsafe X509_check_ca(x509) >= 1 }
        }
    }

    /// Returns whether another certificate, or this one, has issued this certificate: its subject is the issuer, and its
    /// key has made the signature.
    ///
    /// - Throws: ``OpenSSLError`` if the certificate cannot be read.
    public func isIssued(by issuer: Certificate) throws(OpenSSLError) -> Bool {
        ErrorQueue.clear()
        defer { ErrorQueue.clear() }
        return try unsafe withX509 { x509 throws(OpenSSLError) in
            try unsafe issuer.withX509 { issuer throws(OpenSSLError) in
                unsafe X509_NAME_cmp(X509_get_issuer_name(x509), X509_get_subject_name(issuer)) == 0
                    && X509_verify(x509, X509_get0_pubkey(issuer)) == 1
            }
        }
    }

    static func text(of name: OpaquePointer?, context: String) throws(OpenSSLError) -> String {
        let bio = try MemoryBIO(context: context)
        guard unsafe X509_NAME_print_ex(bio.pointer, name, 0, gatehouse_name_flags) >= 0 else {
            throw .draining(.malformedCertificate, context: context)
        }
        return try bio.string()
    }

    static func seconds(of time: UnsafePointer<ASN1_TIME>?, context: String) throws(OpenSSLError) -> Int64 {
        let epoch = unsafe ASN1_TIME_set(nil, 0)
        defer { unsafe ASN1_STRING_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else {
            throw .draining(.malformedCertificate, context: context)
        }
        return Int64(days) * 86_400 + Int64(seconds)
    }
}

extension Certificate {
    /// Returns the SHA-256 digest of the SubjectPublicKeyInfo (RFC 5280 4.1.2.7), which RFC 7469 pins.
    ///
    /// A new certificate for the same key has the same digest.
    ///
    /// - Throws: ``OpenSSLError`` with code `malformedCertificate` or `libraryFailure`.
    public func publicKeyDigest() throws(OpenSSLError) -> Digest {
        try unsafe withX509 { x509 throws(OpenSSLError) in
            try unsafe Self.publicKeyDigest(of: x509, context: "certificate \(subject)")
        }
    }

    static func publicKeyDigest(of x509: OpaquePointer, context: String) throws(OpenSSLError) -> Digest {
        let key = unsafe X509_get_X509_PUBKEY(x509)
        guard let der = unsafe derForm({ unsafe i2d_X509_PUBKEY(key, $0) }) else {
            throw .draining(.malformedCertificate, context: context)
        }
        return try Digest.sha256(der)
    }

    /// True if a server may use the certificate: it has no extKeyUsage, or one with serverAuth or anyExtendedKeyUsage
    /// (RFC 5280 4.2.1.12).
    ///
    /// It is false for a certificate whose extensions are malformed.
    public var isForServers: Bool {
        let isForServers = try? unsafe withX509 { x509 throws(OpenSSLError) in
            let flags = unsafe X509_get_extension_flags(x509)
            guard flags & UInt32(EXFLAG_INVALID) == 0 else { return false }
            guard flags & UInt32(EXFLAG_XKUSAGE) != 0 else { return true }
            return unsafe X509_get_extended_key_usage(x509) & UInt32(XKU_SSL_SERVER | XKU_ANYEKU) != 0
        }
        return isForServers ?? false
    }

    /// Reads all PEM certificates of a text, in order; a server's file has the leaf first, then the intermediates.
    ///
    /// Other PEM blocks and text between blocks are skipped, so that one file may contain the key and the certificates.
    ///
    /// - Throws: ``OpenSSLError`` with code `noCertificate` or `malformedCertificate`. Its context contains `name`.
    public static func chain(pem: Span<UInt8>, name: String) throws(OpenSSLError) -> [Certificate] {
        let context = "certificate file \(name)"
        let errors = (OpenSSLError.Code.noCertificate, OpenSSLError.Code.malformedCertificate)
        return try unsafe readPEM(pem, context: context, kind: "certificate", errors: errors) {
            bio throws(OpenSSLError) in
            guard let x509 = unsafe PEM_read_bio_X509(bio, nil, nil, nil) else { return nil }
            return try unsafe Certificate(owning: x509, context: context)
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
            guard unsafe PEM_write_bio_X509(bio.pointer, x509) == 1 else { throw .failed("certificate \(subject)") }
            return try bio.string()
        }
    }
}

extension Certificate: Hashable {
    /// Returns whether two certificates have the same DER bytes, by their digests.
    public static func == (left: Certificate, right: Certificate) -> Bool { left.digest == right.digest }

    /// Hashes the digest.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
