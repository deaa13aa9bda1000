// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A realm of all users whose name starts with a configured string.
///
/// It does not check passwords, so it protects nothing. It is the smallest complete realm, an example for custom
/// realms. Properties: `jaas-context` (`xtechMyRealm`), `startWith` (`z`).
public struct StartWithRealm: Realm {
    /// The properties `jaas-context` and `startWith`.
    public static let properties: PropertySchema = [
        .jaasContext(default: "xtechMyRealm"),
        .string("startWith", default: "z"),
    ]

    /// The group of all users of the realm.
    public static let group = "User"

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String
    /// The string with which names must start, compared byte by byte.
    public let startWith: String

    /// The authentication type `X-TECH MyRealm`.
    public var authType: String { "X-TECH MyRealm" }

    /// Creates the realm; throws if `startWith` is empty, because every name would match.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        startWith = try properties.string("startWith")
        guard !startWith.isEmpty else { throw BadRealm("is empty, so every name would match", setting: "startWith") }
    }

    /// Returns `User` for a name that starts with the string.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] {
        guard user.starts(with: startWith) else { throw .noSuchUser(user) }
        return [Self.group]
    }
}

/// Accepts users whose name starts with the realm's string, and commits the group `User`.
///
/// It is also registered under the name of the Java module that is its model. A login.conf for the Java module
/// therefore works here too.
public struct StartWithLoginModule: ImmediateLoginModule {
    /// `StartWithLoginModule` and `org.xtech.examples.gfloginmodule.MyLoginModule`.
    public static let moduleNames = ["StartWithLoginModule", "org.xtech.examples.gfloginmodule.MyLoginModule"]

    private let realm: StartWithRealm
    private let groups = [StartWithRealm.group]

    /// Creates the module for a realm; it has no options.
    public init(realm: StartWithRealm, options: ModuleOptions) throws(BadModule) { self.realm = realm }

    /// Succeeds if the name starts with the realm's string.
    public func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        guard attempt.username.starts(with: realm.startWith) else { return .failed(.wrongCredentials) }
        return attempt.commit(groups: groups)
    }
}
