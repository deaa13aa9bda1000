// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The status and the fields of a response.
///
/// The fields come from outside. Their values may contain any text without line breaks.
public struct HTTPSResponse: Sendable {
    /// The status code, 200 to 599.
    public let status: Int
    /// The fields in the order in which they arrived.
    public let fields: [(name: String, value: String)]

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - fields: The fields.
    public init(status: Int, fields: [(name: String, value: String)] = []) {
        self.status = status
        self.fields = fields
    }

    /// The values of all fields of a name.
    ///
    /// - Parameter name: The name, in any case.
    public subscript(name: String) -> [String] {
        fields.filter { $0.name.utf8Span.span.equalsIgnoringCase(name.utf8Span.span) }.map(\.value)
    }
}

/// A response with its whole body.
public struct CollectedResponse: Sendable {
    /// The status and the fields.
    public let response: HTTPSResponse
    /// The body.
    public let body: [UInt8]
}
