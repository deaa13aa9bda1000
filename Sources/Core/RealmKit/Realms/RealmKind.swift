// SPDX-License-Identifier: Apache-2.0

/// A type of realm with its modules, which an executable registers by passing it to the commands.
public struct RealmKind: Sendable {
    /// The type of the realm.
    public let type: any Realm.Type
    /// The names of the class in realms.conf, the preferred name first.
    public let classNames: [String]
    /// The properties of such a realm.
    public let properties: PropertySchema
    /// The modules that are provided with the type; the stack of any realm may use them.
    public private(set) var modules: [ModuleKind]
    /// The way to build a program that contains the type; nil if this program contains it.
    public let buildHint: String?
    /// The services of the state folder that such a realm needs; nil if it needs none.
    public let state: ProgramState?
    private let make: @Sendable (RealmProperties) throws(BadRealm) -> any Realm

    /// Creates a value for a type of realm.
    public init<R: Realm>(_ type: R.Type, modules: any LoginModule.Type..., state: ProgramState? = nil) {
        self.init(type, classNames: R.classNames, modules: modules.map { ModuleKind($0) }, state: state) {
            (properties: RealmProperties) throws(BadRealm) -> any Realm in try R(properties)
        }
    }

    /// Creates a value for realms that a closure creates, such as those with a closure of a program.
    package init<R: Realm>(
        _ type: R.Type,
        classNames: [String],
        modules: [ModuleKind],
        state: ProgramState? = nil,
        make: @escaping @Sendable (RealmProperties) throws(BadRealm) -> any Realm
    ) {
        self.type = type
        self.classNames = classNames
        properties = R.properties
        self.modules = modules
        buildHint = nil
        self.state = state
        self.make = make
    }

    /// Creates a value for a type of realm that this program was built without.
    ///
    /// A configuration that names it does not load, and the error contains the hint.
    public init(notBuiltIn classNames: [String], modules: [[String]], hint: String) {
        type = AbsentRealm.self
        self.classNames = classNames
        properties = []
        self.modules = modules.map { ModuleKind(notBuiltIn: $0, hint: hint) }
        buildHint = hint
        state = nil
        make = { (_: RealmProperties) throws(BadRealm) -> any Realm in throw BadRealm("is not built in; \(hint)") }
    }

    /// Returns the kind with more modules.
    package func with(modules more: [ModuleKind]) -> RealmKind {
        var kind = self
        kind.modules += more
        return kind
    }

    /// Creates a realm.
    public func makeRealm(_ properties: RealmProperties) throws(BadRealm) -> any Realm { try make(properties) }
}

extension [RealmKind] {
    /// The services of the state folder that the kinds need.
    package var state: ProgramState { lazy.compactMap(\.state).first ?? .none }
}

/// A type of login module that an executable provides.
public struct ModuleKind: Sendable {
    /// The names of the class in login.conf, the preferred name first.
    public let names: [String]
    /// The options of such a module.
    public let options: PropertySchema
    /// The way to build a program that contains the type; nil if this program contains it.
    public let buildHint: String?
    /// True if such a module takes user names from certificates.
    package let namesUsers: Bool
    private let make: @Sendable (any Realm, ModuleOptions) throws(BadModule) -> any LoginModule

    /// Creates a value for a type of module.
    public init<M: LoginModule>(_ type: M.Type) {
        names = M.moduleNames
        options = M.options
        buildHint = nil
        namesUsers = M.self is any CertificateNamingModule.Type
        make = { (realm: any Realm, options: ModuleOptions) throws(BadModule) -> any LoginModule in
            guard let own = realm as? M.RealmType else {
                throw BadModule("works with a \(M.RealmType.self) only, not with a \(Swift.type(of: realm))")
            }
            let module = try M(realm: own, options: options)
            try (module as? any PasswordLoginModule)?.firstPass.check(options)
            return module
        }
    }

    /// Creates a value for modules that a closure creates.
    package init(
        names: [String],
        options: PropertySchema,
        make: @escaping @Sendable (any Realm, ModuleOptions) throws(BadModule) -> any LoginModule
    ) {
        (self.names, self.options, buildHint, namesUsers, self.make) = (names, options, nil, false, make)
    }

    init(notBuiltIn names: [String], hint: String) {
        self.names = names
        options = []
        buildHint = hint
        namesUsers = false
        make = { (_: any Realm, _: ModuleOptions) throws(BadModule) -> any LoginModule in
            throw BadModule("is not built in; \(hint)")
        }
    }

    /// Creates a module for one place in the stack of one realm.
    ///
    /// - Throws: ``BadModule`` if the module does not work with a realm of this type, or the options contradict each
    ///   other or cannot be used.
    public func makeModule(realm: any Realm, options: ModuleOptions) throws(BadModule) -> any LoginModule {
        try make(realm, options)
    }
}

/// The type of a realm that the program was built without; it cannot be created.
private struct AbsentRealm: Realm {
    static var properties: PropertySchema { [] }
    var jaasContext: String { "absent" }
    var authType: String { "absent" }

    init(_ properties: RealmProperties) throws(BadRealm) { throw BadRealm("is not built in") }
}
