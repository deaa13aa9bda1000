// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// One subject that logs in and out through one stack, any number of times, as a JAAS LoginContext does.
///
/// A server needs ``LoginStack/login(_:)`` only. A context is for programs that keep a subject over several logins. It is
/// for one task at a time.
///
/// Source: `javax.security.auth.login.LoginContext`; docs/jaas.md lists what differs on purpose.
public final class LoginContext {
    private let stack: LoginStack
    private let isGiven: Bool
    private var current: Subject
    private var isAuthenticated = false
    private var last: LoginRecord?

    /// A context on a stack.
    ///
    /// - Parameters:
    ///   - stack: The stack.
    ///   - subject: A subject to add to; without one the context makes its own at the first success.
    public init(_ stack: LoginStack, subject: Subject? = nil) {
        self.stack = stack
        isGiven = subject != nil
        current = subject ?? Subject()
    }

    /// The subject: the given one with what logins added to it; without a given one, nil until a login has succeeded, and
    /// after one that failed.
    public var subject: Subject? { isAuthenticated || isGiven ? current : nil }

    /// Logs in.
    ///
    /// On success the subject has the new principals, on refusal none of this or an earlier login's.
    ///
    /// - Parameters:
    ///   - request: Who wants in, and where.
    ///   - conversation: The other end, to be asked for whatever a module needs.
    /// - Returns: The decision and how it came about.
    public func login(_ request: LoginRequest, asking conversation: any Conversation) async -> LoginReport {
        let report = await stack.login(request, asking: conversation)
        isAuthenticated = report.identity != nil
        last = report.record
        current.removeModules()
        if let identity = report.identity { current.merge(identity.subject) }
        return report
    }

    /// Logs out: asks every module that the last login reached.
    ///
    /// Their principals go, but for those of modules that threw.
    ///
    /// - Returns: How it went; nil if there has not been a login.
    public func logout() async -> LogoutReport? {
        guard let last else { return nil }
        let report = await stack.logout(last.request, after: last)
        for step in report.steps where step.outcome.failure == nil { current.remove(module: step.index) }
        return report
    }
}
