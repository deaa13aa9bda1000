// SPDX-License-Identifier: Apache-2.0

internal import Passwords
public import RealmKit
internal import ServerConnections
internal import Synchronization
internal import Workers

/// A realm whose users are in an SQL database: an SQLite file, or PostgreSQL and databases that speak its protocol.
///
/// The users are found by the names of tables and columns, with the property names of GlassFish's jdbc realm, or by
/// queries of one's own. Values are parameters of prepared statements and never a part of a query's text. A database that
/// cannot be reached or does not answer in time is unavailable; this is never a wrong password.
///
/// Properties: see docs/sql.md. It may be used from any thread. The model is `JDBCRealm` of GlassFish.
public final class SQLRealm: Realm {
    /// `SQLRealm` and the names of GlassFish's realm, oldest first.
    public static let classNames = [
        "SQLRealm", "com.sun.enterprise.security.auth.realm.jdbc.JDBCRealm",
        "com.sun.enterprise.security.ee.auth.realm.jdbc.JDBCRealm",
        "com.sun.enterprise.security.ee.authentication.glassfish.jdbc.JDBCRealm",
    ]

    /// True: the realm depends on another system.
    public static let dependsOnOtherSystems = true

    /// The properties that are listed in docs/sql.md.
    public static var properties: PropertySchema { SQLSettings.properties }

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String
    let name: String
    let settings: SQLSettings
    let servers: SQLServers
    let users: SQLUsers
    let passwords: PasswordService
    let rules: NewPasswordRules
    let costs: KnownCosts
    let clock: WallClock
    let log: RealmLog
    let outages: OutageLog

    /// The authentication type `SQL database`.
    public var authType: String { "SQL database" }

    /// Creates the realm, and checks its queries if the database answers.
    ///
    /// - Parameter properties: The properties of the schema. The services must contain a `PasswordService` and a
    ///   `WallClock`; a `RealmLog` receives the causes of outages.
    /// - Throws: ``BadRealm`` for a property that cannot be used, and for a table, a column or a right that is missing in
    ///   the database. A database that does not answer is only logged.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        name = properties.realmName
        settings = try SQLSettings(properties)
        guard let passwords = properties.services[PasswordService.self], let clock = properties.services[WallClock.self]
        else { throw BadRealm("this program cannot check stored passwords") }
        self.passwords = passwords
        self.clock = clock
        rules = properties.services[NewPasswordRules.self] ?? NewPasswordRules()
        log = properties.services[RealmLog.self] ?? RealmLog { _, _ in }
        outages = OutageLog(log, realmName: properties.realmName, now: { MonotonicTime.now })
        costs = try Self.costs(settings)
        for decoy in costs.decoys {
            if let fault = passwords.limitFault(decoy.cost) { log("realm \(name): decoy: \(fault)", .warning) }
        }
        servers = try settings.location.servers(properties, limits: settings.limits)
        users = SQLUsers(servers, settings: settings, log: log, realmName: properties.realmName)
        if settings.digests?.isClearText == true {
            let problem = "the passwords are stored in clear text; whoever reads the database can sign in"
            log("realm \(name): \(problem)", .warning)
        }
        if settings.isCheckedAtLoad { try checkAtLoad() }
    }

    private static func costs(_ settings: SQLSettings) throws(BadRealm) -> KnownCosts {
        var decoys: [PasswordHash] = []
        if let digests = settings.digests {
            let decoy = Result { () throws(BadHash) in try digests.decoy }
            decoys.append(try decoy.mapError { BadRealm($0.description, setting: "digest-algorithm") }.get())
        }
        if let policy = settings.decoy {
            let decoy = Result { () throws(HashFault) in try policy.decoy() }
            decoys.append(try decoy.mapError { BadRealm($0.description, setting: "decoy") }.get())
        }
        return KnownCosts(decoys)
    }

    /// Reads a stored password; nil for a mark that means that the user has none.
    ///
    /// The blanks that fill a CHAR column are no part of a hash, but may be a part of a password in clear text. A hash
    /// is rejected also if a check would be too costly for every login of the realm.
    func read(_ stored: String) throws(BadHash) -> StoredPassword? {
        guard !isNoPassword(stored) else { return nil }
        let text = settings.digests?.isClearText == true ? stored : CharPadding.removed(from: stored)
        let options = settings.formatOptions
        let password =
            if let digests = settings.digests {
                try digests.read(text, options: options)
            } else {
                try StoredPassword(text, options: options)
            }
        if let fault = passwords.limitFault(password.hash.cost) { throw BadHash(fault) }
        return password
    }

    /// Returns whether a text in the column of passwords means that the user has none: in clear text only an empty one,
    /// because a password may be `x`.
    func isNoPassword(_ stored: String) -> Bool {
        settings.digests?.isClearText == true
            ? stored.isEmpty : PasswordFormats.isNoPassword(CharPadding.removed(from: stored))
    }

    /// Adds the cost of a stored hash to those that every login computes, and warns about many different costs.
    func learn(_ hash: PasswordHash) {
        guard let costs = costs.add(hash),
            let warning = HashCost.warning(about: costs, longestCheck: passwords.longestCheck)
        else { return }
        log("realm \(name): \(warning)", .warning)
    }
}

/// The costs of the stored hashes that the realm has seen: every login computes one hash of each.
///
/// The realm does not read all hashes of a database, so it learns the costs: from a sample at load, and from every user.
/// The dearest ones are kept, at most `HashCost.maximumChecks`.
final class KnownCosts: Sendable {
    private struct State {
        var decoys: [PasswordHash]
        /// True after a cost had to be left out.
        var isFull = false
    }

    private let state: Mutex<State>

    init(_ decoys: [PasswordHash]) { state = Mutex(State(decoys: decoys)) }

    /// One decoy for each cost.
    var decoys: [PasswordHash] { state.withLock { $0.decoys } }

    /// Adds the cost of a hash, and returns all costs, for a warning, if it is new and at most the first one for which
    /// a cost had to be left out.
    func add(_ hash: PasswordHash) -> [HashCost]? {
        state.withLock { state in
            guard !state.decoys.contains(where: { $0.cost == hash.cost }) else { return nil }
            state.decoys.append(hash.decoy)
            let costs = state.decoys.map(\.cost)
            guard costs.count > HashCost.maximumChecks else { return costs }
            if let place = costs.indices.min(by: { costs[$0].time < costs[$1].time }) { state.decoys.remove(at: place) }
            defer { state.isFull = true }
            return state.isFull ? nil : costs
        }
    }
}
