// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes

/// A notice above the form of the sign-in page.
enum Notice: UInt8, Sendable, CaseIterable {
    case none = 0
    /// The credentials were rejected; the text does not reveal the reason.
    case rejected = 1
    /// The sign-in page has expired, or the server has been restarted.
    case expired = 2
    case signedOut = 3
    case unavailable = 4
    case full = 5
    /// The account was changed during the sign-in.
    case changed = 6

    /// The name in the query of a link.
    ///
    /// Any site can link to the page, so it is empty for a notice that could mislead the user.
    var name: String {
        switch self {
        case .expired: "expired"
        case .signedOut: "signed-out"
        case .none, .rejected, .unavailable, .full, .changed: ""
        }
    }

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
