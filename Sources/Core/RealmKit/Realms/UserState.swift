// SPDX-License-Identifier: Apache-2.0

/// The state of a user whom a realm has accepted before.
public enum UserState: Sendable, Hashable {
    /// The realm cannot determine the state.
    case unknown
    /// The user was removed or may no longer sign in.
    case gone
    /// The user may sign in; the stamp changes with the user's password, groups and state.
    case present(SecurityStamp)

    /// The stamp of a user who may sign in.
    public var stamp: SecurityStamp? {
        switch self {
        case .unknown, .gone: nil
        case .present(let stamp): stamp
        }
    }
}
