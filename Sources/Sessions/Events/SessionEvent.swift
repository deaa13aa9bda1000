// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// An event of a session, for its clients.
public enum SessionEvent: Sendable, Hashable {
    /// The session ends after this many seconds without a request; sent once, and again after
    /// ``extended(idleExpiry:)``.
    case expiring(seconds: Int)
    /// A session that was about to expire was used; its new end without another request, in seconds since 1970.
    case extended(idleExpiry: Int)
    /// The session has ended; no event follows.
    case ended(SessionEnd)
    /// A message of an administrator to the user.
    case message(String)
    /// The stream is alive; without a number.
    case heartbeat
    /// The server stops, and the session may continue after a restart; no event follows; without a number.
    case closing
}

/// An event and its number, which a client sends as `Last-Event-ID` when it reconnects.
public struct NumberedSessionEvent: Sendable, Hashable {
    /// The number: 1 for the first event of the session, one more for each that follows; nil for events that are not
    /// replayed.
    public let number: UInt64?
    /// The event.
    public let event: SessionEvent
}
