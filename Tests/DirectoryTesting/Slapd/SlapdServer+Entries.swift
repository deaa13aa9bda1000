// SPDX-License-Identifier: Apache-2.0

internal import Foundation

extension SlapdServer {
    /// The maximum age of a password in the default policy, in seconds.
    package static let maximumPasswordAge = 7_776_000
    /// The number of failed logins after which the default policy locks a user.
    package static let maximumFailures = 5

    /// The members of the groups with the object class `groupOfNames`.
    private static var groupsOfNames: [(name: String, members: [String])] {
        [
            ("staff", allPeople.map(\.name)),
            ("level1", [ann.name]),
            ("level2", [group("level1")]),
            ("level3", [group("level2")]),
            ("ring-a", [ben.name, group("ring-b")]),
            ("ring-b", [group("ring-a")]),
            ("comma\\, group", [ann.name]),
        ]
    }

    /// The members of the groups with the object class `groupOfUniqueNames`.
    private static var groupsOfUniqueNames: [(name: String, members: [String])] {
        [("unique", [ann.name, ben.name])]
    }

    /// The user identifiers in the groups with the object class `posixGroup`.
    private static var posixGroups: [(name: String, users: [String])] {
        [("printers", ["ann", "o'neil", "a*b"]), ("wheel", ["ben"])]
    }

    /// All entries in LDIF, as they are at the start of a server.
    static var ldif: String {
        let top = Entry(
            base,
            [("objectClass", "dcObject"), ("objectClass", "organization"), ("dc", "example"), ("o", "Town")]
        )
        let units = ["people", "groups", "policies"].map {
            Entry("ou=\($0),\(base)", [("objectClass", "organizationalUnit"), ("ou", $0)])
        }
        let account = Entry(
            service.name,
            [
                ("objectClass", "organizationalRole"), ("objectClass", "simpleSecurityObject"), ("cn", "service"),
                ("userPassword", service.password),
            ]
        )
        let all = [top] + units + [account] + policies + allPeople.enumerated().map(user) + groupEntries
        return all.map(\.ldif).joined()
    }

    private static var policies: [Entry] {
        [("default", 0), ("grace", 3)].map { name, graceLogins in
            Entry(
                "cn=\(name),ou=policies,\(base)",
                [
                    ("objectClass", "device"), ("objectClass", "pwdPolicy"), ("cn", name),
                    ("pwdAttribute", "userPassword"), ("pwdMaxFailure", "\(maximumFailures)"), ("pwdLockout", "TRUE"),
                    ("pwdLockoutDuration", "0"), ("pwdMustChange", "TRUE"), ("pwdAllowUserChange", "TRUE"),
                    ("pwdInHistory", "3"), ("pwdMinLength", "8"), ("pwdCheckQuality", "2"),
                    ("pwdMaxAge", "\(maximumPasswordAge)"), ("pwdExpireWarning", "1209600"),
                    ("pwdGraceAuthNLimit", "\(graceLogins)"),
                ]
            )
        }
    }

    private static func user(_ number: Int, _ person: Person) -> Entry {
        var attributes = [
            ("objectClass", "inetOrgPerson"), ("objectClass", "posixAccount"), ("uid", person.uid),
            ("cn", person.displayName), ("sn", "Example"), ("givenName", person.uid),
            ("displayName", person.displayName), ("uidNumber", "\(10_000 + number)"),
            ("gidNumber", "10000"), ("homeDirectory", "/home/user\(number)"), ("userPassword", person.password),
        ]
        if person.uid.utf8.allSatisfy({ (0x61...0x7A).contains($0) }) {
            attributes.append(("mail", "\(person.uid)@example.org"))
        }
        attributes += states[person.uid] ?? []
        // slapadd does not run the overlay that adds these.
        attributes += memberships.filter { $0.members.contains(person.name) }.map { ("memberOf", group($0.name)) }
        return Entry(person.name, attributes)
    }

    private static var memberships: [(name: String, members: [String])] { groupsOfNames + groupsOfUniqueNames }

    /// The attributes of the password policy in the entries of users.
    private static var states: [String: [(String, String)]] {
        [
            "carl": [("pwdAccountLockedTime", "20240102030405Z")],
            "dora": [("pwdReset", "TRUE")],
            "eve": [("pwdChangedTime", "20200101000000Z")],
            "frank": [("pwdAccountLockedTime", "000001010000Z")],
            "grace": [
                ("pwdChangedTime", "20200101000000Z"), ("pwdPolicySubentry", "cn=grace,ou=policies,\(base)"),
            ],
            "holly": [("pwdChangedTime", time(secondsAgo: maximumPasswordAge - 86_400))],
            "ivan": [("pwdEndTime", "20240102030405Z")],
        ]
    }

    private static var groupEntries: [Entry] {
        let ofNames = groupsOfNames.map { entry(of: $0, class: "groupOfNames", attribute: "member") }
        let ofUniqueNames = groupsOfUniqueNames.map {
            entry(of: $0, class: "groupOfUniqueNames", attribute: "uniqueMember")
        }
        let posix = posixGroups.enumerated().map { number, item in
            Entry(
                group(item.name),
                [("objectClass", "posixGroup"), ("cn", item.name), ("gidNumber", "\(10_000 + number)")]
                    + item.users.map { ("memberUid", $0) }
            )
        }
        return ofNames + ofUniqueNames + posix
    }

    private static func entry(
        of item: (name: String, members: [String]),
        class name: String,
        attribute: String
    ) -> Entry {
        let groups = memberships.filter { $0.members.contains(group(item.name)) }
        return Entry(
            group(item.name),
            [("objectClass", name), ("cn", item.name.replacing("\\", with: ""))] + item.members.map { (attribute, $0) }
                + groups.map { ("memberOf", group($0.name)) }
        )
    }

    private static func time(secondsAgo: Int) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyyMMddHHmmss'Z'"
        return formatter.string(from: Date(timeIntervalSinceNow: -Double(secondsAgo)))
    }
}
