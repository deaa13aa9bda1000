// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// The conformance test for a realm with its back end: a file, a database, a service, a program.
///
/// The test logs in through a whole stack, as a server does, while the back end works, fails and works again.
///
/// ```swift
/// @Test func `the realm and its server keep the contract`() async throws {
///     let server = try await TestServer.start()
///     var conformance = RealmBackEndConformance(
///         users: [.init("ann", password: server.passwordOfAnn, groups: ["staff"])],
///         rejectedUsers: [.init("off", password: server.passwordOfOff)],
///         faults: [
///             BackEndFault("the server is stopped", causes: ["refused"]) { try await server.stop() } end: {
///                 try await server.start()
///             },
///             BackEndFault("the server hangs", hangs: true, causes: ["did not answer"]) { server.hang() } end: {
///                 server.answer()
///             },
///         ],
///         deadline: .seconds(2)
///     ) { services in
///         try .forConformance(.remote, properties: ["url": [server.url]], services: services, deadline: .seconds(2))
///     }
///     conformance.openCalls = { server.openConnections }
///     let report = await conformance.check()
///     #expect(report.violations == [])
/// }
/// ```
///
/// The checks are the cases of ``Check``. A check that cannot be made, because the test was not given what it needs, is
/// a violation; ``skipped`` contains the checks that are left out, each with a reason.
///
/// The test creates one realm and uses it for all checks. It takes real time: about two deadlines for each fault that
/// hangs. All limits in real time have the addition ``slack``, so that they hold on a busy machine.
public struct RealmBackEndConformance: Sendable {
    /// A group of checks.
    public enum Check: String, Sendable, Hashable, CaseIterable {
        /// During a fault every login is refused as unavailable, and never accepted or refused for another reason. No
        /// login counts as a failed attempt, the log names the cause, and `groupNames(of:)` and `state(of:)` do not
        /// report a known user as removed. After the fault the same realm accepts users again.
        case outages
        /// A login whose back end hangs ends at the deadline of its module.
        case deadline
        /// A login that is cancelled while the back end hangs ends at once.
        case cancellation
        /// After a deadline and after a cancellation no call of the back end stays open.
        case release
        /// Of 100 logins at once, with right, wrong and unknown credentials, each gets its own result.
        case concurrency
        /// Malformed, very long and injection-shaped names and secrets are refused, and not as unavailable or as an
        /// internal error.
        case hostileInput
        /// The same for random names and secrets.
        case randomInput
        /// No secret is in the log, the notes, the faults and the reports, neither as it is nor in base64, in
        /// hexadecimal digits or percent-encoded.
        case secrets
        /// No secret is in the command line or the environment of a child process.
        case processes
        /// Right, wrong, empty, unknown and rejected credentials cause the same hash computations.
        ///
        /// The computations of a `PasswordService` are compared by their costs, and their number if
        /// ``RealmBackEndConformance/computations`` is set. The check is left out for a realm that computes no hash.
        case equalWork
        /// A login to a locked account with the right password gives the same result as one with a wrong password, by
        /// the same steps, questions and hash computations, and changes nothing in ``RealmBackEndConformance/stored``.
        ///
        /// No durations are compared: the delay of a refused login is that of the server's `LoginThrottle`, whose tests
        /// check it.
        case locks
    }

    /// The minimum length of a password that the test searches for in logs: 8 bytes.
    public static let searchableBytes = 8

    /// Returns the number of calls of the back end that are open, such as connections or running helper programs.
    ///
    /// It is needed for ``Check/release``. Connections that are kept for later logins do not count.
    public var openCalls: (@Sendable () async -> Int)?
    /// Returns the number of hash computations since the start, such as `HashingStatistics.computed`.
    ///
    /// It is needed for ``Check/equalWork`` if the realm computes hashes without a `PasswordService`.
    public var computations: (@Sendable () async -> Int)?
    /// Users whose login is neither accepted nor refused after the right password: the password must be changed, the
    /// groups cannot be read, a row is damaged.
    ///
    /// They are for ``Check/locks`` only.
    public var usersWithProblems: [User] = []
    /// Returns what the back end stores about its users, as text, for ``Check/locks``.
    ///
    /// Set it for a realm that writes to its back end.
    public var stored: (@Sendable () async throws -> String)?
    /// The checks that are left out, each with the reason; an empty reason is a violation.
    public var skipped: [Check: String] = [:]
    /// Returns whether a name is the name of a user; nil if `users` and `rejectedUsers` are all users.
    ///
    /// It is for realms whose users are not in a list, such as all names that begin with `z`.
    public var isUser: (@Sendable (Username) -> Bool)?
    /// True if the realm accepts its users without a password.
    public var isPasswordless = false
    /// True if the realm accepts a user under other spellings of the name, such as another case.
    ///
    /// All accepted spellings must then have the same `accountKey(of:)`. The default is false: other spellings must be
    /// refused.
    public var acceptsOtherSpellings = false
    /// The number of random logins; the default is 200.
    public var rounds = 200
    /// The seed of the random logins.
    ///
    /// A violation contains it, so that a failure can be repeated.
    public var seed: UInt64 = 13
    /// The addition to every limit in real time, and the maximum time after the end of a fault until a login succeeds;
    /// the default is 30 seconds.
    public var slack = Duration.seconds(30)

