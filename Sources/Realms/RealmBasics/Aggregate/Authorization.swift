// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit
internal import Synchronization

struct Grant: Sendable {
    let groups: [String]
    let attributes: [UserAttribute]

    /// Asks a realm, without a login.
    init(of user: Username, in realm: BoundRealm) async throws(RealmError) {
        groups = try await realm.groups(of: user)
        attributes = try await realm.realm.attributes(of: user)
    }
}

/// The realms that give groups and attributes to users whom another realm has authenticated.
final class Authorization: Sendable {
    let realms: [BoundRealm]
    let mapping: NameMapping
    let whenUnavailable: WhenUnavailable
    private let deadline: Duration
    private let clock: any LoginClock
    private let log: RealmLog?
    /// The names of the realms that were unavailable when they were asked last.
    private let unavailable = Mutex<Set<UTF8Text>>([])

    /// Reads the properties of an ``AggregateRealm``, and warns if logins go on without the groups of unavailable realms.
    init(_ properties: RealmProperties, clock: any LoginClock) throws(BadRealm) {
        deadline = try properties.duration("authorization-deadline")
        guard (.milliseconds(10) ... .seconds(300)).contains(deadline) else {
            throw BadRealm("is a time from 10ms to 5m", setting: "authorization-deadline")
        }
        let rules = try properties.list("name-mapping")
        mapping = try Result { () throws(BadValue) in try NameMapping(rules) }
            .mapError { BadRealm($0.description, setting: "name-mapping") }.get()
        realms = try properties.realms("authorization")
        whenUnavailable = WhenUnavailable(rawValue: try properties.string("when-unavailable")) ?? .stop
        self.clock = clock
        let realmName = properties.realmName
        log = properties.services[RealmLog.self].map { log in
            RealmLog { level, message in log("realm \(realmName): \(message)", level) }
        }
        guard whenUnavailable == .continue, !realms.isEmpty else { return }
        let names = realms.map(\.name).joined(separator: ", ")
        log?(
            "when-unavailable continue: while one of \(names) is unavailable, users sign in without its groups and attributes, and their sessions stay without them"
        )
    }

    /// Returns the user's name in the authorization realms; throws `permissionDenied` if the rules give no valid name.
    func name(of user: Username) throws(LoginFault) -> Username {
        guard !realms.isEmpty else { return user }
        return try Result { () throws(BadUsername) in try mapping.name(of: user) }
            .mapError { LoginFault(.permissionDenied, log: "name-mapping: \($0)") }.get()
    }

    /// Asks all realms at the same time for a user by the name that the user has there; returns the grants of those that know
    /// the user.
    ///
    /// Throws `overloaded` if a realm is overloaded or late, `unavailable` if the login must not go on without an
    /// unavailable realm, and `internalError` if a realm gives no groups without a login.
    func grants(of name: Username) async throws(LoginFault) -> [Grant] {
        let lookups = realms.map { Self.lookup(name, in: $0) }
        // A realm that is late gets no answer any more.
        defer { for lookup in lookups { lookup.cancel() } }
        let end = clock.now &+ deadline.nanoseconds
        var results: [Result<Grant, RealmError>] = []
        for lookup in lookups {
            let now = clock.now
            let left = Duration.nanoseconds(Int64(clamping: max(end, now) - now))
            results.append(await TimeLimitedWait.value(of: lookup, within: left, clock: clock) ?? .failure(late))
        }
        let down = await indicesOfDownRealms(results, inventing: name)
        var grants: [Grant] = []
        for (index, result) in results.enumerated() {
            if let grant = try grant(result, in: realms[index], isDown: down.contains(index)) { grants.append(grant) }
        }
        return grants
    }

    /// Asks one realm, which need not be one of ``realms``; throws `overloaded` if it is late.
    func grant(of user: Username, in realm: BoundRealm) async throws(RealmError) -> Grant {
        let lookup = Self.lookup(user, in: realm)
        defer { lookup.cancel() }
        let result = await TimeLimitedWait.value(of: lookup, within: deadline, clock: clock) ?? .failure(late)
        return try result.get()
    }

    private static func lookup(_ user: Username, in realm: BoundRealm) -> Task<Result<Grant, RealmError>, Never> {
        Task {
            do throws(RealmError) {
                return .success(try await Grant(of: user, in: realm))
            } catch {
                return .failure(error)
            }
        }
    }

    /// A realm may wait longer than the deadline before it recognizes an overload, so its silence shows no outage.
    private var late: RealmError { RealmError(.overloaded, "did not answer within \(deadline)") }

    /// Returns the grant of one realm; nil if it does not know the user, or is down and may be left out.
    private func grant(
        _ result: Result<Grant, RealmError>,
        in realm: BoundRealm,
        isDown: Bool
    ) throws(LoginFault) -> Grant? {
        switch result {
        case .success(let grant):
            note(realm, fault: nil)
            return grant
        case .failure(let error):
            switch error.code {
            case .noSuchUser:
                note(realm, fault: nil)
                return nil
            case .unavailable:
                if whenUnavailable == .stop || isDown { note(realm, fault: error) }
                if isDown { return nil }
                throw .unavailable("authorization realm \(realm.name): \(error)")
            case .overloaded: throw .overloaded("authorization realm \(realm.name): \(error)")
            case .noSuchRealm, .userExists, .invalidOperation:
                throw .internalError("authorization realm \(realm.name): \(error)")
            }
        }
    }

    /// Returns the places of the realms that may be left out, which are checked at the same time.
    ///
    /// A user who makes a realm slow for one name must not leave out its groups, which may deny access.
    private func indicesOfDownRealms(
        _ results: [Result<Grant, RealmError>],
        inventing user: Username
    ) async -> Set<Int> {
        guard whenUnavailable == .continue else { return [] }
        return await withTaskGroup(of: (index: Int, isDown: Bool).self) { group in
            for (index, result) in results.enumerated() {
                guard case .failure(let error) = result, error.code == .unavailable else { continue }
                let realm = realms[index]
                group.addTask { (index, await self.isDown(realm, inventing: user)) }
            }
            var down: Set<Int> = []
            for await check in group where check.isDown { down.insert(check.index) }
            return down
        }
    }

    /// Returns whether a realm cannot look up an invented user either.
    private func isDown(_ realm: BoundRealm, inventing user: Username) async -> Bool {
        guard let invented = user.inventedUser else { return false }
        do throws(RealmError) {
            _ = try await grant(of: invented, in: realm)
            return false
        } catch {
            return error.code == .unavailable
        }
    }

    private func note(_ realm: BoundRealm, fault: RealmError?) {
        let name = UTF8Text(realm.name)
        let isNew = unavailable.withLock { unavailable in
            fault == nil ? unavailable.remove(name) != nil : unavailable.insert(name).inserted
        }
        guard isNew else { return }
        guard let fault else {
            log?("authorization realm \(realm.name) is available again", .notice)
            return
        }
        let effect = whenUnavailable == .stop ? "nobody can sign in" : "users sign in without its groups"
        log?("authorization realm \(realm.name) is unavailable, so \(effect): \(fault)", .error)
    }
}
