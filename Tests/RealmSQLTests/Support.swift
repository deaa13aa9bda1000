// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import Passwords
import RealmKit
import RealmSQL
import RealmTesting
import Synchronization

/// A realm with its stack, on a database of a test.
final class SQLFixture: Sendable {
    let pool: HashingPool
    let passwords: PasswordService
    let services: RealmServices
    let time: Atomic<Int>
    let log = RecordingLog()
    private let made = Mutex<(realm: SQLRealm, module: SQLLoginModule)?>(nil)

    /// A policy whose hashes take very little time.
    static let policy = HashPolicy(.argon2id(memory: 64, passes: 1, lanes: 1))

    init() throws {
        pool = HashingPool(HashingSettings(workers: 2)) { DispatchTime.now().uptimeNanoseconds }
        passwords = try PasswordService(policy: Self.policy, pool: pool)
        time = Atomic(1_800_000_000)
        var services = RealmServices()
        services[PasswordService.self] = passwords
        services[RealmLog.self] = log.log
        let box = Box()
        services[WallClock.self] = WallClock { box.fixture?.time.load(ordering: .relaxed) ?? 0 }
        self.services = services
        box.fixture = self
    }

    private final class Box: @unchecked Sendable {
        // The fixture is set once, before the first login.
        weak var fixture: SQLFixture?
    }

    /// Creates a realm with properties as in realms.conf.
    convenience init(_ properties: [String: String]) throws {
        try self.init()
        try use(properties)
    }

    /// Replaces the realm.
    func use(_ properties: [String: String]) throws {
        let realm = try SQLRealm(
            RealmProperties(
                try Self.values(properties),
                schema: SQLRealm.properties,
                realmName: "people",
                services: services
            )
        )
        let module = try SQLLoginModule(
            realm: realm,
            options: try ModuleOptions(schema: SQLLoginModule.options, realmName: "people")
        )
        made.withLock { $0 = (realm, module) }
    }

    static func values(_ properties: [String: String]) throws -> [String: PropertyValue] {
        try properties.reduce(into: [:]) { values, property in
            let kind = SQLRealm.properties[property.key]?.kind ?? .string
            values[property.key] = try PropertyValue([property.value], as: kind)
        }
    }

    var realm: SQLRealm {
        guard let realm = made.withLock({ $0?.realm }) else { fatalError("no realm") }
        return realm
    }

    func login(
        _ name: String,
        _ password: String,
        asking conversation: (any Conversation)? = nil,
        mayGrant: Bool = true,
        then other: ScriptedModule? = nil
    ) async throws -> LoginReport {
        guard let module = made.withLock({ $0?.module }) else { fatalError("no realm") }
        let modules: [any LoginModule] = [module] + (other.map { [$0] } ?? [])
        let stack = LoginStack(
            name: "people",
            modules.map { LoginStack.Entry($0, .required) },
            clock: ManualClock()
        )
        return await stack.login(
            LoginRequest(realm: "people", username: try Username(name)),
            asking: conversation ?? PreparedConversation(password: Secret(utf8: password)),
            mayGrant: mayGrant
        )
    }

    /// Returns the code of the refusal; `accepted` for a login that is accepted.
    func outcome(_ name: String, _ password: String) async throws -> String {
        try await login(name, password).refusal?.failure.code ?? "accepted"
    }

    func hash(_ password: String) async throws -> String { try await passwords.hash(Secret(utf8: password)) }

    /// The messages of the log so far.
    var messages: [String] { log.lines }
}

/// An SQLite file of a test.
final class SQLiteFile: Sendable {
    let path = FileManager.default.temporaryDirectory.appending(path: "gatehouse-sql-\(UUID()).sqlite").path
    let queue: DatabaseQueue

    init(_ statements: String...) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        queue = try DatabaseQueue(path: path, configuration: configuration)
        for statement in statements { try execute(statement) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func execute(_ statement: String, _ values: [(any DatabaseValueConvertible)?] = []) throws {
        try queue.write { try $0.execute(sql: statement, arguments: StatementArguments(values)) }
    }

    /// Runs a statement that begins or ends a transaction.
    func run(_ statement: String) throws {
        try queue.inDatabase { try $0.execute(sql: statement) }
    }

    func value(_ query: String) throws -> String? { try queue.read { try String.fetchOne($0, sql: query) } }

    var location: String { "sqlite:\(path)" }

    /// A database with tables as of GlassFish's jdbc realm.
    static func glassFish() throws -> SQLiteFile {
        try SQLiteFile(
            "CREATE TABLE users (name TEXT PRIMARY KEY, password TEXT)",
            "CREATE TABLE memberships (name TEXT, grp TEXT)"
        )
    }

    /// The properties for the tables of ``glassFish()``.
    var glassFishProperties: [String: String] {
        [
            "database": location, "user-table": "users", "user-name-column": "name", "password-column": "password",
            "group-table": "memberships", "group-name-column": "grp",
        ]
    }
}