    let users: [User]
    let rejectedUsers: [User]
    let unknownUsers: [String]
    let faults: [BackEndFault]
    let deadline: Duration
    let makeRealm: @Sendable (RealmServices) async throws -> BoundRealm

    /// Creates a test of one realm.
    ///
    /// - Parameters:
    ///   - users: Users to accept, at least one.
    ///   - rejectedUsers: Users to refuse although their credentials are right, such as disabled users.
    ///   - unknownUsers: Names that the back end does not have, at least one.
    ///   - faults: The faults of the back end.
    ///   - deadline: The time limit of one call of a module, as in the stack of the realm.
    ///   - makeRealm: Creates the realm with its stack. It is called once, while the back end works. The services are
    ///     `RealmServices.forTests`. The realm must use the `RealmLog` in them. `BoundRealm.forConformance` creates the
    ///     stack.
    public init(
        users: [User],
        rejectedUsers: [User] = [],
        unknownUsers: [String] = ["no-such-user"],
        faults: [BackEndFault] = [],
        deadline: Duration,
        makeRealm: @escaping @Sendable (RealmServices) async throws -> BoundRealm
    ) {
        self.users = users
        self.rejectedUsers = rejectedUsers
        self.unknownUsers = unknownUsers
        self.faults = faults
        self.deadline = deadline
        self.makeRealm = makeRealm
    }

    /// Leaves checks out.
    ///
    /// - Parameters:
    ///   - checks: The checks to leave out.
    ///   - reason: The reason, for the report.
    public mutating func skip(_ checks: Check..., reason: String) {
        for check in checks { skipped[check] = reason }
    }

    /// Returns a random password that the test can recognise in logs.
    ///
    /// - Returns: 20 lower-case letters and digits.
    public static func randomPassword() -> String {
        let letters = Array("abcdefghijkmnopqrstuvwxyz23456789")
        return String((0..<20).map { _ in letters.randomElement() ?? "x" })
    }

    /// Runs all checks.
    ///
    /// - Returns: The violations, and what was checked.
    public func check() async -> ConformanceReport {
        var report = ConformanceReport()
        report.violations = problems()
        report.skipped = Check.allCases.compactMap { check in skipped[check].map { "\(check.rawValue): \($0)" } }
        guard report.violations.isEmpty else { return report }
        let log = RecordingLog()
        let realm: BoundRealm
        do {
            realm = try await makeRealm(.forTests(log: log))
        } catch {
            report.violations.append("the realm cannot be created: \(error)")
            return report
        }
        let run = ConformanceRun(self, realm: realm, log: log)
        await run.makeChecks(&report)
        return report
    }

    /// Returns the reasons why the test cannot be made as it was set up.
    private func problems() -> [String] {
        var problems: [String] = []
        if users.isEmpty { problems.append("the test needs a user to accept") }
        if unknownUsers.isEmpty { problems.append("the test needs the name of an unknown user") }
        for name in (users + rejectedUsers).map(\.username) + unknownUsers where (try? Username(name)) == nil {
            problems.append("\(name.debugDescription) is not a valid user name")
        }
        for (check, reason) in skipped where reason.allSatisfy(\.isWhitespace) {
            problems.append("the check \(check.rawValue) is skipped without a reason")
        }
        func require(_ isGiven: Bool, for checks: [Check], _ what: String) {
            for check in checks where !isGiven && skipped[check] == nil {
                problems.append("the check \(check.rawValue) needs \(what); skip it with a reason if there is none")
            }
        }
        require(!faults.isEmpty, for: [.outages], "a fault of the back end")
        require(faults.contains(where: \.hangs), for: [.deadline, .cancellation], "a fault that hangs")
        require(openCalls != nil, for: [.release], "openCalls")
        require(
            users.contains(where: \.isSearchable),
            for: [.secrets, .processes],
            "a password of at least \(Self.searchableBytes) bytes"
        )
        for fault in faults where fault.causes.isEmpty || fault.causes.contains("") {
            problems.append("the fault \"\(fault.name)\" has no text that names its cause")
        }
        return problems
    }
}

extension RealmBackEndConformance {
    /// A user of the back end, with the credentials that the user presents.
    public struct User: Sendable {
        /// The user name that the client sends.
        public let username: String
        /// The groups that the realm must commit, in any order.
        public let groups: [String]
        let acceptedName: String
        let password: [UInt8]?
        let certificate: [UInt8]?

        /// True if the test can recognise the password in a log.
        var isSearchable: Bool { (password?.count ?? 0) >= RealmBackEndConformance.searchableBytes }

        /// Creates a user.
        ///
        /// - Parameters:
        ///   - username: The user name that the client sends.
        ///   - password: The right password. It should be random and have at least
        ///     ``RealmBackEndConformance/searchableBytes`` bytes, because only such a password can be recognised in a
        ///     log; see ``RealmBackEndConformance/randomPassword()``.
        ///   - certificate: The right certificate, in DER.
        ///   - groups: The groups that the realm must commit, in any order. Different groups for each user make the
        ///     check of concurrent logins stricter.
        ///   - acceptedAs: The name of the accepted user, if the realm spells it in another way than the client.
        public init(
            _ username: String,
            password: String? = nil,
            certificate: [UInt8]? = nil,
            groups: [String] = [],
            acceptedAs: String? = nil
        ) {
            self.username = username
            self.password = password.map { Array($0.utf8) }
            self.certificate = certificate
            self.groups = groups
            acceptedName = acceptedAs ?? username
        }
    }
}
