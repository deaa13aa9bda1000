// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Something a session's clients are told.
public enum SessionEvent: Sendable, Hashable {
    /// It ends in so many seconds unless somebody uses it; told once, and again after it was ``extended(idleExpiry:)``.
    case expiring(seconds: Int)
    /// After it was said to expire, it goes on until then at least, in seconds since 1970, if nobody uses it.
    case extended(idleExpiry: Int)
    /// It is over; nothing follows.
    case ended(SessionEnd)
    /// Somebody has something to say to its user.
    case message(String)
    /// The stream is alive; not numbered.
    case heartbeat
    /// The server is about to stop, and the session may go on with the next one; nothing follows; not numbered.
    case closing
}

/// An event, and what a client can say that it has seen.
public struct NumberedSessionEvent: Sendable, Hashable {
    /// Its number: 1 for the first of the session, one more for each that follows; nil for those that are not replayed.
    public let number: UInt64?
    /// The event.
    public let event: SessionEvent
}
