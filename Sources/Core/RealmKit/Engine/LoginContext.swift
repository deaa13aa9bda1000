// SPDX-License-Identifier: Apache-2.0

/// Logs a subject in and out through one stack, any number of times, like the LoginContext of JAAS.
///
/// It is for programs that keep a subject over several logins. A server needs only
/// ``LoginStack/login(_:asking:measuringDurations:)``. Only one task at a time may use a context.
///
/// Source: `javax.security.auth.login.LoginContext`; docs/jaas.md lists the intended differences.
public final class LoginContext {
    private let stack: LoginStack
    private let hasGivenSubject: Bool
    private var current: Subject
    private var isAuthenticated = false
    private var last: LoginRecord?

    /// Creates a context.
    public init(_ stack: LoginStack, subject: Subject? = nil) {
        self.stack = stack
        hasGivenSubject = subject != nil
        current = subject ?? Subject()
    }

    /// The subject, with the principals that logins added to it.
    ///
    /// Without a given subject, it is nil before the first success and after a failed login.
    public var subject: Subject? { isAuthenticated || hasGivenSubject ? current : nil }

    /// Logs in.
    ///
    /// After a success the subject has the principals of this login. After a refusal it has no principals of any login.
    public func login(_ request: LoginRequest, asking conversation: any Conversation) async -> LoginReport {
        let report = await stack.login(request, asking: conversation)
        isAuthenticated = report.identity != nil
        last = report.record
        current.removeModules()
        if let identity = report.identity { current.merge(identity.subject) }
        return report
    }

    /// Logs out: calls every module that the last login reached.
    ///
    /// The principals of these modules are removed from the subject. If a module throws, its principals remain.
    ///
    /// - Returns: The steps of the logout; nil if there has been no login.
    public func logout() async -> LogoutReport? {
        guard let last else { return nil }
        let report = await stack.logout(last.request, after: last)
        for step in report.steps where step.outcome.failure == nil { current.remove(module: step.index) }
        return report
    }
}
