// SPDX-License-Identifier: Apache-2.0

/// The media types of JSON.
package enum JSONMediaType {
    /// Returns whether a media type is JSON: `application/json` or `application/...+json` (RFC 6839 3.1).
    ///
    /// - Parameter text: The value of `Content-Type`; its parameters are ignored.
    /// - Returns: True if the body is JSON.
    package static func isJSON(_ text: String) -> Bool {
        let type = text.prefix { $0 != ";" && $0 != " " }.lowercased()
        return type == "application/json" || type.hasPrefix("application/") && type.hasSuffix("+json")
    }
}
