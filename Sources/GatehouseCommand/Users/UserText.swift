// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandSupport
internal import RealmKit

/// Users as text for administrators, and as JSON for programs.
enum UserText {
    static func table(_ users: [UserRecord]) -> String {
        guard !users.isEmpty else { return "there are no users" }
        let rows = users.map { user in
            [user.name.text, state(user), user.format ?? "no password", user.groups.joined(separator: " ")]
        }
        return Table.lines([["user", "state", "password", "groups"]] + rows).joined(separator: "\n")
    }

    static func details(_ user: UserRecord) -> String {
        let attributes = user.attributes.map { [label(of: $0.name), $0.values.joined(separator: ", ")] }
        return Table.lines(
            [
                ["user", user.name.text], ["state", state(user)], ["password", user.format ?? "no password"],
                ["groups", user.groups.joined(separator: " ")],
            ] + attributes
        ).joined(separator: "\n")
    }

    /// Returns the label of an attribute: the name of its option, if there is one.
    private static func label(of attribute: String) -> String {
        attribute.utf8.elementsEqual(UserAttribute.displayName.utf8) ? "name" : attribute
    }

    static func json(_ users: [UserRecord]) -> String {
        users.isEmpty ? "[]" : "[\n" + users.map(json).joined(separator: ",\n") + "\n]"
    }

    static func json(_ user: UserRecord) -> String {
        let value = JSONUser(
            user: user.name.text,
            groups: user.groups,
            enabled: user.isEnabled,
            expires: user.expiry,
            mustChangePassword: user.mustChangePassword,
            password: user.format,
            attributes: user.attributes.isEmpty ? nil : user.attributes.valuesByName
        )
        // Encoding strings, numbers and lists does not fail.
        do { return try PrintableJSON.text(value) } catch { return "{}" }
    }

    private struct JSONUser: Encodable {
        let user: String
        let groups: [String]
        let enabled: Bool
        let expires: Int?
        let mustChangePassword: Bool
        let password: String?
        let attributes: [String: [String]]?
    }

    private static func state(_ user: UserRecord) -> String {
        var words = [user.isEnabled ? "enabled" : "disabled"]
        if user.mustChangePassword { words.append("must change password") }
        if let expiry = user.expiry { words.append("until \(Day.last(before: expiry))") }
        return words.joined(separator: ", ")
    }
}
