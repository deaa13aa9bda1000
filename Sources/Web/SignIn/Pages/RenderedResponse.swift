// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import HummingbirdCore
package import NIOCore

/// A response with a complete body.
package struct RenderedResponse: Sendable {
    /// The status and the header fields, without `Content-Length`.
    package var head: HTTPResponse
    /// The body.
    package var body: ByteBuffer

    /// A response.
    ///
    /// - Parameters:
    ///   - head: The status and the header fields, without `Content-Length`.
    ///   - body: The body.
    package init(_ head: HTTPResponse, body: ByteBuffer = ByteBuffer()) {
        self.head = head
        self.body = body
    }

    /// A response whose body is a text.
    ///
    /// - Parameters:
    ///   - head: The status and the header fields, without `Content-Length`.
    ///   - text: The body.
    package init(_ head: HTTPResponse, text: String) { self.init(head, body: ByteBuffer(string: text)) }

    /// Returns the response to a request, with `Content-Length`.
    ///
    /// - Parameter isHead: True if the method is HEAD. The response then has the length of the body but no body (RFC
    ///   9110 section 9.3.2).
    /// - Returns: The response.
    package func response(isHead: Bool) -> Response {
        var headers = head.headerFields
        headers[.contentLength] = String(body.readableBytes)
        return Response(
            status: head.status,
            headers: headers,
            body: ResponseBody(byteBuffer: isHead ? ByteBuffer() : body)
        )
    }
}
