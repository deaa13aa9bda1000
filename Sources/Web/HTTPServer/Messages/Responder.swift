// SPDX-License-Identifier: Apache-2.0

public import HummingbirdCore

/// Answers requests: at once on the event loop (the fast lane), or in a task (the async lane).
///
/// ``respond(to:on:)`` runs on an event loop that serves thousands of other connections. It must not wait or compute for
/// long. For such work it returns ``ResponseMode/deferred(_:)`` or ``ResponseMode/prepared(beginsOnEventLoop:_:)``.
public protocol Responder: Sendable {
    /// Answers a request at once, or returns a function that answers it later. Called on the event loop.
    ///
    /// - Parameters:
    ///   - head: The request's head.
    ///   - connection: The client's connection.
    /// - Returns: The response, or the function that produces it.
    func respond(to head: borrowing RequestHead, on connection: Connection) -> ResponseMode

    /// Answers a request that is rejected. Called on the event loop.
    ///
    /// - Parameters:
    ///   - fault: The reason, and the status of the response.
    ///   - connection: The client's connection.
    /// - Returns: The response. Over HTTP/1 it is the last response of the connection.
    func respond(to fault: RequestFault, on connection: Connection) -> PreparedResponse
}

/// The way in which a request is answered: at once, or in a task.
public enum ResponseMode: Sendable {
    /// The response, which is sent at once (the fast lane).
    case immediate(PreparedResponse)
    /// A function that produces the response in a new task (the async lane). The task begins when the whole body of the
    /// request has arrived, which may be ``maximumBody`` bytes long. It is cancelled when the client disconnects.
    case deferred(@Sendable (Request) async -> Response)
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
