// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Modules in order, each with a table that says what its outcome does: one linked entry of login.conf.
///
/// A stack is made when the configuration is loaded, is immutable, and serves any number of logins at the same time.
public final class LoginStack: Sendable {
    /// One place in a stack.
    public struct Entry: Sendable {
        enum Kind: Sendable {
            case immediate(any ImmediateLoginModule)
            case waiting(any LoginModule, deadline: Duration)
            case broken(LoginFault)
            case marker
        }

        /// The module's name, as the configuration spells it.
        public let name: String
        /// The control, as the configuration spells it.
        public let control: String
        /// What to do with an outcome.
        public let table: ActionTable
        /// How deep in sub-stacks the entry is; 0 is the stack itself.
        public let level: Int
        /// What the configuration says of the module besides, secrets left out.
        package var settings: [String] = []
        let kind: Kind

        /// A module under a control flag.
        ///
        /// - Parameters:
        ///   - module: The module.
        ///   - flag: How much it counts.
        ///   - name: Its name in reports; the default is its preferred name.
        ///   - deadline: How long the engine waits for one answer; a module that decides at once is not timed.
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

        /// A module under a table of its own.
        ///
        /// - Parameters:
        ///   - module: The module.
        ///   - table: What to do with its outcomes.
        ///   - control: The control in reports.
        ///   - name: The module's name in reports.
        ///   - level: How deep in sub-stacks the entry is.
        ///   - deadline: How long the engine waits for one answer.
        public init(
            _ module: any LoginModule,
            _ table: ActionTable,
            control: String,
            name: String,
            level: Int = 0,
            deadline: Duration = LoginStack.defaultDeadline
        ) {
            self.name = name
            self.control = control
            self.table = table
            self.level = max(0, level)
            if let immediate = module as? any ImmediateLoginModule {
                kind = .immediate(immediate)
            } else {
                kind = .waiting(module, deadline: deadline)
            }
        }

        private init(name: String, control: String, table: ActionTable, level: Int, kind: Kind) {
            self.name = name
            self.control = control
            self.table = table
            self.level = max(0, level)
            self.kind = kind
        }

        /// A place whose module cannot be had: it fails whenever it is reached.
        ///
        /// - Parameters:
        ///   - name: The module's name.
        ///   - flag: How much the failure counts.
        ///   - fault: Why it cannot be had.
        /// - Returns: The place.
        public static func broken(_ name: String, _ flag: ControlFlag, fault: LoginFault) -> Entry {
            Entry(name: name, control: flag.rawValue, table: ActionTable(flag), level: 0, kind: .broken(fault))
        }

        /// The place where a sub-stack begins, whose entries follow one level deeper.
        ///
        /// - Parameters:
        ///   - name: The sub-stack's name.
        ///   - level: The level of the marker itself.
        /// - Returns: The marker.
        public static func substack(_ name: String, level: Int = 0) -> Entry {
            Entry(
                name: name,
                control: "substack",
                table: ActionTable(success: .ignore, failure: .bad),
                level: level,
                kind: .marker
            )
        }
    }

    /// How long the engine waits for one answer of one module when nobody says otherwise: 30 seconds.
    public static let defaultDeadline = Duration.seconds(30)

    /// The most entries a stack may have.
    public static let maximumEntries = 1000

    /// The entry's name in login.conf.
    public let name: String
    let entries: ContiguousArray<LinkedEntry>
    let clock: any LoginClock
    let watch: DeadlineWatch
    /// Whether there are no sub-stacks.
    let isFlat: Bool

    /// Whether no module of the stack ever waits, so that ``loginNow(_:)`` answers.
    public let isImmediate: Bool
    /// All that the configuration says of the modules, secrets left out.
    package let definition: [String]

