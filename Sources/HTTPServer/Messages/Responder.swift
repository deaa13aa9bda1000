// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import HummingbirdCore

/// Answers requests, each in one of two lanes.
///
/// ``respond(to:on:)`` runs on an event loop that serves thousands of other connections: it must neither wait nor
/// compute for long. Such work must be done in the ``Reply/deferred(_:)`` that it returns.
public protocol Responder: Sendable {
    /// Answers a request at once, or returns a function that answers it later. Called on the event loop.
    ///
    /// - Parameters:
    ///   - head: The request's head.
    ///   - connection: The client's connection.
    /// - Returns: The reply.
    func respond(to head: borrowing RequestHead, on connection: Connection) -> Reply

    /// Answers a request that is rejected. Called on the event loop.
    ///
    /// - Parameters:
    ///   - fault: The reason; its status is that of the response.
    ///   - connection: The client's connection.
    /// - Returns: The response. Over HTTP/1 it is the last of its connection.
    func respond(to fault: RequestFault, on connection: Connection) -> PreparedResponse
}

/// The reply to a request.
public enum Reply: Sendable {
    /// A response that is sent at once: the fast lane.
    case immediate(PreparedResponse)
    /// A function that produces the response in a task of its own: the async lane. The task is cancelled when the
    /// client disconnects.
    case deferred(@Sendable (Request) async -> Response)
}
