// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What was asked of the table of sessions cannot be done; two are equal when their codes are.
public struct SessionFault: Error, Sendable, CustomStringConvertible {
    /// What kind of thing is wrong.
    public enum Code: Sendable, Hashable {
        /// There are as many sessions as there may be.
        case full
        /// The user's sessions were ended while the login was on its way; it may succeed when it is made again.
        case changedMeanwhile
        /// The session is over.
        case ended
        /// The session's token is being replaced already.
        case busy
        /// There are as many event streams as there may be, of this session or altogether.
        case tooManyStreams
        /// The server is about to stop.
        case closing
        /// The store could not be written, or there is no randomness.
        case unavailable
    }

    /// What kind of thing is wrong.
    public let code: Code
    /// What is wrong, for the log.
    public let description: String

    /// There are as many sessions as there may be.
    public static let full = SessionFault(.full, "there are as many sessions as there may be")
    /// The user's sessions were ended while the login was on its way.
    public static let changedMeanwhile = SessionFault(
        .changedMeanwhile,
        "the user's sessions were ended while the login was on its way"
    )
    /// The session is over.
    public static let ended = SessionFault(.ended, "the session is over")
    /// The session's token is being replaced already.
    public static let busy = SessionFault(.busy, "the session's token is being replaced already")
    /// There are as many event streams as there may be.
    public static let tooManyStreams = SessionFault(.tooManyStreams, "there are as many event streams as there may be")
    /// The server is about to stop.
    public static let closing = SessionFault(.closing, "the server is about to stop")

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

extension SessionFault: Hashable {
    /// Whether the codes are the same.
    public static func == (left: SessionFault, right: SessionFault) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