    /// A stack of these entries.
    ///
    /// - Parameters:
    ///   - name: The entry's name in login.conf.
    ///   - entries: The modules in order, at most ``maximumEntries``; a stack without any refuses everybody.
    ///   - clock: The time.
    public init(name: String, _ entries: [Entry], clock: any LoginClock) {
        precondition(entries.count <= Self.maximumEntries, "the linker bounds the number of entries")
        self.name = name
        self.entries = ContiguousArray(entries.map(LinkedEntry.init))
        self.clock = clock
        watch = DeadlineWatch(clock)
        definition = entries.flatMap { [$0.name, $0.control, "\($0.settings.count)"] + $0.settings }
        isFlat = entries.allSatisfy { $0.level == 0 }
        isImmediate = entries.allSatisfy { entry in
            if case .waiting = entry.kind { false } else { true }
        }
    }

    /// Names and controls of all places, in order.
    public var outline: [(module: String, control: String)] {
        entries.map { ($0.name, $0.control) }
    }

    /// Walks the stack for one login.
    ///
    /// It returns also when the task is cancelled and when a module never answers (its deadline makes that a failure of
    /// the module). A cancellation is noticed wherever the login waits: it is then refused as unavailable whatever the
    /// flags say, no module that has not been reached is called, and those that have been are aborted.
    ///
    /// - Parameters:
    ///   - request: Who wants in, and where.
    ///   - conversation: The other end, to be asked for whatever a module needs.
    /// - Returns: The decision and how it came about.
    public func login(_ request: consuming LoginRequest, asking conversation: any Conversation) async -> LoginReport {
        await login(consume request, asking: conversation, mayGrant: true)
    }

    /// Walks the stack for one login whose answer may be settled already.
    ///
    /// - Parameters:
    ///   - request: Who wants in, and where.
    ///   - conversation: The other end, to be asked for whatever a module needs.
    ///   - mayGrant: Whether the answer may be yes. If not, every yes of a module is heard as wrong credentials, the walk is
    ///     aborted, and the refusal is ``Refusal/locked``, unless it is that somebody is unavailable.
    /// - Returns: The decision and how it came about.
    func login(
        _ request: consuming LoginRequest,
        asking conversation: any Conversation,
        mayGrant: Bool
    ) async -> LoginReport {
        var run = LoginRun(self, consume request, conversation, mayGrant: mayGrant)
        while let call = run.advance() {
            // Before a call nobody is left to wait for, and after one that ended because nobody is.
            if call.phase.decides, Task.isCancelled {
                run.cancel(at: call)
                continue
            }
            let answer = await perform(call, run.record)
            run.settle(call, answer)
            if call.phase.decides, Task.isCancelled { run.cancel(at: call) }
        }
        return run.report()
    }

    /// Walks the stack for one login without ever waiting.
    ///
    /// - Parameter request: Who wants in, and where.
    /// - Returns: The decision and how it came about; nil if a module of the stack may have to wait.
    public func loginNow(_ request: consuming LoginRequest) -> LoginReport? {
        guard isImmediate else { return nil }
        var run = LoginRun(self, consume request, PreparedConversation.silent)
        guard run.advance() == nil else { return nil }
        return run.report()
    }

    /// Ends a login: every module that was reached in it is asked to undo what it did, in order.
    ///
    /// - Parameter identity: What the login gave.
    /// - Returns: How it went. A module's failure does not keep the others from being asked.
    public func logout(_ identity: AuthenticatedIdentity) async -> LogoutReport {
        let request = LoginRequest(
            realm: identity.realm,
            username: identity.username,
            service: identity.service
        )
        return await logout(request, after: identity.record)
    }

    func logout(_ request: LoginRequest, after login: LoginRecord) async -> LogoutReport {
        var run = LoginRun(self, consume request, undoing: login)
        while let call = run.advance() {
            let answer = await perform(call, run.record)
            run.settle(call, answer)
        }
        return run.logoutReport()
    }

    private func perform(_ call: ModuleCall, _ record: LoginRecord) async -> ModuleAnswer {
        guard case .waiting(let module, let deadline) = entries[call.entry].entry.kind else {
            return ModuleAnswer(.internalError("the engine asked a module to wait that never does"))
        }
        return await DeadlineRace.run(call, of: module, record: record, within: deadline)
    }
}
