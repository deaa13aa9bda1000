// SPDX-License-Identifier: Apache-2.0

/// The cause of the end of a session.
public enum SessionEndCause: String, Sendable, Hashable, CaseIterable {
    /// The user has signed out.
    case logout
    /// The session was not used within the idle limit.
    case idle
    /// The session has reached the absolute limit.
    case absolute
    /// An administrator has ended the session.
    case administrator
    /// The user has ended the session from another session of the user.
    case endedElsewhere = "ended-elsewhere"
    /// The user was removed or disabled, or the password or groups of the user have changed.
    case userChanged = "user-changed"
    /// The realm was removed or replaced.
    case realmGone = "realm-gone"
    /// The user has signed in more often than the maximum number of sessions of a user.
    case tooManySessions = "limit"
    /// The same client has signed in again.
    case replaced

    /// The value that is stored in an atomic.
    ///
    /// The value 0 means that the session has not ended.
    var atomicValue: UInt8 {
        switch self {
        case .logout: 1
        case .idle: 2
        case .absolute: 3
        case .administrator: 4
        case .endedElsewhere: 5
        case .userChanged: 6
        case .realmGone: 7
        case .tooManySessions: 8
        case .replaced: 9
        }
    }

    init?(atomicValue: UInt8) {
        guard let cause = Self.allCases.first(where: { $0.atomicValue == atomicValue }) else { return nil }
        self = cause
    }
}
