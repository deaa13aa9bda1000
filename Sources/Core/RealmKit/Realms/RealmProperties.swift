// SPDX-License-Identifier: Apache-2.0

/// The properties that a realm is created from.
public typealias RealmProperties = Settings<BadRealm>

/// A realm cannot be created from its properties.
///
/// The configuration then does not load. Source: `BadRealmException` of GlassFish, which disables only the realm.
public struct BadRealm: SettingsFault, Hashable {
    /// The name of the wrong property; nil if the fault is not about a single property.
    public let setting: String?
    /// The problem, for the administrator.
    public let message: String
    /// A way to solve the problem in the configuration, apart from the message for commands without one; nil for none.
    public let hint: String?
    /// True if the problem is in the state folder of the program, and not in the realm's own properties.
    public let isAboutStateFolder: Bool

    /// Creates a fault about one property or several properties.
    public init(_ message: String, setting: String? = nil, hint: String?) {
        self.message = message
        self.setting = setting
        self.hint = hint
        isAboutStateFolder = false
    }

    /// Creates a fault about one property or several properties, without a hint.
    public init(_ message: String, setting: String? = nil) { self.init(message, setting: setting, hint: nil) }

    /// Creates a fault about the state folder, which is the same for all realms.
    public init(state message: String) {
        self.message = message
        setting = nil
        hint = nil
        isAboutStateFolder = true
    }
}

/// A property of a realm that is probably a mistake, although the realm can be used.
public struct RealmWarning: Sendable, Hashable {
    /// The problem, for the administrator.
    public let message: String
    /// The name of the property.
    public let setting: String
    /// The number of the word in the value of the property, from 0.
    public let word: Int
    /// A way to solve the problem; nil if there is none.
    public let hint: String?

    /// Creates a warning.
    public init(_ message: String, setting: String, word: Int = 0, hint: String? = nil) {
        self.message = message
        self.setting = setting
        self.word = word
        self.hint = hint
    }
}

/// The services that the program provides to realms, one of each type: the hashing pool, a store, a log.
///
/// A realm finds them in ``Settings/services``. The program creates them once per configuration. If a service that a
/// realm needs is absent, the realm throws ``BadRealm`` and the configuration does not load.
public struct RealmServices: Sendable {
    /// No services.
    public static let none = RealmServices()

    private var services: [ObjectIdentifier: any Sendable] = [:]

    /// Creates an empty set of services.
    public init() {}

    /// The service of a type; nil if the program does not provide it.
    public subscript<Service: Sendable>(type: Service.Type) -> Service? {
        get { services[ObjectIdentifier(type)] as? Service }
        set { services[ObjectIdentifier(type)] = newValue }
    }
}

/// The services for data in the state folder, such as the store of users, locks and sessions.
///
/// An executable passes this value to its command. With ``none`` the program stores nothing, and needs no database
/// library. The product Store adds `.store`.
public struct ProgramState: Sendable {
    /// Adds the services of one state folder to the services of the realms.
    package typealias Provider = @Sendable (inout RealmServices) -> Void

    /// Returns the provider for a state folder, whose files are opened when a service is first used.
    package let provider: @Sendable (_ folder: String, _ access: StateAccess) -> Provider

    /// No services; a configuration with a realm that needs the store is rejected.
    public static let none = ProgramState { _, _ in { _ in } }

    package init(_ provider: @escaping @Sendable (_ folder: String, _ access: StateAccess) -> Provider) {
        self.provider = provider
    }
}

/// The access of a program to its state folder.
package enum StateAccess: Sendable, Hashable {
    /// The program reads and writes; missing files are created.
    case createIfMissing
    /// The program only reads; a missing store is treated as an empty one.
    case existingOnly
    /// The program only checks the configuration; a missing store, or one of an older version, is treated as an empty one.
    case checkOnly
}

/// The service that reads the locks that a server has stored in the state folder.
package struct RecordedLockouts: Sendable {
    /// Returns a throttle that rejects logins of accounts locked at a time, in seconds since 1970, and counts no failures.
    package let throttle: @Sendable (_ now: Int) async throws -> any LoginThrottle

    package init(_ throttle: @escaping @Sendable (_ now: Int) async throws -> any LoginThrottle) {
        self.throttle = throttle
    }
}
