// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import HTTPTypes
public import NIOCore
internal import NIOHPACK

/// A whole response, encoded once and sent often.
public struct PreparedResponse: Sendable {
    /// The status code.
    public let status: Int
    /// How many bytes the body has.
    public var bodyLength: Int { body.readableBytes }
    /// Status line and fields, without those that every connection has its own of.
    let head: ByteBuffer
    let body: ByteBuffer
    /// The same for HTTP/2.
    let fields: HPACKHeaders

    /// Encodes a response.
    ///
    /// - Parameters:
    ///   - response: Status and fields; Content-Length is added, Date and Connection are left to the connection.
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
