// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import NIOCore
package import OpenSSLKit

/// Answers requests: at once on the event loop (the fast lane), or in a task (the async lane).
///
/// ``respond(to:on:)`` runs on an event loop that serves thousands of other connections. It must not
/// wait or compute for long. For such work it returns ``ResponseMode/deferred(_:)`` or
/// ``ResponseMode/prepared(beginsOnEventLoop:_:)``.
package protocol Responder: Sendable {
    /// Answers a request at once, or returns a function that answers it later; called on the event loop.
    func respond(to head: borrowing RequestHead, on connection: Connection) -> ResponseMode

    /// Answers a request that is rejected; called on the event loop.
    ///
    /// Over HTTP/1 the response is the last one of the connection.
    func respond(to fault: RequestFault, on connection: Connection) -> PreparedResponse
}

/// The way in which a request is answered: at once, or in a task.
package enum ResponseMode: Sendable {
    /// The response, which is sent at once (the fast lane).
    case immediate(PreparedResponse)
    /// A function that gets the body of the request and produces the response, in a new task (the async lane).
    ///
    /// The task begins when the whole body has arrived, which may be ``maximumBody`` bytes long. It is cancelled when
    /// the client disconnects.
    case deferred(@Sendable (ByteBuffer) async -> TaskResponse)
    /// A function that prepares the whole response in a new task and does not read the request's body. The task is
    /// cancelled when the client disconnects.
    ///
    /// With `beginsOnEventLoop: true`, the task begins on the event loop, and continues elsewhere after it has waited
    /// for the first time. A task that does not wait then needs no change of threads. Until it waits, it must neither
    /// block nor compute for long.
    case prepared(beginsOnEventLoop: Bool, @Sendable () async -> PreparedResponse)
    /// Too many requests are in progress. Over HTTP/2 the stream is refused, so that the client may repeat the request.
    /// Over HTTP/1 the response is sent.
    case refused(PreparedResponse)

    /// The maximum length in bytes of the body of a request that is ``deferred(_:)``.
    static let maximumBody = 65_536
}

/// A response that a task has produced.
package enum TaskResponse: Sendable {
    case whole(PreparedResponse)
    /// A response of unknown length: its first part, and the later ones, each of which is sent after the part before it.
    case stream(HTTPResponse, first: ByteBuffer, later: any AsyncSequence<ByteBuffer, Never> & Sendable)
}

/// The properties of a client's connection that responders need.
package struct Connection: Sendable {
    /// The client's address as text; nil if the channel has no address.
    package let peer: String?
    /// The server name that the client sent in its TLS handshake, in lower case (RFC 6066 section 3); nil if it sent none.
    package let serverName: String?
    /// The verified chain of the client's certificate, from this certificate to the authority; empty if the client sent
    /// no certificate.
    package let clientChain: [Certificate]

    package init(peer: String?, serverName: String? = nil, clientChain: [Certificate] = []) {
        self.peer = peer
        self.serverName = serverName
        self.clientChain = clientChain
    }
}

/// The reason why a request is rejected, and the status of the response.
///
/// Over HTTP/1 the connection ends with the response, because the start of the next request is uncertain.
package struct RequestFault: Error, Sendable, Hashable {
    /// A status code of RFC 9110: 400, 408, 413, 414, 417, 431 or 505.
    package let status: Int
    /// The reason in a few words without any part of the request, for the client and the log.
    package let reason: String

    package init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }

    static let timedOut = RequestFault(408, "the request did not arrive in time")
    static let bodyTooLong = RequestFault(413, "the body is too long")
    static let longRequestLine = RequestFault(414, "the request line is too long")
    static let longField = RequestFault(431, "a header field is too long")
    static let longHeader = RequestFault(431, "the header is too long")
    static let tooManyFields = RequestFault(431, "too many header fields")

    static func malformed(_ reason: String) -> RequestFault { RequestFault(400, reason) }
}
