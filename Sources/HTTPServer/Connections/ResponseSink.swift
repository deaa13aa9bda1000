// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import NIOCore

/// A destination for a response, part by part, on the event loop of its connection.
protocol ResponseSink: AnyObject {
    /// Writes a part of the response.
    ///
    /// - Parameters:
    ///   - part: The part.
    ///   - promise: Fulfilled when the part is sent.
    func write(_ part: ResponsePart, promise: EventLoopPromise<Void>?)

    /// Ends the connection or the stream in the middle of the response, so that the client does not take it for
    /// complete.
    func fail()
}

/// A part of a response.
struct ResponsePart: Sendable {
    /// The number of bytes of a response of known length that are collected before they are sent.
    static let collectedSize = 65_536

    /// The head, in the first part only.
    var head: HTTPResponse?
    /// The length of the body in bytes; nil if it is not known.
    ///
    /// It counts with the head.
    var length: Int?
    var bytes = ByteBuffer()
    var isLast = false
}
