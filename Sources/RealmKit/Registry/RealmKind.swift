// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A type of realm that an executable brings, with the modules that come with it.
///
/// This is all there is to registration: a value in an array that the executable hands to the commands.
public struct RealmKind: Sendable {
    /// The names that stand for it in realms.conf, the preferred one first.
    public let classNames: [String]
    /// The properties it reads.
    public let properties: PropertySchema
    /// The modules that come with it; any realm's stack may name them.
    public let modules: [ModuleKind]
    private let make: @Sendable (RealmProperties) throws(BadRealm) -> any Realm

    /// A type of realm and the modules that come with it.
    ///
    /// - Parameters:
    ///   - type: The realm's type.
    ///   - modules: The modules' types.
    public init<R: Realm>(_ type: R.Type, modules: any LoginModule.Type...) {
        classNames = R.classNames
        properties = R.properties
        self.modules = modules.map { ModuleKind($0) }
        make = { (properties: RealmProperties) throws(BadRealm) -> any Realm in try R(properties) }
    }

    /// Makes a realm.
    ///
    /// - Parameter properties: Its properties, checked against ``properties``.
    /// - Returns: The realm.
    /// - Throws: ``BadRealm`` when they do not make sense together.
    public func makeRealm(_ properties: RealmProperties) throws(BadRealm) -> any Realm {
        try make(properties)
    }
}

/// A type of login module that an executable brings.
public struct ModuleKind: Sendable {
    /// The names that stand for it in login.conf, the preferred one first.
    public let names: [String]
    /// The options it reads.
    public let options: PropertySchema
    private let make: @Sendable (any Realm, ModuleOptions) throws(BadModule) -> any LoginModule

    /// A type of module.
    ///
    /// - Parameter type: The module's type.
    public init<M: LoginModule>(_ type: M.Type) {
        names = M.moduleNames
        options = M.options
        make = { (realm: any Realm, options: ModuleOptions) throws(BadModule) -> any LoginModule in
            guard let own = realm as? M.RealmType else {
                throw BadModule("works with \(M.RealmType.self) only, and the realm is a \(Swift.type(of: realm))")
            }
            return try M(realm: own, options: options)
        }
    }

    /// Makes a module for one place in a stack of one realm.
    ///
    /// - Parameters:
    ///   - realm: The realm whose stack it is.
    ///   - options: Its options, checked against ``options``.
    /// - Returns: The module.
    /// - Throws: ``BadModule`` when it does not work with such a realm, or the options do not make sense together.
    public func makeModule(realm: any Realm, options: ModuleOptions) throws(BadModule) -> any LoginModule {
        try make(realm, options)
    }
}
