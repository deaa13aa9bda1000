// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmConfiguration

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

    /// The name in the query of a link; empty for a notice that no link may show.
    ///
    /// Any site can link to the page, so such a notice must not mislead the user.
    var name: String {
        switch self {
        case .expired: "expired"
        case .signedOut: "signed-out"
        case .none, .rejected, .unavailable, .full, .changed: ""
        }
    }

    /// The notice with a name in the query of a link; nil if there is none.
    init?(name: UTF8Text) {
        guard !name.isEmpty, let notice = Self.allCases.first(where: { UTF8Text($0.name) == name }) else {
            return nil
        }
        self = notice
    }

    var message: Message? {
        switch self {
        case .none: nil
        case .rejected: .key(.rejected)
        case .expired: .key(.expired)
        case .signedOut: .key(.signedOutNotice)
        case .unavailable: .key(.unavailableNotice)
        case .full: .key(.full)
        case .changed: .key(.accountChanged)
        }
    }

    var isError: Bool {
        switch self {
        case .none, .signedOut: false
        case .rejected, .expired, .unavailable, .full, .changed: true
        }
    }
}
