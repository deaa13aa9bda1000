// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The notice above the form of the sign-in page.
enum Notice: UInt8, Sendable, CaseIterable {
    case none = 0
    /// The credentials were rejected; the text is the same for every reason.
    case refused = 1
    /// The page has expired, or is from before a restart.
    case stale = 2
    case signedOut = 3
    case unavailable = 4
    /// There are too many sessions.
    case full = 5
    /// The account was changed during the sign-in.
    case changed = 6

    var text: String? {
        switch self {
        case .none: nil
        case .refused: "Invalid credentials. Please check the name and the password and try again."
        case .stale: "The sign-in page has expired. Please sign in again."
        case .signedOut: "You have signed out."
        case .unavailable: "You cannot be signed in at the moment. Please try again later."
        case .full: "Too many users are signed in. Please try again later."
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
