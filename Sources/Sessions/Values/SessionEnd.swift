// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Why a session is over.
public enum SessionEnd: String, Sendable, Hashable, CaseIterable {
    /// Its user has signed out.
    case logout
    /// Nobody has used it for too long.
    case idle
    /// It has lived for as long as sessions may.
    case absolute
    /// An administrator has ended it.
    case administrator
    /// Its user has ended it from another session.
    case endedElsewhere = "ended-elsewhere"
    /// Its user is gone or disabled, or has another password or other groups.
    case userChanged = "user-changed"
    /// Its realm is gone, or is another.
    case realmGone = "realm-gone"
    /// Its user has begun more sessions than a user may have.
    case limit
    /// Another has begun in its place.
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
