// SPDX-License-Identifier: Apache-2.0

/// An error of the session table.
///
/// Two errors are equal if their codes are equal.
public struct SessionFault: Error, Sendable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: Sendable, Hashable {
        /// The maximum number of sessions has been reached.
        case full
        /// The user's sessions were ended during the login.
        ///
        /// Another login may succeed.
        case changedMeanwhile
        /// The session has ended.
        case ended
        /// The maximum number of event streams of this session, or of all sessions, has been reached.
        case tooManyStreams
        /// The server is stopping.
        case closing
        /// The store could not be written, or no random bytes could be generated.
        case unavailable
    }

    /// The kind of error.
    public let code: Code
    /// The message for the log.
    public let description: String

    /// The maximum number of sessions has been reached.
    public static let full = SessionFault(.full, "the maximum number of sessions has been reached")
    /// The user's sessions were ended during the login.
    public static let changedMeanwhile = SessionFault(
        .changedMeanwhile,
        "the user's sessions were ended during the login"
    )
    /// The session has ended.
    public static let ended = SessionFault(.ended, "the session has ended")
    /// The maximum number of event streams has been reached.
    public static let tooManyStreams = SessionFault(.tooManyStreams, "the maximum number of event streams is open")
    /// The server is stopping.
    public static let closing = SessionFault(.closing, "the server is stopping")

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

extension SessionFault: Hashable {
    /// Returns whether the codes are the same.
    public static func == (left: SessionFault, right: SessionFault) -> Bool { left.code == right.code }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
