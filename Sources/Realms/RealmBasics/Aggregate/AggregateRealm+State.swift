// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
public import RealmKit

extension AggregateRealm: RefreshingRealm {
    /// Returns no users.
    ///
    /// The realms that this realm uses are realms of the configuration too. The program checks them under their own
    /// names, and applies their changes to this realm's users; see ``names(of:in:)``.
    public func refresh() async -> ChangedUsers { .none }

    /// Returns whether the user may sign in, with a stamp of the user's states in all realms.
    ///
    /// A user whom the authentication realm no longer accepts is gone. If a realm can determine the state only later,
    /// such as a realm with an unreadable file, the state is unknown; an authorization realm without which logins go on
    /// counts as if it had no users in this time.
    public func state(of user: Username) async -> UserState {
        var fields = ["AggregateRealm"]
        var expiry: Int?
        switch await Self.state(of: user, in: authentication) {
        case .gone: return .gone
        case .unknown: return .unknown
        case .present(let stamp):
            fields.append(Self.text(stamp))
            expiry = stamp.expiry
        }
        guard !authorization.realms.isEmpty else { return Self.state(fields, expiry: expiry) }
        let name: Username
        do throws(LoginFault) {
            name = try authorization.name(of: user)
        } catch {
            return .gone
        }
        for realm in authorization.realms {
            switch await Self.state(of: name, in: realm) {
            case .gone: fields.append("gone")
            case .present(let stamp): fields.append(Self.text(stamp))
            case .unknown:
                guard authorization.whenUnavailable == .continue else { return .unknown }
                fields.append("gone")
            }
        }
        return Self.state(fields, expiry: expiry)
    }

    /// Returns a user's state in another realm; a realm that knows no states has the same stamp for all users.
    private static func state(of user: Username, in bound: BoundRealm) async -> UserState {
        guard let realm = bound.realm as? any RefreshingRealm else { return .present(SecurityStamp([])) }
        let state = await realm.state(of: user)
        guard state == .unknown, !(realm is any ManagedRealm), bound.nested.isEmpty else { return state }
        return .present(SecurityStamp([]))
    }

    private static func text(_ stamp: SecurityStamp) -> String {
        stamp.bytes.map { String($0, radix: 16) }.joined(separator: ".")
    }

    private static func state(_ fields: [String], expiry: Int?) -> UserState {
        do throws(OpenSSLError) {
            return .present(SecurityStamp(try Digest.sha256(fields: fields).bytes, expiry: expiry))
        } catch {
            return .unknown
        }
    }
}

extension AggregateRealm: NamingRealm {
    package func names(of user: Username, in other: BoundRealm) -> [Username] {
        var names: [Username] = []
        if authentication.name.utf8.elementsEqual(other.name.utf8) { names.append(user) }
        if authorization.realms.contains(where: { $0.name.utf8.elementsEqual(other.name.utf8) }) {
            do throws(LoginFault) {
                names.append(try authorization.name(of: user))
            } catch {
                // A user without a name in the other realms cannot sign in, so no change there concerns the user.
            }
        }
        return names
    }
}
