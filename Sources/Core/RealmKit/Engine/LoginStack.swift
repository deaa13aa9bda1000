// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// An ordered list of modules, each with a table of actions: one entry of login.conf, ready to be evaluated.
///
/// It is created when the configuration is loaded, immutable, and serves any number of concurrent logins on any thread.
public final class LoginStack: Sendable {
    /// A module of a stack, with its control flag or table.
    public struct Entry: Sendable {
        enum Kind: Sendable {
            case immediate(any ImmediateLoginModule)
            case waiting(any LoginModule, deadline: Duration)
            case broken(LoginFault)
            case substack
            case boundary
        }

        /// The module's name in the configuration.
        public let name: String
        /// The control flag or table in the configuration.
        public let control: String
        /// The action for each outcome.
        public let table: ActionTable
        /// The depth of the sub-stack that contains the entry; 0 for the stack itself, and -1 for a boundary of its parts.
        public let level: Int
        /// The module's options in the configuration, without secrets.
        package var settings: [String] = []
        /// The place in the configuration, such as `login.conf:3:5`; empty if the entry was made in code.
        package var place = ""
        /// True for a module that is not created, and would take user names from certificates.
        private(set) var namesUsers = false
        let kind: Kind

        /// Creates an entry with a control flag, a name for reports, by default the module's preferred name, and a time limit
        /// for one call, which does not apply to an ``ImmediateLoginModule``.
        public init(
            _ module: any LoginModule,
            _ flag: ControlFlag,
            name: String? = nil,
            deadline: Duration = LoginStack.defaultDeadline
        ) {
            self.init(
                module,
                ActionTable(flag),
                control: flag.rawValue,
                name: name ?? type(of: module).moduleNames.first ?? "\(type(of: module))",
                deadline: deadline
            )
        }

        /// Creates an entry with a table of actions, whose text in reports is `control`, in a sub-stack of depth `level`.
        public init(
            _ module: any LoginModule,
            _ table: ActionTable,
            control: String,
            name: String,
            level: Int = 0,
            deadline: Duration = LoginStack.defaultDeadline
        ) {
            let immediate = (module as? any ImmediateLoginModule).map { Kind.immediate($0) }
            let kind = immediate ?? .waiting(module, deadline: deadline)
            self.init(name: name, control: control, table: table, level: max(0, level), kind: kind)
        }

        private init(name: String, control: String, table: ActionTable, level: Int, kind: Kind) {
            self.name = name
            self.control = control
            self.table = table
            self.level = level
            self.kind = kind
        }

        /// Returns an entry for a module that could not be created, which fails in every login that reaches it.
        public static func broken(_ name: String, _ flag: ControlFlag, fault: LoginFault) -> Entry {
            Entry(name: name, control: flag.rawValue, table: ActionTable(flag), level: 0, kind: .broken(fault))
        }

        /// Returns an entry whose module is not known to this program, for analyses; it fails in every login that reaches it.
        ///
        /// `namesUsers` says that it would take user names from certificates.
        package static func unlinked(
            _ name: String,
            _ table: ActionTable,
            control: String,
            level: Int,
            namesUsers: Bool = false
        ) -> Entry {
            let fault = LoginFault.internalError("\(name) is not linked")
            var entry = Entry(name: name, control: control, table: table, level: level, kind: .broken(fault))
            entry.namesUsers = namesUsers
            return entry
        }

        /// True if the entry begins a sub-stack and has no module.
        var isSubstack: Bool { if case .substack = kind { true } else { false } }

        /// False for the beginning of a sub-stack, and for a boundary.
        package var hasModule: Bool {
            switch kind {
            case .substack, .boundary: false
            case .immediate, .waiting, .broken: true
            }
        }

        /// Returns the entry that begins a sub-stack; the entries of the sub-stack follow it, one level deeper.
        public static func substack(_ name: String, level: Int = 0) -> Entry {
            Entry(
                name: name,
                control: "substack",
                table: ActionTable(success: .ignore, failure: .bad),
                level: max(0, level),
                kind: .substack
            )
        }

        /// Returns the entry between two parts of a stack: the part before it must grant the login, otherwise the login is
        /// refused, and then the part after it must grant the login too.
        ///
        /// No jump, and no end of a part, leads across it. So PAM's `account` lines follow its `auth` lines.
        public static func boundary(_ name: String) -> Entry {
            let table = ActionTable(success: .ignore, failure: .bad)
            return Entry(name: name, control: "boundary", table: table, level: -1, kind: .boundary)
        }
    }

    /// The default time limit for one call of a module: 30 seconds.
    public static let defaultDeadline = Duration.seconds(30)

    /// The maximum number of entries of a stack.
    public static let maximumEntries = 1000

    /// The name of the entry in login.conf.
    public let name: String
    package let entries: [Entry]
    /// The calls of the modules for which no login has to wait, because they are immediate or broken; nil for other entries.
    let immediateCalls: ContiguousArray<ImmediateCall?>
    let rules: ContiguousArray<EntryRule>
    package let clock: any LoginClock
    let timers: TimerQueue
    /// True if all modules are immediate, so that ``loginNow(_:measuringDurations:)`` returns a report.
    public let isImmediate: Bool
    /// The configuration of all modules as text, without secrets, for comparing two configurations.
    package let configurationTexts: [String]

