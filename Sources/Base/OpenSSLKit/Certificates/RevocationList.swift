// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A complete list of revoked certificates (CRL, RFC 5280 5), which is immutable and can be used from any thread.
@safe
public final class RevocationList: @unchecked Sendable {
    // Unchecked because of the pointer. The X509_CRL is not changed after it is read.
    private let crl: OpaquePointer

    /// The issuer's distinguished name in the form of RFC 2253.
    public let issuer: String
    /// The last second of its validity, in seconds since 1970-01-01 00:00 UTC; nil if it does not expire.
    ///
    /// If the list has expired, certificates of this issuer are rejected, because their status is unknown.
    public let nextUpdate: Int64?

    private init(owning crl: OpaquePointer, context: String) throws(OpenSSLError) {
        do throws(OpenSSLError) {
            // OpenSSL would use a delta as a complete list (RFC 5280 5.2.4), so that what the complete list revokes is
            // good. With X509_V_FLAG_USE_DELTAS it would leave out a delta that the complete list does not announce.
            guard unsafe X509_CRL_get_ext_by_NID(crl, NID_delta_crl, -1) < 0 else {
                throw OpenSSLError(.deltaRevocationList, context: context)
            }
            issuer = try unsafe Certificate.text(of: X509_CRL_get_issuer(crl), context: context)
            nextUpdate = try unsafe X509_CRL_get0_nextUpdate(crl).map { next throws(OpenSSLError) in
                try unsafe Certificate.seconds(of: next, context: context)
            }
            unsafe self.crl = crl
        } catch {
            unsafe X509_CRL_free(crl)
            throw error
        }
    }

    deinit { unsafe X509_CRL_free(crl) }

    /// Reads all PEM revocation lists of a text, in order; other PEM blocks are skipped.
    ///
    /// - Throws: ``OpenSSLError`` with code `noRevocationList`, `malformedRevocationList` or `deltaRevocationList`. Its
    ///   context contains `name`.
    public static func lists(pem: [UInt8], name: String) throws(OpenSSLError) -> [RevocationList] {
        let context = "revocation list file \(name)"
        let errors = (OpenSSLError.Code.noRevocationList, OpenSSLError.Code.malformedRevocationList)
        return try unsafe readPEM(pem.span, context: context, kind: "list", errors: errors) {
            bio throws(OpenSSLError) in
            guard let crl = unsafe PEM_read_bio_X509_CRL(bio, nil, nil, nil) else { return nil }
            return try unsafe RevocationList(owning: crl, context: context)
        }
    }

    /// Calls `body` with the X509_CRL, which it must not change or free.
    func withCRL<R>(_ body: (OpaquePointer) throws(OpenSSLError) -> R) throws(OpenSSLError) -> R {
        defer { withExtendedLifetime(self) {} }
        return try unsafe body(crl)
    }
}
