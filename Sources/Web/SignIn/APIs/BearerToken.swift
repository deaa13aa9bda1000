// SPDX-License-Identifier: Apache-2.0

package import Bytes
package import OpenSSLKit

/// The token in the `Authorization` field of a program's request (RFC 6750 section 2.1), of which only the digest is
/// kept.
package enum BearerToken: Sendable {
    /// The field is missing or has another scheme.
    case missing
    /// The SHA-256 digest of a token.
    case digest(Digest)
    /// A token that no program can have.
    case unusable

    /// The maximum length of a token in bytes.
    static let maximumBytes = 512

    package init(_ fields: [UTF8Text]) {
        guard let field = fields.first else {
            self = .missing
            return
        }
        self.init(field.string.utf8Span.span, count: fields.count)
    }

    /// Reads the first `Authorization` field, without surrounding white space.
    ///
    /// If there are several, no token is used.
    package init(_ field: Span<UInt8>, count: Int) {
        let scheme: StaticString = "bearer"
        let length = scheme.utf8CodeUnitCount
        guard count == 1 else {
            self = .unusable
            return
        }
        guard field.count >= length, field.extracting(0..<length).equalsIgnoringCase(scheme),
            field.count == length || field[length] == UInt8(ascii: " ")
        else {
            self = .missing
            return
        }
        var start = length
        while start < field.count, field[start] == UInt8(ascii: " ") { start += 1 }
        let token = field.extracting(start..<field.count)
        guard !token.isEmpty, token.count <= Self.maximumBytes else {
            self = .unusable
            return
        }
        self = (try? Digest.sha256(token)).map(Self.digest) ?? .unusable
    }
}
