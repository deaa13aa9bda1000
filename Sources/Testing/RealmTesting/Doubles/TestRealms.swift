// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Dispatch
public import Passwords
public import RealmKit

extension BoundRealm {
    /// Creates a realm with a stack of one required module by `RealmKind.makeForTests`, on a clock of real time.
    ///
    /// - Throws: `BadRealm` if the realm or the module cannot be created.
    public static func forConformance(
        _ kind: RealmKind,
        properties: [String: [String]] = [:],
        options: [String: String] = [:],
        services: RealmServices = .forTests(),
        deadline: Duration = .seconds(10)
    ) throws(BadRealm) -> BoundRealm {
        let made = try kind.makeForTests(properties: properties, options: options, services: services)
        return forConformance(made.realm, modules: [made.module], deadline: deadline)
    }

    /// Creates a realm of the name `conformance` with a stack of required modules on a clock of real time.
    ///
    /// The deadline is the time limit of one call of a module.
    public static func forConformance(
        _ realm: any Realm,
        modules: [any LoginModule],
        deadline: Duration
    ) -> BoundRealm {
        BoundRealm(
            name: "conformance",
            className: type(of: realm).classNames.first ?? "\(type(of: realm))",
            realm: realm,
            stack: LoginStack(required: modules, deadline: deadline)
        )
    }
}

extension LoginStack {
    /// Creates a stack of required modules on a clock of real time.
    convenience init(required modules: [any LoginModule], deadline: Duration) {
        let entries = modules.map { LoginStack.Entry($0, .required, deadline: deadline) }
        self.init(name: "conformance", entries, clock: RealClock())
    }
}

extension RealmKind {
    /// Creates a realm and the first of its modules, as a configuration would create them.
    ///
    /// ```swift
    /// let door = try RealmKind.pins.makeForTests(properties: ["file": [path], "digits": ["6"]])
    /// #expect(try await door.realm.groupNames(of: Username("ann")) == ["Crew"])
    /// ```
    ///
    /// - Parameters:
    ///   - properties: The properties of the realm as in realms.conf, each with a list of words.
    ///   - options: The options of the module as in login.conf.
    ///   - services: The services that the realm needs.
    /// - Returns: The realm, with the name `conformance`, and the module.
    /// - Throws: `BadRealm` if the realm or the module cannot be created.
    public func makeForTests(
        properties: [String: [String]] = [:],
        options: [String: String] = [:],
        services: RealmServices = .forTests()
    ) throws(BadRealm) -> (realm: any Realm, module: any LoginModule) {
        let values = try Self.values(properties, schema: self.properties)
        let realm = try makeRealm(
            RealmProperties(values, schema: self.properties, realmName: "conformance", services: services)
        )
        guard let moduleKind = modules.first else { throw BadRealm("the type of realm has no module") }
        do {
            let values = try Self.values(options.mapValues { [$0] }, schema: moduleKind.options)
            let options = try ModuleOptions(values, schema: moduleKind.options, realmName: "conformance")
            return (realm, try moduleKind.makeModule(realm: realm, options: options))
        } catch {
            throw BadRealm("the module cannot be created: \(error)")
        }
    }

