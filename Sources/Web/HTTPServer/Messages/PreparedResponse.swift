// SPDX-License-Identifier: Apache-2.0

public import HTTPTypes
public import NIOCore
internal import NIOHPACK

/// A complete response that is encoded once and can be sent many times.
public struct PreparedResponse: Sendable {
    /// The status code.
    public let status: Int
    /// The number of bytes of the body.
    public var bodyLength: Int { body.readableBytes }
    /// The status line and the fields, without Date and Connection.
    let head: ByteBuffer
    let body: ByteBuffer
    /// The status and the fields in the form of HTTP/2, without Date.
    let fields: HPACKHeaders

    /// Encodes a response.
    ///
    /// - Parameters:
    ///   - response: The status and fields. Content-Length is added here. Date and Connection are added when the response
    ///     is sent.
    ///   - body: The body.
    public init(_ response: HTTPResponse, body: ByteBuffer) {
        var head = ByteBuffer()
        var response = response
        response.headerFields[.contentLength] = String(body.readableBytes)
        ResponseEncoder.encode(response, into: &head)
        status = response.status.code
        self.head = head
        self.body = body
        fields = HTTP2Fields.fields(of: response)
    }
}
