// SPDX-License-Identifier: Apache-2.0

/// The principals and attributes that one call of one module adds to a subject, if the call counts.
struct Contribution: Sendable {
    /// The user that the module names.
    enum Name: Sendable {
        /// The name in the request.
        case asRequested
        /// Another name of the same user.
        case renamed(Username)
        /// No user.
        case unspecified
    }

    /// The module's place in its stack, from 0.
    let module: Int
    /// The number of the call in its login; see ``LoginRecord``.
    let round: Int
    let name: Name
    /// True if the contribution belongs to a success.
    ///
    /// A module may create several successes. Only the success that it returns counts.
    var isCommit = false
    /// True if the module returned a different success, so that this contribution does not count.
    var isVoid = false
    var groups: [String] = []
    var others: [Principal] = []
    var attributes: [UserAttribute] = []

    func user(requested: Username) -> Username? {
        switch name {
        case .asRequested: requested
        case .renamed(let renamed): renamed
        case .unspecified: nil
        }
    }

    func principals(requested: Username) -> [Principal] {
        (user(requested: requested).map { [.user($0.text)] } ?? []) + groups.map(Principal.group) + others
    }

    func isMember(of group: String) -> Bool {
        groups.contains { $0.utf8.elementsEqual(group.utf8) } || others.contains(.group(group))
    }

    /// True if the contribution names the user.
    var namesUser: Bool {
        switch name {
        case .asRequested, .renamed: true
        case .unspecified: false
        }
    }
}
