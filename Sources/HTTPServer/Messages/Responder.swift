// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import HummingbirdCore

/// Answers requests, each in one of two lanes.
///
/// ``respond(to:on:)`` runs on the event loop that serves thousands of other connections: it must not wait for anything,
/// nor compute for long. What needs either is put into the ``Reply/later(_:)`` that it returns.
public protocol Responder: Sendable {
    /// Answers a request, or says how it will be answered. Called on the event loop.
    ///
    /// - Parameters:
    ///   - head: The request's head.
    ///   - connection: Where it came from.
    /// - Returns: The answer, or how to get it.
    func respond(to head: borrowing RequestHead, on connection: Connection) -> Reply

    /// Answers what is no proper request. Called on the event loop.
    ///
    /// - Parameters:
    ///   - fault: What is wrong; its status is the response's.
    ///   - connection: Where it came from.
    /// - Returns: The response after which the connection ends.
    func respond(to fault: RequestFault, on connection: Connection) -> PreparedResponse
}

/// How a request is answered.
public enum Reply: Sendable {
    /// With this, at once: the fast lane.
    case now(PreparedResponse)
    /// With what comes of this, in a task of its own: the async lane. The task is cancelled when the client goes away.
    case later(@Sendable (Request) async -> Response)
}
