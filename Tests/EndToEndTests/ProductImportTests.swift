// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// Tests of `gatehouse user import` with files as other products write them.
@Suite struct ProductImportTests {
    // The hashes are of `correct horse battery`, computed with hashlib, passlib and argon2-cffi of Python.
    private static let authelia = """
        users:
          ann:
            disabled: false
            displayname: 'Ann Smith'
            password: '$argon2id$v=19$m=65536,t=3,p=4$ErHbLGBchzEFZHdqgSMwxg$t9MImNDV4jhJJrU1qN6X1DEyJ4+WFcgY7OrZMYQpDkE'
            email: 'ann@example.org'
            groups:
              - 'admins'
              - 'dev'
          bob:
            displayname: 'Bob'
            password: '$6$5bKGbqZJq2mV1xKr$q0P0YFUZO62xhSBMsR9uKRJHoxhm9U02tR6SKugRWJM5JKr4SBxsWfBh1dPWFTvizEsNkzvzZJaCkxfQ1tUbJ/'
            groups: []
          carl:
            disabled: true
            displayname: 'Carl'
            password: '$pbkdf2-sha512$310000$j0VbukUidSxju80rbUyVTg$46RVVT78waOpIY/ckgU0RT/VDNqn5H3wir3.Tzh4rZGeYAbKQw70rE1XfRofrzdI6ZcivNQfage5MuxwuYH6mw'

        """

    private static let salt = "8f455bba4522752c63bbcd2b6d4c954e66a2bade8792dbe67be7c088affa422e"

    private static func tomcat(_ users: String...) -> String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <tomcat-users xmlns="http://tomcat.apache.org/xml" version="1.0">
          <role rolename="staff"/>
        \(users.joined(separator: "\n"))
        </tomcat-users>

