// SPDX-License-Identifier: Apache-2.0

/// An event of a session that is sent to its clients.
public enum SessionEvent: Sendable, Hashable {
    /// The session ends in this many seconds if there is no request.
    ///
    /// After ``extended(idleExpiry:)``, the event is sent again when the new end is near.
    case expiring(seconds: Int)
    /// The session was used after ``expiring(seconds:)``.
    ///
    /// The value is the new idle end of the session, in seconds since 1970.
    case extended(idleExpiry: Int)
    /// The session has ended.
    ///
    /// This is the last event of the session.
    case ended(SessionEndCause)
    /// A message from an administrator to the user.
    case message(String)
    /// The connection is still open.
    ///
    /// The event has no number.
    case heartbeat
    /// The server is stopping, or there are too many streams and the user has the most of them.
    ///
    /// This is the last event of the stream, and it has no number.
    ///
    /// The session may continue after a restart.
    case closing
}

/// An event and its number, which a client sends as `Last-Event-ID` when it reconnects.
public struct NumberedSessionEvent: Sendable, Hashable {
    /// The number of the event; nil for an event that is not replayed.
    ///
    /// The first event of a session has the number 1, and each later event the next number.
    public let number: UInt64?
    /// The event.
    public let event: SessionEvent
}
