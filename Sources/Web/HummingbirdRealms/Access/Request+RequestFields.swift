// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
package import Bytes
internal import HTTPTypes
package import HummingbirdCore

extension Request: RequestFields {
    package var hostText: String { head.authority ?? "" }

    package func values(named name: StaticString) -> [UTF8Text] {
        HTTPField.Name(name.description).map { headers.texts(of: $0) } ?? []
    }

    package func forEachCookieField(_ body: (Span<UInt8>) -> Void) {
        for field in headers.texts(of: .cookie) { body(field.string.utf8Span.span) }
    }

    /// The request target as it was received.
    var target: String { head.path ?? "" }

    /// True if the method is safe (RFC 9110 section 9.2.1).
    var isSafe: Bool { method == .get || method == .head }
}
