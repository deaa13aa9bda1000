// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A place where users live.
///
/// A realm has properties, set in realms.conf and checked against ``properties`` before ``init(_:)`` sees them, and names
/// the entry of login.conf whose modules check its users. It is made once per configuration and is immutable.
///
/// ```swift
/// public struct GuestRealm: Realm {
///     public static let properties: PropertySchema = [.jaasContext(default: "guests"), .string("greeting", default: "hi")]
///     public let jaasContext: String
///     let greeting: String
///     public var authType: String { "Guests" }
///
///     public init(_ properties: RealmProperties) throws(BadRealm) {
///         jaasContext = try properties.jaasContext
///         greeting = try properties.string("greeting")
///     }
/// }
/// ```
///
/// The contract is tested by `RealmConformance` in RealmTesting. Source: `com.sun.enterprise.security.auth.realm.Realm`
/// of GlassFish.
public protocol Realm: Sendable {
    /// The names that stand for this realm in realms.conf, the preferred one first. The default is the type's own name.
    static var classNames: [String] { get }

    /// The properties this realm reads; any other is an error when the configuration is loaded.
    ///
    /// `assign-groups` and `group-mapping` belong to every realm and are not listed.
    static var properties: PropertySchema { get }

    /// Makes the realm.
    ///
    /// - Parameter properties: What realms.conf says, checked against ``properties``.
    /// - Throws: ``BadRealm`` when the properties do not make sense together.
    init(_ properties: RealmProperties) throws(BadRealm)

    /// The entry of login.conf whose modules check this realm's users.
    var jaasContext: String { get }

    /// A few words on how users are checked here, as in `X-TECH MyRealm`.
    var authType: String { get }

    /// The groups a user belongs to, asked without a login.
    ///
    /// The default refuses: many realms know groups only at login.
    ///
    /// - Parameter user: Whose groups.
    /// - Returns: The names of the groups, each once.
    /// - Throws: ``RealmError`` of code `noSuchUser`, `invalidOperation` or `unavailable`.
    func groupNames(of user: Username) async throws(RealmError) -> [String]

    /// The name on which failed logins of a user are counted.
    ///
    /// Names that the realm takes for the same user must give the same key: a spelling with a key of its own has a
    /// counter, and so as many guesses, of its own (CVE-2026-47203, CVE-2025-24806). Keys are compared as `String` does,
    /// which takes an accent written in two ways for the same. It must not depend on whether there is such a user, and
    /// must neither wait nor fail; `RealmConformance` compares the keys of spellings it is told of.
    ///
    /// The default folds case in every script. Folding too much does little harm: users whose names differ in case
    /// only share a counter.
    ///
    /// - Parameter user: The name, as it was typed.
    /// - Returns: The key.
    func accountKey(of user: Username) -> String
}

extension Realm {
    /// The type's own name.
    public static var classNames: [String] { ["\(Self.self)"] }

    /// Refuses: this realm knows groups only at login.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] {
        throw .invalidOperation("a realm of type \(authType) knows groups only at login")
    }

    /// The name with its case folded.
    public func accountKey(of user: Username) -> String { user.caseFolded }
}
