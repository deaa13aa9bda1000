// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A notice above the form of the sign-in page.
enum Notice: UInt8, Sendable, CaseIterable {
    case none = 0
    /// The credentials were rejected.
    ///
    /// The text does not reveal the reason.
    case rejected = 1
    /// The sign-in page has expired, or the server has been restarted.
    case expired = 2
    case signedOut = 3
    case unavailable = 4
    /// There are too many sessions.
    case full = 5
    /// The account was changed during the sign-in.
    case changed = 6

    var text: String? {
        switch self {
        case .none: nil
        case .rejected: "Invalid credentials. Please check the name and the password and try again."
        case .expired: "The sign-in page has expired. Please sign in again."
        case .signedOut: "You have signed out."
        case .unavailable: "You cannot be signed in at the moment. Please try again later."
        case .full: "Too many users are signed in. Please try again later."
        case .changed: "Your account was changed just now. Please sign in again."
        }
    }

    var isError: Bool {
        switch self {
        case .none, .signedOut: false
        case .rejected, .expired, .unavailable, .full, .changed: true
        }
    }
}