    /// Creates a stack of at most ``maximumEntries`` modules; a stack without modules refuses every login.
    public init(name: String, _ entries: [Entry], clock: any LoginClock) {
        precondition(entries.count <= Self.maximumEntries, "a stack has at most \(Self.maximumEntries) entries")
        self.name = name
        self.entries = entries
        immediateCalls = ContiguousArray(entries.map(\.immediateCall))
        rules = ContiguousArray(entries.map(EntryRule.init))
        self.clock = clock
        timers = TimerQueue(clock)
        configurationTexts = entries.flatMap { [$0.name, $0.control, "\($0.settings.count)"] + $0.settings }
        isImmediate = entries.allSatisfy { entry in
            if case .waiting = entry.kind { false } else { true }
        }
    }

    /// Returns the name of an entry in a list of answers: that of its module, and `NAME#2` for the second entry of a name.
    package func answerName(of entry: Int) -> String {
        let name = entries[entry].name
        let count = entries[...entry].count { $0.name.hasBytes(of: name) }
        return count == 1 ? name : "\(name)#\(count)"
    }

    /// Evaluates the stack for one login.
    ///
    /// The call returns even if the task is cancelled or a module never returns. A module that exceeds its deadline has
    /// failed. If the task is cancelled while the login waits, the login is refused as unavailable, whatever the
    /// control flags are. No further module is then called, and the modules that were reached are aborted.
    ///
    /// If durations are not measured, they are zero, and a login through modules that never wait reads no clock.
    public func login(
        _ request: consuming LoginRequest,
        asking conversation: any Conversation,
        measuringDurations: Bool = true
    ) async -> LoginReport {
        await login(consume request, asking: conversation, mayGrant: true, measuringDurations: measuringDurations)
    }

    /// Evaluates the stack for one login whose account may be locked: if not `mayGrant`, every success of a module counts as
    /// wrong credentials, and the refusal is ``Refusal/locked`` unless a module was unavailable.
    package func login(
        _ request: consuming LoginRequest,
        asking conversation: any Conversation,
        mayGrant: Bool,
        measuringDurations: Bool = true
    ) async -> LoginReport {
        var run = LoginRun(
            self,
            request: consume request,
            conversation: conversation,
            mayGrant: mayGrant,
            measuringDurations: measuringDurations
        )
        await advance(&run)
        return run.report()
    }

    /// Makes the calls of a run until it has ended or is held.
    func advance(_ run: inout LoginRun) async {
        while let call = run.advance() {
            if call.phase.decides, Task.isCancelled {
                run.cancel(at: call)
                continue
            }
            run.process(call, answer: await answer(to: call))
            if call.phase.decides, Task.isCancelled { run.cancel(at: call) }
        }
    }

    /// Evaluates the stack for one login without waiting; returns nil if a module of the stack may have to wait.
    public func loginNow(_ request: consuming LoginRequest, measuringDurations: Bool = true) -> LoginReport? {
        guard isImmediate else { return nil }
        var run = LoginRun(
            self,
            request: consume request,
            conversation: PreparedConversation.silent,
            measuringDurations: measuringDurations
        )
        guard run.advance() == nil else { return nil }
        return run.report()
    }

    /// Logs a user out: calls ``LoginModule/logout(_:)`` of every module that the login reached, in order.
    public func logout(_ identity: AuthenticatedIdentity) async -> LogoutReport {
        let request = LoginRequest(realm: identity.realm, username: identity.username, service: identity.service)
        return await logout(request, after: identity.record)
    }

    func logout(_ request: LoginRequest, after login: LoginRecord) async -> LogoutReport {
        var run = LoginRun(self, request: consume request, undoing: login)
        while let call = run.advance() {
            run.process(call, answer: await answer(to: call))
        }
        return run.logoutReport()
    }

    private func answer(to call: LoginAttempt) async -> Result<Outcome, LoginFault> {
        guard case .waiting(let module, let deadline) = entries[call.module].kind else {
            return .failure(.internalError("the engine waited for an immediate module"))
        }
        return await DeadlineRace.run(call, of: module, within: deadline)
    }
}

typealias ImmediateCall = @Sendable (LoginAttempt) throws(LoginFault) -> Outcome

extension LoginStack.Entry {
    fileprivate var immediateCall: ImmediateCall? {
        switch kind {
        case .immediate(let module): return Self.call(of: module)
        case .broken(let fault): return { _ throws(LoginFault) in throw fault }
        case .waiting, .substack, .boundary: return nil
        }
    }

    /// Generic, so that a call neither copies the module nor unpacks an existential.
    private static func call(of module: some ImmediateLoginModule) -> ImmediateCall {
        { attempt throws(LoginFault) in try attempt.perform(on: module) }
    }

    /// The outcome of every login; nil if the module can have several.
    package var onlyOutcome: Outcome? { (module as? any ConstantLoginModule)?.onlyOutcome }

    /// The module; nil if it could not be created, and for an entry without one.
    var module: (any LoginModule)? {
        switch kind {
        case .immediate(let module): module
        case .waiting(let module, _): module
        case .broken, .substack, .boundary: nil
        }
    }
}
