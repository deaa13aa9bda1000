// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What one call of one module gives to a subject, if it counts.
struct Contribution: Sendable {
    /// Who the module says this is.
    enum Name: Sendable {
        /// The name that was given.
        case asGiven
        /// Another name for the same user.
        case known(Username)
        /// It does not say.
        case unsaid
    }

    /// The module's place in its stack, from 0.
    let module: Int
    /// The call in which it was given; see ``LoginRecord``.
    let round: Int
    let name: Name
    /// Whether it came with a success to return, of which only the one that is returned counts.
    var isCommit = false
    /// Whether the module has returned another success than the one this came with.
    var isVoid = false
    var groups: [String] = []
    var others: [Principal] = []

    func user(given: Username) -> Username? {
        switch name {
        case .asGiven: given
        case .known(let known): known
        case .unsaid: nil
        }
    }

    func principals(given: Username) -> [Principal] {
        (user(given: given).map { [.user($0.text)] } ?? []) + groups.map(Principal.group) + others
    }

    func isMember(of group: String) -> Bool {
        groups.contains { $0.utf8.elementsEqual(group.utf8) } || others.contains(.group(group))
    }

    /// Whether it says who this is.
    var saysWho: Bool {
        switch name {
        case .asGiven, .known: true
        case .unsaid: false
        }
    }
}
