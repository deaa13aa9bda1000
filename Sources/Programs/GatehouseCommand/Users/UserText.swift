// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CommandSupport
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import Throttle

/// A realm whose users can be listed, and the text of its users.
struct UserDirectory {
    let realm: any UserListingRealm
    private let bound: BoundRealm
    private let store: LazyStore?

    init(_ options: RealmOptions, kinds: [RealmKind]) throws {
        let configuration = try options.load(kinds, access: .existingOnly)
        (bound, realm) = try configuration.realm(options.realm, as: { $0 as? any UserListingRealm }) { _ in
            "listed or changed here"
        }
        store = configuration.services[LazyStore.self]
    }

    /// The text of users with their locks; if these cannot be read, a message is printed, and users are shown without them.
    func text() async -> UserText {
        var locks: [ThrottleKey: ThrottleRecord] = [:]
        do {
            locks = try await store?.locks() ?? [:]
        } catch {
            GatehouseCommand.print(Printable.line(CommandError(error).message), on: STDERR_FILENO)
        }
        let now = WallClock.system.seconds
        // A realm that keeps the users itself knows all values of their records.
        return UserText(now: now, isComplete: realm is any ManagedRealm) { [bound, locks] user in
            locks[.account(bound.account(of: user.name))]?.lockout(at: now)
        }
    }
}

struct UserText {
    /// The time in seconds since 1970.
    let now: Int
    /// True if the realm keeps the users itself: otherwise their passwords are not known, and a list has no groups.
    let isComplete: Bool
    /// Returns the lock of a user's account; nil if it is not locked.
    let lock: (UserRecord) -> Lockout?

    func table(_ users: [UserRecord]) -> String {
        guard !users.isEmpty else { return "there are no users" }
        guard isComplete else {
            let names = [UserAttribute.displayName, UserAttribute.mail]
            let rows = users.map { user in
                [user.name.text, state(user)] + names.map { user.attributes.values(of: $0).joined(separator: ", ") }
            }
            return Table.lines([["user", "state", "name", "mail"]] + rows).joined(separator: "\n")
        }
        let rows = users.map { user in
            [user.name.text, state(user), user.format ?? "no password", GroupName.list(user.groups, separator: " ")]
        }
        return Table.lines([["user", "state", "password", "groups"]] + rows).joined(separator: "\n")
    }

    func details(_ user: UserRecord) -> String {
        let password = isComplete ? [["password", user.format ?? "no password"]] : []
        let groups = ["groups", GroupName.list(user.groups, separator: isComplete ? " " : ", ")]
        let attributes = user.attributes.map { [Self.label(of: $0.name), $0.values.joined(separator: ", ")] }
        let rows = [["user", user.name.text], ["state", state(user)]] + password + [groups] + attributes
        return Table.lines(rows).joined(separator: "\n")
    }

    /// The label of an attribute: the name of its option, if there is one.
    private static func label(of attribute: String) -> String {
        attribute.utf8.elementsEqual(UserAttribute.displayName.utf8) ? "name" : attribute
    }

    func json(_ users: [UserRecord]) -> String {
        users.isEmpty ? "[]" : "[\n" + users.map { json($0) }.joined(separator: ",\n") + "\n]"
    }

    func json(_ user: UserRecord) -> String {
        let lock = lock(user)
        let json: JSONValue = [
            "user": .text(user.name.text),
            "groups": .texts(user.groups),
            "enabled": .boolean(user.isEnabled),
            "expires": user.expiry.map(JSONValue.number),
            "expired": user.expiry.map { .boolean($0 <= now) },
            "mustChangePassword": .boolean(user.mustChangePassword),
            "lockedUntil": (lock?.end).map(JSONValue.number),
            "failedLogins": (lock?.failures).map(JSONValue.number),
            "password": user.format.map(JSONValue.text),
            "attributes": user.attributes.isEmpty ? nil : .lists(user.attributes.valuesByName),
        ]
        return json.text(.terminal)
    }

    private func state(_ user: UserRecord) -> String {
        Self.state(user, at: now) + (lock(user).map { ", locked \($0.text)" } ?? "")
    }

    /// The state of an account without its lock, such as `enabled` or `disabled, expired after 2027-01-31`.
    static func state(_ user: UserRecord, at now: Int) -> String {
        var words = [user.isEnabled ? "enabled" : "disabled"]
        if user.mustChangePassword { words.append("must change password") }
        if let expiry = user.expiry {
            words.append("\(expiry <= now ? "expired after" : "until") \(Day.last(before: expiry))")
        }
        return words.joined(separator: ", ")
    }
}
