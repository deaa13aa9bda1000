// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension SambaServer {
    /// The number of failed logins after which the domain locks a user.
    package static let maximumFailures = 5

    /// Returns the value of `unicodePwd` for a password.
    package static func unicodePassword(_ password: String) -> [UInt8] {
        "\"\(password)\"".utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    }

    /// Returns the change of a password by a user who knows the old one, in LDIF.
    package static func passwordChange(of person: Person, to password: String) -> String {
        """
        \(Entry.line("dn", person.name))
        changetype: modify
        delete: unicodePwd
        unicodePwd:: \(encoded(person.password))
        -
        add: unicodePwd
        unicodePwd:: \(encoded(password))

        """
    }

    /// Returns the change of a password by an administrator, in LDIF.
    package static func passwordReset(of person: Person, to password: String) -> String {
        """
        \(Entry.line("dn", person.name))
        changetype: modify
        replace: unicodePwd
        unicodePwd:: \(encoded(password))

        """
    }

    private static func encoded(_ password: String) -> String { Data(unicodePassword(password)).base64EncodedString() }

    /// The changes that add the users and the groups to a new domain.
    static var ldif: String {
        let units = [people, groups].map { Entry($0, [("objectClass", "organizationalUnit")]) }
        let groupEntries = groupsWithMembers.map { name, members in
            Entry(
                group(name),
                [("objectClass", "group"), ("sAMAccountName", name)] + members.map { ("member", $0) }
            )
        }
        let entries = units.map(addition) + ([service] + allPeople).map(user) + groupEntries.map(addition)
        return policy + entries.joined()
    }

    private static var groupsWithMembers: [(name: String, members: [String])] {
        [
            ("Team", [alice.name] + peopleWithSpecialNames.map(\.name)), ("Department", [group("Team")]),
            ("Company", [group("Department")]), ("Accountants", [paul.name]),
        ]
    }

    /// A locked user stays locked for ten hours, and a new password can be changed again at once.
    private static var policy: String {
        let values = [
            ("lockoutThreshold", "\(maximumFailures)"), ("lockoutDuration", "-360000000000"),
            ("lockOutObservationWindow", "-360000000000"), ("minPwdAge", "0"),
        ]
        let replacements = values.map { "replace: \($0)\n\($0): \($1)\n" }
        return "dn: \(base)\nchangetype: modify\n\(replacements.joined(separator: "-\n"))\n"
    }

    private static func addition(_ entry: Entry) -> String {
        let lines = entry.ldif.split(separator: "\n", maxSplits: 1)
        return "\(lines[0])\nchangetype: add\n\(lines[1])"
    }

    private static func user(_ person: Person) -> String {
        let entry = Entry(
            person.name,
            [
                ("objectClass", "user"), ("sAMAccountName", person.uid), ("displayName", person.displayName),
                ("userPrincipalName", principalName(person)),
                ("userAccountControl", person.uid == dave.uid ? "514" : "512"),
            ] + (person.uid == service.uid ? [] : [("mail", "\(person.uid)@example.org")]) + (states[person.uid] ?? [])
        )
        return addition(entry).dropLast() + "unicodePwd:: \(encoded(person.password))\n\n"
    }

    private static var states: [String: [(String, String)]] {
        [
            erin.uid: [("accountExpires", "132000000000000000")],
            mona.uid: [("pwdLastSet", "0")],
            nora.uid: [("logonHours", String(repeating: "\0", count: 21))],
            walt.uid: [("userWorkstations", "nowhere")],
        ]
    }
}