    /// Runs the conformance tests of the type of realm and of the first of its modules.
    ///
    /// ```swift
    /// @Test func `the realm and its module keep their contracts`() async {
    ///     let violations = await RealmKind.pins.violations(
    ///         properties: ["file": [path], "digits": ["6"]],
    ///         accepts: [.init("ann", password: "271828")],
    ///         refuses: [.init("ann", password: "314159"), .init("zed", password: "271828")]
    ///     )
    ///     #expect(violations == [])
    /// }
    /// ```
    ///
    /// ``RealmConformance`` and ``LoginModuleConformance`` say what is checked, and have further settings.
    ///
    /// - Parameters:
    ///   - properties: The properties of a valid realm as in realms.conf, each with a list of words.
    ///   - options: The options of the module as in login.conf.
    ///   - members: Users of the realm, with the groups that `groupNames(of:)` must return.
    ///   - unknownUsers: Names of users that the realm does not have. `groupNames(of:)` must throw for these names.
    ///   - accepts: Credentials to accept, at least one.
    ///   - refuses: Credentials to refuse, at least one: wrong passwords, empty passwords, unknown users.
    ///   - services: The services that the realm needs.
    /// - Returns: The violations, one sentence each; empty if there are none.
    public func violations(
        properties: [String: [String]] = [:],
        options: [String: String] = [:],
        members: [String: [String]] = [:],
        unknownUsers: [String] = [],
        accepts: [LoginModuleConformance.Credential],
        refuses: [LoginModuleConformance.Credential],
        services: RealmServices = .forTests()
    ) async -> [String] {
        let ofRealm = await RealmConformance(
            type,
            properties: properties,
            members: members,
            unknownUsers: unknownUsers,
            services: services
        ).violations()
        do throws(BadRealm) {
            let module = try makeForTests(properties: properties, options: options, services: services).module
            return await ofRealm + LoginModuleConformance(module, accepts: accepts, refuses: refuses).violations()
        } catch {
            return ofRealm + ["the realm with its module cannot be created: \(error)"]
        }
    }

    static func values(
        _ words: [String: [String]],
        schema: PropertySchema
    ) throws(BadRealm) -> [String: PropertyValue] {
        var values: [String: PropertyValue] = [:]
        for (name, words) in words {
            do throws(BadValue) {
                values[name] = try PropertyValue(words, as: schema[name]?.kind ?? .list)
            } catch {
                throw BadRealm("\(error)", setting: name)
            }
        }
        return values
    }
}

extension RealmServices {
    /// Returns the services of a program for the test of a realm: a `PasswordService`, a `WallClock` and a `RealmLog`.
    ///
    /// ```swift
    /// let services = RealmServices.forTests()
    /// let passwords = try #require(services[PasswordService.self])
    /// let line = "ann;\(try await passwords.hash(Secret(utf8: "271828")))"
    /// ```
    ///
    /// New hashes are cheap, so the services are for tests only. If no random bytes can be generated, there is no
    /// `PasswordService`.
    ///
    /// - Parameters:
    ///   - policy: The algorithm and cost of new hashes; Argon2id with 64 KiB by default.
    ///   - seconds: The time of the clock, which stands still, in seconds since 1970.
    ///   - log: The log.
    /// - Returns: The services. Each call returns others.
    public static func forTests(
        policy: HashPolicy = HashPolicy(.argon2id(memory: 64, passes: 1, lanes: 1)),
        seconds: Int = 1_000_000,
        log: RecordingLog = RecordingLog()
    ) -> RealmServices {
        var services = RealmServices()
        let pool = HashingPool(HashingSettings(workers: 1)) { DispatchTime.now().uptimeNanoseconds }
        // The realm reports that the service is missing.
        services[PasswordService.self] = try? PasswordService(policy: policy, pool: pool)
        services[WallClock.self] = WallClock { seconds }
        services[RealmLog.self] = log.log
        return services
    }
}

extension SignedInUser {
    /// Creates a user for the test of a program, without a realm and a login.
    ///
    /// ```swift
    /// let ann = try SignedInUser.forTests("ann", groups: ["Staff"], attributes: ["mail": ["ann@example.com"]])
    /// #expect(try await handler.answer(to: request, from: ann).status == .ok)
    /// ```
    ///
    /// It is for tests only: in a program, only a login makes a user.
    ///
    /// - Parameters:
    ///   - name: The user name.
    ///   - realm: The name of the realm.
    ///   - groups: The names of the groups; repeated ones count once.
    ///   - attributes: The values of each attribute, in the order of the names.
    /// - Returns: The user, as a login would give it.
    /// - Throws: `BadUsername` or `BadAttribute` for a name or an attribute that no login can give.
    public static func forTests(
        _ name: String,
        realm: String = "test",
        groups: [String] = [],
        attributes: [String: [String]] = [:]
    ) throws -> SignedInUser {
        SignedInUser(
            realm: realm,
            username: try Username(name),
            groups: groups.uniqued,
            attributes: try attributes.sorted { $0.key < $1.key }.map {
                try UserAttribute(name: $0.key, values: $0.value)
            }
        )
    }
}
