// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The login that a ``LoginAttempt`` belongs to.
///
/// The engine implements it. It is the only type through which modules reach the engine, so that modules do not depend
/// on how the engine works.
protocol OngoingLogin: AnyObject, Sendable {
    var username: Username { get }
    var realm: String { get }
    var service: String { get }
    var peer: String? { get }

    /// Keeps a contribution, unless the call that made it is over.
    ///
    /// - Returns: Its number; -1 if it is not kept.
    @discardableResult
    func add(_ contribution: Contribution) -> Int

    /// Reads and changes the shared state; the changes of a call that is over are dropped.
    func withSharedState<Result: Sendable>(round: Int, _ body: (inout SharedState) -> Result) -> Result

    /// Keeps a note of a module, unless its call is over or the login has enough notes.
    func note(_ text: String, module: Int, round: Int)

    /// Passes callbacks to the conversation. The wait for the answers does not count against the module's deadline.
    func ask(_ callbacks: [Callback], round: Int) async throws(LoginFault) -> [Answer]
}
