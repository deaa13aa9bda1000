// SPDX-License-Identifier: Apache-2.0

extension SlapdServer {
    /// The name of the root entry.
    package static let base = "dc=example,dc=org"
    /// The name of the entry that contains the users.
    package static let people = "ou=people,\(base)"
    /// The name of the entry that contains the groups.
    package static let groups = "ou=groups,\(base)"

    /// The root user, for which neither the access rules nor the password policy hold.
    package static let admin = Person(uid: "admin", name: "cn=admin,\(base)", password: "admin-password")
    /// A user that may read all entries, also with the client certificate `client` of TestPKI.
    package static let service = Person(uid: "service", name: "cn=service,\(base)", password: "service-password")

    /// A user in the group `level1`, and through it in `level2` and `level3`.
    package static let ann = person("ann")
    /// A user in the group `ring-a`, whose member `ring-b` has `ring-a` as a member.
    package static let ben = person("ben")
    /// A user who is locked after failed logins.
    package static let carl = person("carl")
    /// A user who must change the password.
    package static let dora = person("dora")
    /// A user with an expired password and no grace login.
    package static let eve = person("eve")
    /// A user whom an administrator has locked.
    package static let frank = person("frank")
    /// A user with an expired password and three grace logins.
    package static let grace = person("grace")
    /// A user whose password expires in a day.
    package static let holly = person("holly")
    /// A user whose password is rejected since its end time (`pwdEndTime`), as if the user were locked.
    package static let ivan = person("ivan")

    /// Users in whose names characters have a meaning in filters or in distinguished names.
    package static let peopleWithSpecialNames = [
        "o'neil", "a*b", "(paren)", "back\\slash", "comma, name", "Żółć", "plus+sign", "quote\"mark", "#hash",
        "equals=sign", "two  spaces",
    ].map(person)

    /// All users except `admin` and `service`.
    package static let allPeople =
        [ann, ben, carl, dora, eve, frank, grace, holly, ivan] + peopleWithSpecialNames

    private static func person(_ uid: String) -> Person {
        Person(
            uid: uid,
            name: "uid=\(Entry.escaped(uid)),\(people)",
            password: "password of \(uid)",
            displayName: "\(uid.prefix(1).uppercased() + uid.dropFirst()) Example"
        )
    }

    /// Returns the name of a group.
    package static func group(_ name: String) -> String { "cn=\(name),\(groups)" }
}
