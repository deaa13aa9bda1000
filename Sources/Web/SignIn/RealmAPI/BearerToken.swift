// SPDX-License-Identifier: Apache-2.0

package import Bytes
package import OpenSSLKit

/// The token in the `Authorization` field of a program's request.
///
/// Only the digest of the token is kept. Source: RFC 6750 section 2.1.
package enum BearerToken: Sendable {
    /// There is no token: the field is missing or has another scheme.
    case missing
    /// The SHA-256 digest of a token.
    case digest(Digest)
    /// There is a token that no program can have.
    case unusable

    /// The maximum length of a token in bytes.
    static let maximumBytes = 512

    /// Reads the `Authorization` fields of a request.
    ///
    /// - Parameter fields: The values of all `Authorization` fields, in order.
    package init(_ fields: [UTF8Text]) {
        guard let field = fields.first else {
            self = .missing
            return
        }
        self.init(field.string.utf8Span.span, count: fields.count)
    }

    /// Reads the `Authorization` field of a request.
    ///
    /// - Parameters:
    ///   - field: The value of the first field, without surrounding white space.
    ///   - count: The number of fields. If there are several fields, no token is used.
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
        do throws(OpenSSLError) {
            self = .digest(try Digest.sha256(token))
        } catch {
            self = .unusable
        }
    }
}
