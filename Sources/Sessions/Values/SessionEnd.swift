// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The cause of a session's end.
public enum SessionEnd: String, Sendable, Hashable, CaseIterable {
    /// The user has signed out.
    case logout
    /// It has not been used for the idle time.
    case idle
    /// It has reached the absolute time of sessions.
    case absolute
    /// An administrator has ended it.
    case administrator
    /// The user has ended it from another session.
    case endedElsewhere = "ended-elsewhere"
    /// The user was removed or disabled, or has another password or other groups.
    case userChanged = "user-changed"
    /// The realm was removed or replaced.
    case realmGone = "realm-gone"
    /// The user has begun more sessions than a user may have.
    case limit
    /// Another session of the same client has begun.
    case replaced

    /// A number for an atomic; 0 stands for none.
    var number: UInt8 {
        switch self {
        case .logout: 1
        case .idle: 2
        case .absolute: 3
        case .administrator: 4
        case .endedElsewhere: 5
        case .userChanged: 6
        case .realmGone: 7
        case .limit: 8
        case .replaced: 9
        }
    }

    init?(number: UInt8) {
        guard let end = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = end
    }
}
