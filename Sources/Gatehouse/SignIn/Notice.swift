// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What the sign-in page says above its form.
enum Notice: UInt8, Sendable, CaseIterable {
    case none = 0
    /// Whatever was wrong, it says the same.
    case refused = 1
    /// The page was too old, or of before a restart.
    case stale = 2
    case signedOut = 3
    case unavailable = 4
    /// Too many are signed in.
    case full = 5
    /// The account was changed while somebody signed in.
    case changed = 6

    var text: String? {
        switch self {
        case .none: nil
        case .refused: "Invalid credentials. Please check the name and the password and try again."
        case .stale: "That took too long. Please sign in again."
        case .signedOut: "You have signed out."
        case .unavailable: "It cannot be checked now who you are. Please try again later."
        case .full: "Nobody else can sign in now. Please try again later."
        case .changed: "Your account was changed just now. Please sign in again."
        }
    }

    var isError: Bool {
        switch self {
        case .none, .signedOut: false
        case .refused, .stale, .unavailable, .full, .changed: true
        }
    }
}
