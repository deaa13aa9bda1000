// SPDX-License-Identifier: Apache-2.0

/// A set of users with a common way to authenticate them.
///
/// The properties of a realm are set in realms.conf, and checked against ``properties`` before ``init(_:)`` is called.
/// ``jaasContext`` is the entry of login.conf whose modules authenticate the users. A realm is created once for each
/// configuration, is immutable, and may be used from any thread.
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
    /// The names of this realm in realms.conf, the preferred name first. The default is the name of the type.
    static var classNames: [String] { get }

    /// The properties of this realm. A configuration that sets any other property does not load.
    ///
    /// `assign-groups` and `group-mapping` belong to every realm and are not listed.
    static var properties: PropertySchema { get }

    /// True if the realm works without an entry in login.conf.
    ///
    /// If the configuration does not set `jaas-context`, and there is no entry of the default name, the stack of the
    /// realm has only the first module of its `RealmKind`, required. The default is false.
    static var isUsableWithoutContext: Bool { get }

    /// True if the realm asks another system, such as a directory or a web service, so that it can be unavailable while
    /// other realms are not. The default is false.
    ///
    /// If another realm follows it in one rule, loading the configuration warns: see ``WhenUnavailable``.
    static var dependsOnOtherSystems: Bool { get }

    /// Creates the realm from the properties set in realms.conf, checked against ``properties``.
    ///
    /// - Throws: ``BadRealm`` if the properties contradict each other or cannot be used.
    init(_ properties: RealmProperties) throws(BadRealm)

    /// The entry of login.conf whose modules authenticate this realm's users.
    var jaasContext: String { get }

    /// A short description of how users are authenticated, such as `X-TECH MyRealm`.
    var authType: String { get }

    /// The properties that are probably mistakes, although the realm can be used. The default is none.
    ///
    /// They are shown with their places when the configuration is loaded.
    var warnings: [RealmWarning] { get }

    /// Returns the names of the groups of a user, each once, without a login.
    ///
    /// The default throws `invalidOperation`: many realms can determine the groups only at a login.
    ///
    /// - Throws: ``RealmError`` of code `noSuchUser`, `invalidOperation` or `unavailable`.
    func groupNames(of user: Username) async throws(RealmError) -> [String]

    /// Returns the attributes of a user, each name once, without a login.
    ///
    /// An aggregate of realms calls it for a user whom another realm has authenticated. The default returns none.
    ///
    /// - Throws: ``RealmError`` of code `noSuchUser` or `unavailable`.
    func attributes(of user: Username) async throws(RealmError) -> [UserAttribute]

    /// Returns the key under which failed logins of a user are counted.
    ///
    /// All spellings that the realm accepts for one user must have the same key: otherwise each spelling would have a
    /// counter of its own, and a client could make more guesses (CVE-2026-47203, CVE-2025-24806). Keys are compared as
    /// `String` values: canonically equivalent spellings are equal. The key must not depend on whether the user exists,
    /// and the call must neither wait nor fail. `RealmConformance` compares the keys of the spellings it is given.
    ///
    /// The default key is the case-folded name. Users whose names differ only in case share a counter, so failed logins
    /// of one can lock the other.
    func accountKey(of user: Username) -> String
}

extension Realm {
    /// The name of the type.
    public static var classNames: [String] { ["\(Self.self)"] }

    /// False: by default a realm needs an entry in login.conf.
    public static var isUsableWithoutContext: Bool { false }

    /// False.
    public static var dependsOnOtherSystems: Bool { false }

    /// None.
    public var warnings: [RealmWarning] { [] }

    /// Throws `invalidOperation`: by default a realm knows groups only at login.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] {
        throw .invalidOperation("a realm of type \(authType) knows groups only at login")
    }

    /// None.
    public func attributes(of user: Username) async throws(RealmError) -> [UserAttribute] { [] }

    /// The case-folded name.
    public func accountKey(of user: Username) -> String { user.caseFolded }
}

/// A realm whose back end can be tested step by step without a login, for example by `gatehouse realm test`.
public protocol TestableRealm: Realm {
    /// Tests the back end: connects to each server, signs in there as the realm does, and makes its requests.
    ///
    /// It must end within the time limits of the realm, also if the back end does not answer. It asks for no password of
    /// a user, and changes nothing. If there is a user, it looks the user up as at a login. `report` receives each step when
    /// it has ended, on any thread.
    func testBackEnd(user: Username?, report: @escaping @Sendable (BackEndStep) -> Void) async
}

/// One step of a test of a realm's back end.
public struct BackEndStep: Sendable, Hashable {
    /// The request, its result and its time, without secrets.
    public let text: String
    /// True if the realm cannot work as it is, or a user cannot sign in for this reason.
    public let isFailure: Bool

    /// Creates a step.
    public init(_ text: String, isFailure: Bool = false) {
        self.text = text
        self.isFailure = isFailure
    }
}

/// A realm with facts about its users, no mistakes, that `gatehouse check` shows in its summary.
package protocol SummarizedRealm: Realm {
    /// The facts, one line each.
    var summary: [String] { get }
}
