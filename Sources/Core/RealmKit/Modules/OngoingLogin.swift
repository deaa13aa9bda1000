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
