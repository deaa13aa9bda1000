// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The connection to the user who signs in: an HTTP header, the fields of a form, a terminal.
///
/// A user is asked only for what a module requests. An answer may take as long as the user needs: the time does not
/// count against the module's deadline, and a conversation needs a deadline of its own if the user cannot interrupt it.
/// It may be called from any thread.
///
/// Contract, tested by `ConversationConformance` of RealmTesting: one answer for every callback, in order;
/// ``Answer/none`` where there is none; cancellation of the task ends the wait with a fault.
public protocol Conversation: AnyObject, Sendable {
    /// True if the client presented a password or a code, so that a refused login counts as a guess even if no module
    /// requested it.
    ///
    /// The engine reads it at the end of a login. The default is false: then a login counts as a guess if a module
    /// received a secret.
    var presentsSecret: Bool { get }

    /// Answers all callbacks.
    ///
    /// - Parameter callbacks: The callbacks, passed together so that a page can show all fields at once.
    /// - Returns: As many answers as there are callbacks, in their order.
    /// - Throws: ``LoginFault`` if the client is gone, the time is up, or the task is cancelled.
    func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer]
}

extension Conversation {
    /// False: a login counts as a guess if a module received a secret.
    public var presentsSecret: Bool { false }
}
