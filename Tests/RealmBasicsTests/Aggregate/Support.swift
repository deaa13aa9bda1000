// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Synchronization

@testable import RealmBasics

/// A directory in memory that a test changes and turns off.
final class MemoryDirectory: RefreshingRealm {
    /// The reaction of the directory to a request.
    enum Condition: Sendable {
        case up
        case down
        /// It is down for one user, and answers others.
        case downFor(String)
        /// It has too much to do.
        case overloaded
        /// It never answers, unless it is cancelled.
        case hanging
        /// It is down for one user at once, and never answers about others.
        case hangingExcept(String)
        /// It gives groups only at a login.
        case loginOnly
    }

    struct Entry: Sendable {
        var password = "right"
        var groups: [String] = []
        var attributes: [UserAttribute] = []
        /// Another spelling of the name, which the directory prefers.
        var spelling: String?
    }

    static let properties: PropertySchema = []
    let jaasContext = "directory"
    var authType: String { "Directory" }
    static var dependsOnOtherSystems: Bool { true }
    private let entries: Mutex<[String: Entry]>
    private let condition = Mutex(Condition.up)
    private let asked = Mutex<[String]>([])
    private let version = Mutex<UInt8>(0)
    private let open = Mutex(0)

    init(_ entries: [String: Entry]) { self.entries = Mutex(entries) }
    init(_ properties: RealmProperties) throws(BadRealm) { entries = Mutex([:]) }

    /// The names for which groups were asked, in order.
    var questions: [String] { asked.withLock { $0 } }

    /// The number of calls that wait for the directory.
    var openCalls: Int { open.withLock { $0 } }

    func set(_ condition: Condition) { self.condition.withLock { $0 = condition } }

    func change(_ name: String, _ entry: Entry?) {
        entries.withLock { $0[name] = entry }
        version.withLock { $0 += 1 }
    }

    func groupNames(of user: Username) async throws(RealmError) -> [String] { try await entry(of: user).groups }

    func attributes(of user: Username) async throws(RealmError) -> [UserAttribute] {
        try await entry(of: user).attributes
    }

    private func entry(of user: Username) async throws(RealmError) -> Entry {
        asked.withLock { $0.append(user.text) }
        try await reach(for: user.text)
        guard let entry = entries.withLock({ $0[user.text] }) else { throw .noSuchUser(user) }
        return entry
    }

    /// Fails or waits as the condition of the directory says.
    private func reach(for name: String = "") async throws(RealmError) {
        switch condition.withLock({ $0 }) {
        case .up: break
        case .down: throw .unavailable("the directory is down")
        case .downFor(let user): if user.utf8.elementsEqual(name.utf8) { throw .unavailable("no answer in time") }
        case .overloaded: throw RealmError(.overloaded, "too many calls wait")
        case .loginOnly: throw .invalidOperation("groups are known at a login only")
        case .hanging: try await hang()
        case .hangingExcept(let user):
            if user.utf8.elementsEqual(name.utf8) { throw .unavailable("no answer in time") }
            try await hang()
        }
    }

    private func hang() async throws(RealmError) {
        open.withLock { $0 += 1 }
        defer { open.withLock { $0 -= 1 } }
        do {
            try await Task.sleep(for: .seconds(3600))
        } catch {
            throw .unavailable("cancelled")
        }
    }

    func refresh() async -> ChangedUsers { .none }

    func state(of user: Username) async -> UserState {
        guard let entry = entries.withLock({ $0[user.text] }) else { return .gone }
        return .present(SecurityStamp(Array((entry.groups.joined(separator: ",") + entry.password).utf8)))
    }

    /// A module that checks the passwords of the directory, in any condition of the directory.
    var module: ScriptedModule { module(isGuarded: false) }

    /// A module that checks the passwords of the directory, and fails or hangs with it.
    var guardedModule: ScriptedModule { module(isGuarded: true) }

    private func module(isGuarded: Bool) -> ScriptedModule {
        ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                let password = try await attempt.password()
                do throws(RealmError) {
                    if isGuarded { try await self.reach() }
                } catch {
                    throw .unavailable("\(error)")
                }
                guard let entry = self.entries.withLock({ $0[attempt.username.text] }) else {
                    return .failed(.unknownUser)
                }
                guard password.isEqual(to: Secret(utf8: entry.password)) else { return .failed(.wrongCredentials) }
                do throws(BadUsername) {
                    let name = try Username(entry.spelling ?? attempt.username.text)
                    return attempt.commit(as: name, groups: entry.groups, attributes: entry.attributes)
                } catch {
                    return .failed(.unknownUser)
                }
            }
        )
    }
}

/// The realms of a test: `accounts` with passwords, authorization realms, and the aggregate `people`.
struct Town {
    let accounts: BoundRealm
    let people: BoundRealm

    init(
        accounts: BoundRealm,
        authorization: [BoundRealm] = [],
        _ properties: [String: PropertyValue] = [:],
        groups: [String] = [],
        services: RealmServices = .none,
        clock: any LoginClock = ManualClock(),
        deadline: Duration = .seconds(30)
    ) throws {
        self.accounts = accounts
        var values = properties
        values["authentication"] = .realms([accounts])
        if !authorization.isEmpty { values["authorization"] = .realms(authorization) }
        let realm = try AggregateRealm(
            RealmProperties(values, schema: AggregateRealm.properties, realmName: "people", services: services)
        )
        let module = try AggregateLoginModule(
            realm: realm,
            options: ModuleOptions(schema: AggregateLoginModule.options, realmName: "people")
        )
        var bound = BoundRealm(
            name: "people",
            className: "AggregateRealm",
            realm: realm,
            stack: LoginStack(name: "aggregateRealm", [.init(module, .required, deadline: deadline)], clock: clock),
            assignedGroups: groups
        )
        bound.nested = [accounts] + authorization
        people = bound
    }

    var realm: AggregateRealm? { people.realm as? AggregateRealm }

    func login(_ name: String, password: String = "right") async throws -> LoginReport {
        try await login(name, asking: PreparedConversation(password: Secret(utf8: password)))
    }

    func login(_ name: String, asking conversation: any Conversation) async throws -> LoginReport {
        let request = LoginRequest(realm: "people", username: try Username(name))
        return try await Authenticator([people]).login(request, asking: conversation)
    }
}

/// Binds a realm to a stack, as a configuration does.
func bound(
    _ name: String,
    _ realm: any Realm,
    _ entries: [LoginStack.Entry] = [],
    groups: [String] = [],
    mapping: [String] = [],
    clock: any LoginClock = ManualClock()
) throws -> BoundRealm {
    BoundRealm(
        name: name,
        className: "\(type(of: realm))",
        realm: realm,
        stack: LoginStack(name: name, entries, clock: clock),
        assignedGroups: groups,
        groupMapping: try GroupMapping(rules: mapping)
    )
}

extension LoginStack.Entry {
    static func required(_ module: any LoginModule) -> Self { Self(module, .required) }
    static func sufficient(_ module: any LoginModule) -> Self { Self(module, .sufficient) }
}

/// The log entries of a realm.
final class AggregateLog: Sendable {
    private let lines = Mutex<[String]>([])

    var services: RealmServices {
        var services = RealmServices()
        services[RealmLog.self] = RealmLog { [self] level, text in lines.withLock { $0.append("\(level): \(text)") } }
        return services
    }
    var entries: [String] { lines.withLock { $0 } }
}
