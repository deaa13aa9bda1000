// SPDX-License-Identifier: Apache-2.0

/// The login that a ``LoginAttempt`` belongs to.
///
/// The engine implements this protocol. Modules reach the engine only through it, so they do not depend on how the
/// engine works.
protocol OngoingLogin: AnyObject, Sendable {
    var username: Username { get }
    var realm: String { get }
    var service: String { get }
    var peer: String? { get }

    /// Adds a contribution, unless its call has ended.
    ///
    /// - Returns: The number of the contribution; -1 if its call has ended.
    @discardableResult
    func add(_ contribution: consuming Contribution) -> Int

    /// Reads and changes the shared state; changes of a call that has ended are discarded.
    func withSharedState<Result: Sendable>(round: Int, _ body: (inout SharedState) -> Result) -> Result

    /// Adds a note of a module, unless its call has ended or the login already has 100 notes.
    func note(_ text: String, module: Int, round: Int)

    /// True if the login may be granted; false if the throttle has locked the account or the client's address.
    var mayGrant: Bool { get }

    /// Passes callbacks to the conversation. The wait for the answers does not count towards the module's deadline.
    ///
    /// - Parameters:
    ///   - callbacks: The callbacks.
    ///   - round: The number of the call.
    ///   - isNested: True if a module of a login in another realm asks.
    /// - Returns: One answer for each callback.
    /// - Throws: ``LoginFault`` of the conversation, or if the login is locked and the call has got a secret already.
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
