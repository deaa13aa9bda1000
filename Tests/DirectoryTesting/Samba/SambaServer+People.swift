// SPDX-License-Identifier: Apache-2.0

extension SambaServer {
    /// The name of the root entry.
    package static let base = "DC=example,DC=org"
    /// The name of the entry that contains the users.
    package static let people = "OU=People,\(base)"
    /// The name of the entry that contains the groups.
    package static let groups = "OU=Groups,\(base)"
    /// The name of the domain in names such as `EXAMPLE\alice`.
    package static let domain = "EXAMPLE"

    /// The administrator of the domain.
    package static let admin = Person(
        uid: "Administrator",
        name: "CN=Administrator,CN=Users,\(base)",
        password: "Adm1n-password"
    )
    /// A user with no rights but those of every user: it may read the entries, and change passwords that it knows.
    package static let service = person("service", "Service Account")

    /// A user in the group `Team`, and through it in `Department` and `Company`.
    package static let alice = person("alice", "Alice Example")
    /// A user in no group but `Domain Users`.
    package static let bob = person("bob", "Bob Example")
    /// A user whose account is disabled.
    package static let dave = person("dave", "Dave Disabled")
    /// A user whose account has expired.
    package static let erin = person("erin", "Erin Expired")
    /// A user who must change the password.
    package static let mona = person("mona", "Mona Must Change")
    /// A user who is locked after failed logins.
    package static let lara = person("lara", "Lara Locked")
    /// A user whose password has expired.
    package static let peggy = person("peggy", "Peggy Password")
    /// A user who may log in at no hour.
    package static let nora = person("nora", "Nora No Hours")
    /// A user who may log in only at a workstation that does not exist.
    package static let walt = person("walt", "Walt Workstation")
    /// A user whose primary group is `Accountants`.
    package static let paul = person("paul", "Paul Primary")

    /// Users in whose names characters have a meaning in filters or in distinguished names.
    package static let peopleWithSpecialNames = [
        person("o'neil", "O'Neil (Sales)"), person("jane", "Doe, Jane"), person("zolc", "Żółć*"),
        person("slash", "Back\\Slash"),
    ]

    /// All users except the administrator and the service account.
    package static let allPeople =
        [alice, bob, dave, erin, mona, lara, peggy, nora, walt, paul] + peopleWithSpecialNames

    private static func person(_ uid: String, _ displayName: String) -> Person {
        Person(
            uid: uid,
            name: "CN=\(Entry.escaped(displayName)),\(people)",
            password: "Pass-word for \(uid)",
            displayName: displayName
        )
    }

    /// Returns the name of a group.
    package static func group(_ name: String) -> String { "CN=\(name),\(groups)" }

    /// Returns the name with which a user also binds, such as `alice@example.org`.
    package static func principalName(_ person: Person) -> String { "\(person.uid)@example.org" }
}
