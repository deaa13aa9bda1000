// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import HTTPTypes
package import HummingbirdCore
package import NIOCore

/// A response with its whole body.
package struct RenderedResponse: Sendable {
    /// Status and header fields, without `Content-Length`.
    package var head: HTTPResponse
    /// The body.
    package var body: ByteBuffer

    /// A response.
    ///
    /// - Parameters:
    ///   - head: Status and header fields, without `Content-Length`.
    ///   - body: The body.
    package init(_ head: HTTPResponse, body: ByteBuffer = ByteBuffer()) {
        self.head = head
        self.body = body
    }

    /// A response whose body is a text.
    ///
    /// - Parameters:
    ///   - head: Status and header fields, without `Content-Length`.
    ///   - text: The body.
    package init(_ head: HTTPResponse, text: String) { self.init(head, body: ByteBuffer(string: text)) }

    /// Returns the response to a request, with `Content-Length`.
    ///
    /// - Parameter isHead: True if the method is HEAD: then there is no body, and the length is that of the response to
    ///   a GET (RFC 9110 section 9.3.2).
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