        """
    }

    private func importing(
        _ people: People,
        _ text: String,
        _ name: String,
        _ options: String...
    ) async throws -> Finished {
        let file = try people.folder.write(text, to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        return try await Program.run(
            Program.built("gatehouse"),
            ["user", "import"] + options + [name],
            in: people.folder.url
        )
    }

    /// A configuration in which a login computes only the hash of the user.
    private func signsIn(
        _ people: People,
        _ user: String,
        _ password: String = People.password
    ) async throws -> Finished {
        try await people.authcheck(user, password)
    }

    @Test func `users of Authelia sign in with their passwords, groups, names and addresses`() async throws {
        let people = try People()
        #expect(
            try await importing(people, Self.authelia, "users_database.yml") == (
                0, "3 users imported (realm people)\n", ""
            )
        )
        let ann = try await signsIn(people, "ann")
        #expect(ann.status == 0, "\(ann)")
        for line in ["group  admins", "group  dev", "displayName  Ann Smith", "mail         ann@example.org"] {
            #expect(ann.output.contains(line), "\(ann)")
        }
        #expect(try await signsIn(people, "bob").status == 0)
        #expect(try await signsIn(people, "bob", "wrong").status == 1)
        let carl = try await signsIn(people, "carl")
        #expect(carl.status == 1 && (carl.output + carl.errors).contains("disabled"), "\(carl)")
    }

    @Test func `users of Keycloak sign in with their passwords, groups and roles`() async throws {
        func credential(_ secret: String, _ data: String) -> String {
            func quoted(_ text: String) -> String { "\"\(text.replacing("\"", with: "\\\""))\"" }
            return #"{"type": "password", "secretData": \#(quoted(secret)), "credentialData": \#(quoted(data))}"#
        }
        let argon2 = credential(
            #"{"value":"P7hg7ovemUR13qLMfBtZwjqNbM3xQ7HuKNP4LvBY1cc=","salt":"kDK8QPAzfC+ug3YbDrI3qw==","additionalParameters":{}}"#,
            #"{"hashIterations":5,"algorithm":"argon2","additionalParameters":{"hashLength":["32"],"memory":["7168"],"type":["id"],"version":["1.3"],"parallelism":["1"]}}"#
        )
        let pbkdf2 = credential(
            #"{"value":"Dy42RoAYdLwp3tFfmXGfmGsGzOYKtDPbR7kQUPz+40lj6BPUWYoPEzXh57nitWbFJx+skPmV14uXwdlrzVYSLg==","salt":"rZzb77cNphCwfcxhOTQFKg==","additionalParameters":{}}"#,
            #"{"hashIterations":27500,"algorithm":"pbkdf2-sha256","additionalParameters":{}}"#
        )
        let export = """
            {"realm": "town", "users": [
              {"username": "ann", "enabled": true, "email": "ann@example.org", "firstName": "Ann", "lastName": "Smith",
               "credentials": [\(argon2), {"type": "otp", "secretData": "{}", "credentialData": "{}"}],
               "realmRoles": ["default-roles-town", "editor"], "groups": ["/Staff", "/Staff/Night shift"]},
              {"username": "bob", "enabled": true, "credentials": [\(pbkdf2)], "groups": ["/Staff"]},
              {"username": "carl", "enabled": true, "credentials": [\(pbkdf2)], "requiredActions": ["UPDATE_PASSWORD"]},
              {"username": "dora", "enabled": true, "credentials": [\(pbkdf2.replacing("pbkdf2-sha256", with: "md4"))]}
            ]}
            """
        let people = try People()
        let refused = try await importing(people, export, "town", "--format", "keycloak")
        let omission = "not imported: credentials of type otp (at town: users[0])\n"
        let problem = "town: users[3]: the password of dora cannot be taken over: the algorithm md4 is not supported\n"
        #expect(
            refused == (
                1, "",
                omission + problem
                    + "nothing was imported; --skip-broken skips users that cannot be read, and imports the others without these passwords\n"
            )
        )
        #expect(try await people.names() == [])
        let imported = try await importing(people, export, "town", "--format", "keycloak", "--skip-broken")
        #expect(imported == (0, "4 users imported (realm people; 1 without a password)\n", omission + problem))
        let ann = try await signsIn(people, "ann")
        #expect(ann.status == 0, "\(ann)")
        for line in ["group  Staff\n", "group  Staff/Night shift\n", "group  editor", "displayName  Ann Smith"] {
            #expect(ann.output.contains(line), "\(ann)")
        }
        #expect(!ann.output.contains("default-roles"))
        #expect(try await signsIn(people, "bob").status == 0)
        // Keycloak would ask for a new password.
        #expect(try await signsIn(people, "carl").status == 1)
        #expect(try await signsIn(people, "dora").status == 1)
        #expect(try await people.gatehouse("user", "show", "dora").output.contains("no password"))
    }

    @Test func `users of Tomcat sign in with clear passwords, which are hashed by the policy`() async throws {
        let people = try People()
        let file = Self.tomcat(
            #"  <user username="ann" password="correct horse battery" fullName="Ann" roles="staff,admin"/>"#
        )
        #expect(try await importing(people, file, "tomcat-users.xml") == (0, "1 user imported (realm people)\n", ""))
        #expect(try await signsIn(people, "ann").status == 0)
        #expect(try await people.gatehouse("user", "groups", "ann").output == "staff\nadmin\n")
        #expect(try await people.gatehouse("user", "show", "ann").output.contains("argon2id"))
        #expect(try Data(contentsOf: people.store).range(of: Data(People.password.utf8)) == nil)
    }

    @Test(arguments: [
        ("SHA-256", "9028ea0d15decaa35b2da21c0290af3b1a5ba0a30a591906f89b5074e209ea72"),
        ("sha-256", "\(salt)$1$47c6710a74fbe54c71106e35deec6b5e20c524ccb82dc8872f0ede6de94c2892"),
        ("PBKDF2WithHmacSHA1", "\(salt)$20000$af05af0c5c300a1de44ed28415207c476293d563"),
    ])
    func `users of Tomcat sign in with the hashes of credential handlers`(
        algorithm: String,
        stored: String
    ) async throws {
        let people = try People()
        let file = Self.tomcat(#"  <user username="bob" password="\#(stored)" roles="staff"/>"#)
        let refused = try await importing(people, file, "tomcat-users.xml")
        #expect(refused.status == 1 && refused.errors.contains("tomcat-users.xml:4: the password of bob"), "\(refused)")
        #expect(refused.errors.contains("--algorithm") && !refused.errors.contains(stored), "\(refused)")
        let imported = try await importing(people, file, "tomcat-users.xml", "--algorithm", algorithm)
        #expect(imported == (0, "1 user imported (realm people)\n", ""))
        #expect(try await signsIn(people, "bob", "wrong").status == 1)
        let right = try await signsIn(people, "bob")
        #expect(right.status == 0, "\(right)")
    }

    @Test func `a password that the settings do not allow is reported with its line`() async throws {
        let people = try People()
        let file = Self.tomcat(
            #"  <user username="ann" password="correct horse battery"/>"#,
            #"  <user username="bob" password="tomcat"/>"#,
            #"  <user username="cleo" password="\#(String(repeating: "long", count: 257))"/>"#
        )
        let refused = try await importing(people, file, "tomcat-users.xml")
        #expect(refused.errors.contains("tomcat-users.xml:6: the password of cleo"), "\(refused)")
        #expect(refused.status == 1 && refused.errors.contains("tomcat-users.xml:5: the password of bob"), "\(refused)")
        #expect(refused.errors.contains("minimum-length of the passwords block in realms.conf"), "\(refused)")
        #expect(try await people.names() == [])
        let imported = try await importing(people, file, "tomcat-users.xml", "--skip-broken")
        #expect(imported.status == 0 && imported.errors.contains("tomcat-users.xml:5: "), "\(imported)")
        #expect(try await signsIn(people, "bob", "tomcat").status == 1)
        #expect(try await signsIn(people, "ann").status == 0)
    }

    @Test func `hashes of many different costs give a warning`() async throws {
        let people = try People()
        let key = "9028ea0d15decaa35b2da21c0290af3b1a5ba0a30a591906f89b5074e209ea72"
        let lines = (1...5).map { number in
            #"  <user username="u\#(number)" password="\#(Self.salt)$\#(min(number, 4) * 1000)$\#(key)"/>"#
        }
        let algorithm = "PBKDF2WithHmacSHA256"
        let few = Self.tomcat(lines[0], lines[1], lines[2])
        #expect(
            try await importing(people, few, "tomcat-users.xml", "--algorithm", algorithm)
                == (0, "3 users imported (realm people)\n", "")
        )
        let others = try People()
        let many = Self.tomcat(lines[0], lines[1], lines[2], lines[3], lines[4])
        let imported = try await importing(others, many, "tomcat-users.xml", "--algorithm", algorithm)
        #expect(imported.status == 0 && imported.output == "5 users imported (realm people)\n", "\(imported)")
        #expect(
            imported.errors.hasPrefix(
                "the password hashes have 4 different costs, and each login computes one hash of each cost: "
            ),
            "\(imported)"
        )
    }

    @Test func `a mail address must be one address`() async throws {
        let people = try People()
        let file = "users:\n  ann:\n    email: 'ann@example.org, bob@example.org'\n  bob:\n    email: bob@example.org\n"
        let problem = "users.yml:2: the user ann is ignored: email is not one mail address\n"
        let refused = try await importing(people, file, "users.yml")
        #expect(refused.status == 1 && refused.errors.hasPrefix(problem), "\(refused)")
        #expect(
            try await importing(people, file, "users.yml", "--skip-broken")
                == (
                    0, "1 user imported (realm people; 1 without a password)\n",
                    problem + "users.yml: no user of this file can sign in: all are disabled or without a password\n"
                )
        )
        #expect(try await people.names() == ["bob"])
    }

    @Test func `passwords in clear text of an export of Keycloak are hashed, and a temporary one must be changed`()
        async throws
    {
        let people = try People()
        func user(_ name: String, isTemporary: Bool) -> String {
            let credential = #"{"type": "password", "value": "\#(People.password)", "temporary": \#(isTemporary)}"#
            return #"{"username": "\#(name)", "enabled": true, "credentials": [\#(credential)]}"#
        }
        let export = "{\"users\": [\(user("ann", isTemporary: false)), \(user("bob", isTemporary: true))]}"
        #expect(
            try await importing(people, export, "town-users-0.json") == (0, "2 users imported (realm people)\n", "")
        )
        #expect(try await signsIn(people, "ann").status == 0)
        #expect(try await people.gatehouse("user", "show", "bob").output.contains("must change password"))
        #expect(try Data(contentsOf: people.store).range(of: Data(People.password.utf8)) == nil)
    }

    @Test func `users of Jetty sign in with their passwords and roles`() async throws {
        let people = try People()
        let file = """
            ann: MD5:88e4ddd2402d92d50e1879d6ecd9ffd4,user,admin
            bob: OBF:1wmh1xmk1vnw1ym51w1c1rwh1vgx11tr1toi1xtn1y7z1xtv1toc11tr1vfx1rwd1w261ym91vn61xmq1wnp,user
            carl: CRYPT:gvyHFSlR2ygWA,user
            """
        let imported = try await importing(people, file, "realm.properties")
        #expect(imported.status == 0 && imported.output == "3 users imported (realm people)\n", "\(imported)")
        #expect(try await people.gatehouse("user", "groups", "ann").output == "user\nadmin\n")
        for user in ["ann", "bob"] { #expect(try await signsIn(people, user).status == 0, "\(user)") }
        #expect(try await signsIn(people, "ann", "wrong").status == 1)
        #expect(try await people.gatehouse("user", "show", "carl").output.contains("descrypt"))
    }

    @Test func `users of WildFly sign in with their passwords and roles`() async throws {
        let people = try People()
        try people.folder.write("ann=staff,admin\n", to: "application-roles.properties")
        let file = "#$REALM_NAME=ApplicationRealm$ This line is used\nann=3555696b6016f377904e96609ca860b1\n"
        let imported = try await importing(
            people,
            file,
            "application-users.properties",
            "--group-file",
            "application-roles.properties"
        )
        #expect(imported == (0, "1 user imported (realm people)\n", ""))
        #expect(try await people.gatehouse("user", "groups", "ann").output == "staff\nadmin\n")
        #expect(try await signsIn(people, "ann").status == 0)
        #expect(try await signsIn(people, "ann", "wrong").status == 1)
    }

    @Test(arguments: ["people.properties", "users.properties"])
    func `the content of a file of properties decides between Jetty and WildFly`(name: String) async throws {
        let people = try People()
        let wildFly = "#$REALM_NAME=ApplicationRealm$ This line is used\nann=3555696b6016f377904e96609ca860b1\n"
        #expect(try await importing(people, wildFly, name) == (0, "1 user imported (realm people)\n", ""))
        #expect(try await signsIn(people, "ann").status == 0)
        let jetty = try await importing(people, "bob: MD5:5ebe2294ecd0e0f08eab7690d2a6ee69,staff\n", name)
        #expect(jetty.status == 0, "\(jetty)")
        #expect(try await people.gatehouse("user", "groups", "bob").output == "staff\n")
    }

    @Test(arguments: [
        ("users.yml", "ann:*\n", "if it is not a users_database.yml of Authelia, give --format: "),
        ("users.yml", "<tomcat-users/>", "it looks like a tomcat-users.xml: give --format tomcat"),
        ("users.json", "users:\n", "it looks like a users_database.yml of Authelia: give --format authelia"),
        ("users.xml", "\n {}", "it looks like an export of Keycloak: give --format keycloak"),
        ("users.xml", "ann: MD5:x\n", "it looks like a realm.properties of Jetty: give --format jetty"),
        ("users.xml", "#$REALM_NAME=a$\n", "it looks like a users.properties of WildFly: give --format wildfly"),
    ])
    func `a file of another format than its name says is rejected with the format that it looks like`(
        name: String,
        text: String,
        advice: String
    ) async throws {
        let people = try People()
        let refused = try await importing(people, text, name)
        #expect(refused.status == 1 && refused.errors.contains(advice), "\(refused)")
        #expect(refused.errors.hasSuffix("; nothing was imported\n"), "\(refused)")
    }

    @Test func `a file whose name says nothing is recognized by its content`() async throws {
        for text in [Self.authelia, #"{"users": [{"username": "ann"}]}"#, Self.tomcat(#"<user username="ann"/>"#)] {
            let people = try People()
            #expect(try await importing(people, text, "exported").status == 0)
            #expect(try await people.names().first == "ann")
        }
    }

    @Test func `a user who exists already is reported with the place, and no user is imported`() async throws {
        let people = try People()
        #expect(try await people.add("bob").status == 0)
        #expect(
            try await importing(people, Self.authelia, "users.yaml")
                == (1, "", "users.yaml:10: the user bob exists already\n")
        )
        #expect(try await people.names() == ["bob"])
    }

    @Test func `a file of another format, an unsafe file and unsuitable options are rejected`() async throws {
        let people = try People()
        for (format, text) in [("authelia", "a: &b c\n"), ("keycloak", "users"), ("tomcat", "<!DOCTYPE x>")] {
            let refused = try await importing(people, text, "other", "--format", format)
            #expect(refused.status == 1 && refused.errors.hasPrefix("other:") && refused.isPrintable, "\(refused)")
            #expect(refused.errors.hasSuffix("nothing was imported\n"), "\(refused)")
        }
        #expect(try await importing(people, "ann:*\n", "users", "--format", "nosuch").status == 2)
        #expect(try await importing(people, "ann:*\n", "users", "--algorithm", "SHA-256").status == 2)
        #expect(try await importing(people, Self.authelia, "users.yml", "--group-file", "groups").status == 2)
        #expect(try await people.gatehouse("user", "import", "missing.yml").errors.contains("No such file"))
        // The ending does not decide if the format is given.
        #expect(try await importing(people, "ann:*\n", "users.json", "--format", "htpasswd").status == 0)
        let file = try people.folder.write(Self.authelia, to: "users.yml")
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file.path)
        let unsafe = try await people.gatehouse("user", "import", "users.yml")
        #expect(unsafe.status == 1 && unsafe.errors.contains("every user of this machine may write to it"), "\(unsafe)")
        #expect(try await people.names() == ["ann"])
    }
}
