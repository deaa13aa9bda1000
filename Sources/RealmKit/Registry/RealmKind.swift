// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A type of realm that an executable provides, with its modules.
///
/// An executable registers a type of realm by passing a `RealmKind` to the commands.
public struct RealmKind: Sendable {
    /// The type of the realm.
    public let type: any Realm.Type
    /// The names of the class in realms.conf, the preferred name first.
    public let classNames: [String]
    /// The properties of such a realm.
    public let properties: PropertySchema
    /// The modules that are provided with the type; the stack of any realm may use them.
    public let modules: [ModuleKind]
    private let make: @Sendable (RealmProperties) throws(BadRealm) -> any Realm

    /// Creates a value for a type of realm.
    ///
    /// - Parameters:
    ///   - type: The type of the realm.
    ///   - modules: The types of its modules.
    public init<R: Realm>(_ type: R.Type, modules: any LoginModule.Type...) {
        self.type = type
        classNames = R.classNames
        properties = R.properties
        self.modules = modules.map { ModuleKind($0) }
        make = { (properties: RealmProperties) throws(BadRealm) -> any Realm in try R(properties) }
    }

    /// Creates a realm.
    ///
    /// - Parameter properties: Its properties, checked against ``properties``.
    /// - Returns: The realm.
    /// - Throws: ``BadRealm`` if the properties contradict each other or cannot be used.
    public func makeRealm(_ properties: RealmProperties) throws(BadRealm) -> any Realm {
        try make(properties)
    }
}

/// A type of login module that an executable provides.
public struct ModuleKind: Sendable {
    /// The names of the class in login.conf, the preferred name first.
    public let names: [String]
    /// The options of such a module.
    public let options: PropertySchema
    private let make: @Sendable (any Realm, ModuleOptions) throws(BadModule) -> any LoginModule

    /// Creates a value for a type of module.
    ///
    /// - Parameter type: The type of the module.
    public init<M: LoginModule>(_ type: M.Type) {
        names = M.moduleNames
        options = M.options
        make = { (realm: any Realm, options: ModuleOptions) throws(BadModule) -> any LoginModule in
            guard let own = realm as? M.RealmType else {
                throw BadModule("works with a \(M.RealmType.self) only, not with a \(Swift.type(of: realm))")
            }
            return try M(realm: own, options: options)
        }
    }

    /// Creates a module for one place in the stack of one realm.
    ///
    /// - Parameters:
    ///   - realm: The realm of the stack.
    ///   - options: Its options, checked against ``options``.
    /// - Returns: The module.
    /// - Throws: ``BadModule`` if the module does not work with a realm of this type, or the options contradict each
    ///   other or cannot be used.
    public func makeModule(realm: any Realm, options: ModuleOptions) throws(BadModule) -> any LoginModule {
        try make(realm, options)
    }
}
