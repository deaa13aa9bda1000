// SPDX-License-Identifier: Apache-2.0

/// The connection to the user who signs in: an HTTP header, the fields of a form, a terminal.
///
/// A module passes callbacks, and the conversation answers them. The wait for the user does not count towards the
/// module's deadline, so a conversation that the user cannot interrupt needs a time limit of its own. It may be called
/// from any thread.
///
/// Contract, tested by `ConversationConformance` of RealmTesting: there is one answer for each callback, in the same
/// order; a callback without an answer gets ``Answer/none``; a cancellation of the task ends the wait with a fault.
public protocol Conversation: AnyObject, Sendable {
    /// True if the client presented a password or a code.
    ///
    /// A refused login then counts as a guess, even if no module requested the secret.
    ///
    /// The engine reads it at the end of a login. The default is false: a login then counts as a guess only if a module
    /// received a secret.
    var presentsSecret: Bool { get }

    /// Sets what the conversation does each time before it waits for a person.
    ///
    /// A throttle then counts the login as a failure, until it is known to be none. A conversation that waits for the
    /// user's next request calls the action before it shows the question. The default ignores the action: a conversation
    /// with all its answers never waits.
    ///
    /// - Parameter action: The action, instead of an earlier one. It does not block. The conversation releases it at the
    ///   latest with itself.
    func beforeWaiting(_ action: @escaping @Sendable () -> Void)

    /// Answers all callbacks.
    ///
    /// - Parameter callbacks: The callbacks, passed together so that a page can show all fields at once.
    /// - Returns: One answer for each callback, in the same order.
    /// - Throws: ``LoginFault`` if the client is gone, the time is up, or the task is cancelled.
    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer]
}

extension Conversation {
    /// False: a login counts as a guess only if a module received a secret.
    public var presentsSecret: Bool { false }

    /// Ignores the action: a conversation with all its answers never waits.
    public func beforeWaiting(_ action: @escaping @Sendable () -> Void) {}
}
