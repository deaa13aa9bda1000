// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// A realm in which everybody lives whose name starts with a configured string.
///
/// It checks no password and is no protection for anything: it is the smallest realm that shows all of the way, and a
/// pattern for one's own. Properties: `jaas-context` (`xtechMyRealm`), `startWith` (`z`).
public struct StartWithRealm: Realm {
    /// `jaas-context` and `startWith`.
    public static let properties: PropertySchema = [
        .jaasContext(default: "xtechMyRealm"),
        .string("startWith", default: "z"),
    ]

    /// The group of everybody who lives here.
    public static let group = "User"

    /// The entry of login.conf that checks this realm's users.
    public let jaasContext: String
    /// What a name has to start with, byte by byte.
    public let startWith: String

    /// `X-TECH MyRealm`.
    public var authType: String { "X-TECH MyRealm" }

    /// Makes the realm.
    ///
    /// - Parameter properties: `jaas-context` and `startWith`.
    /// - Throws: ``BadRealm`` when `startWith` is empty: then everybody would live here.
    public init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        startWith = try properties.string("startWith")
        guard !startWith.isEmpty else {
            throw BadRealm("is empty, so that every name starts with it", setting: "startWith")
        }
    }

    /// `User`, for everybody whose name starts with the string.
    public func groupNames(of user: Username) async throws(RealmError) -> [String] {
        guard user.starts(with: startWith) else { throw .noSuchUser(user) }
        return [Self.group]
    }
}
