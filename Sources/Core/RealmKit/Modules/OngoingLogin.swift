// SPDX-License-Identifier: Apache-2.0

/// The login that a ``LoginAttempt`` belongs to: the only way by which modules reach the engine, which implements it.
protocol OngoingLogin: AnyObject, Sendable {
    var username: Username { get }
    var realm: String { get }
    var service: String { get }
    var peer: String? { get }

    /// Adds a contribution and returns its number; -1 if its call has ended.
    @discardableResult
    func add(_ contribution: consuming Contribution) -> Int

    /// Reads and changes the shared state; changes of a call that has ended are discarded.
    func withSharedState<Result: Sendable>(round: Int, _ body: (inout SharedState) -> Result) -> Result

    /// Adds a note of a module, unless its call has ended or the login already has 100 notes.
    func note(_ text: String, module: Int, round: Int)

    /// True if the login may be granted; false if the throttle has locked the account or the client's address.
    var mayGrant: Bool { get }

    /// Passes callbacks to the conversation, from a module of this login or of one in another realm (`isNested`); throws if
    /// the login is locked and the call has got a secret already.
    func ask(_ callbacks: [Callback], round: Int, isNested: Bool) async throws(LoginFault) -> [Answer]
}

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
    var isCommit = false
    /// True if the module returned another of its successes, so that this contribution does not count.
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

    var namesUser: Bool {
        switch name {
        case .asRequested, .renamed: true
        case .unspecified: false
        }
    }
}
