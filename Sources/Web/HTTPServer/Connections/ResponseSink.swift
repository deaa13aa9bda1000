// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import NIOCore

/// A receiver of the parts of a response, on the event loop of its connection.
protocol ResponseSink: AnyObject {
    /// Writes a part of the response.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - promise: The promise that is fulfilled when the part is sent.
    func write(_ part: ResponsePart, promise: EventLoopPromise<Void>?)

    /// Sends a whole response.
    ///
    /// - Parameter response: The response.
    func send(_ response: PreparedResponse)

    /// Ends the connection or the HTTP/2 stream before the response is complete. The client then sees that the response
    /// is incomplete.
    func fail()
}

/// A part of a response.
struct ResponsePart: Sendable {
    /// The number of bytes that are collected before they are sent, if the length of the response is known.
    static let collectedSize = 65_536

    /// The head, in the first part only.
    var head: HTTPResponse?
    /// The length of the whole body in bytes; nil if it is not known.
    ///
    /// A sink reads it from the part with the head only.
    var length: Int?
    var bytes = ByteBuffer()
    var isLast = false
}
