// SPDX-License-Identifier: Apache-2.0

import RealmKit
import TestTools
import Testing

@testable import GatehouseCommand

@Suite struct TomcatTests {
    static let digest = "9028ea0d15decaa35b2da21c0290af3b1a5ba0a30a591906f89b5074e209ea72"
    static let salt = "8f455bba4522752c63bbcd2b6d4c954e66a2bade8792dbe67be7c088affa422e"
    static let file = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- Users. -->
        <tomcat-users xmlns="http://tomcat.apache.org/xml"
                      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                      xsi:schemaLocation="http://tomcat.apache.org/xml tomcat-users.xsd" version="1.0">
          <role rolename="staff" description="all"/>
          <group groupname="night" roles="staff,guard"/>
          <user username="ann" password="correct &lt;horse&gt; &amp; &quot;battery&quot; &#xE9;" roles=" staff , manager-gui "
                fullName="Ann Smith"/>
          <user name='bob' password='\(digest)' roles="staff" groups="night,other"></user>
          <user username="carl" password="{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==" roles=""/>
          <user username="dora" roles="staff"/>
        </tomcat-users>

        """

    private func read(_ text: String, _ algorithms: TomcatAlgorithm...) throws -> ImportedUsers {
        try TomcatUsers(algorithms: algorithms).read(Array(text.utf8), name: "f")
    }

    private func user(_ password: String, _ algorithms: TomcatAlgorithm...) throws -> ImportedUser {
        let text = "<tomcat-users><user username=\"ann\" password=\"\(password)\"/></tomcat-users>"
        return try #require(try TomcatUsers(algorithms: algorithms).read(Array(text.utf8), name: "f").users.first)
    }

    @Test func `users are read with names, roles, names of persons and passwords`() throws {
        let users = try read(Self.file).users
        #expect(users.map(\.record.name.text) == ["ann", "bob", "carl", "dora"])
        #expect(users.map(\.record.groups) == [["staff", "manager-gui"], ["staff", "guard"], [], ["staff"]])
        #expect(users.map(\.place) == ["f:8", "f:10", "f:11", "f:12"])
        #expect(users[0].record.attributes.values(of: "displayName") == ["Ann Smith"])
        #expect(users[0].clearText == "correct <horse> & \"battery\" \u{e9}")
        #expect(
            users[1].reason?.hasSuffix(
                "--algorithm with the algorithm of the CredentialHandler in server.xml or context.xml, here SHA-256"
            ) == true
        )
        #expect(users[2].hash == "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==")
        guard case .none = users[3].password else {
            Issue.record("dora has a password")
            return
        }
    }

    @Test func `the algorithms decide the meaning of a password`() throws {
        #expect(try user(Self.digest, .sha256).hash == "{SHA256}kCjqDRXeyqNbLaIcApCvOxpboKMKWRkG+JtQdOIJ6nI=")
        #expect(
            try user(Self.digest.uppercased(), .sha256).hash == "{SHA256}kCjqDRXeyqNbLaIcApCvOxpboKMKWRkG+JtQdOIJ6nI="
        )
        #expect(try user(Self.digest, .sha1).reason != nil)
        #expect(try user("secret", .sha256).reason != nil)
        #expect(try user("secret", .sha256, .clear).clearText == "secret")
        #expect(try user(Self.digest, .clear).clearText == Self.digest)
        let key = String(Self.digest.prefix(40))
        let salted = "\(Self.salt)$20000$\(key)"
        #expect(try user(salted, .pbkdf2SHA1).hash == "{TOMCAT-PBKDF2-SHA1}" + salted)
        #expect(try user(salted, .pbkdf2SHA256).hash == "{TOMCAT-PBKDF2-SHA256}" + salted)
        #expect(try user(salted, .sha1).hash == "{TOMCAT-SHA-1}" + salted)
        #expect(try user(salted, .sha256).reason != nil)
        #expect(try user(salted, .sha1, .pbkdf2SHA1).reason?.contains("more than one") == true)
        #expect(try user("$2$\(key)", .sha1).hash == "{TOMCAT-SHA-1}$2$\(key)")
        // A key that is longer than a digest.
        let long = "\(Self.salt)$1000$\(Self.digest)"
        #expect(try user(long, .pbkdf2SHA1).hash == "{TOMCAT-PBKDF2-SHA1}\(Self.salt)$1000$\(key)")
        #expect(try user(salted).reason != nil && user("1$2$3").reason != nil)
    }

    @Test(arguments: [
        ("<!DOCTYPE tomcat-users [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><tomcat-users/>", "f:1:1: "),
        ("<tomcat-users>\n  <user username=\"&x;\"/></tomcat-users>", "f:2:19: "),
        ("<tomcat-users>\n<user username='a'></role></tomcat-users>", "f:2:22: "),
        ("<tomcat-users><![CDATA[x]]></tomcat-users>", "f:1:15: "), ("<tomcat-users><?x?></tomcat-users>", "f:1:15: "),
        ("<tomcat-users>text</tomcat-users>", "f:1:15: "), ("<tomcat-users>", "f:1:15: "), ("", "f:1:1: "),
        ("<tomcat-users/><tomcat-users/>", "f:1:16: "), ("<users/>", "f:1:1: "),
        ("<tomcat-users><user name='a' name='b'/></tomcat-users>", "f:1:30: "),
        ("<tomcat-users><user name='a'x='b'/></tomcat-users>", "f:1:29: "),
        ("<tomcat-users><user name='<'/></tomcat-users>", "f:1:27: "),
        ("<tomcat-users><user name=a/></tomcat-users>", "f:1:26: "),
        ("<tomcat-users><!-- -- --></tomcat-users>", "f:1:22: "), ("<tomcat-users><!-- ", "f:1:19: "),
        ("<tomcat-users><user name='&#0;'/></tomcat-users>", "f:1:27: "),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><tomcat-users/>", "f:1:1: "),
        ("<tomcat-users>\u{1}</tomcat-users>", "f:1:15: "), ("<tomcat-users></tomcat-users >x", "f:1:31: "),
    ])
    func `everything else is rejected with its place`(text: String, place: String) throws {
        let error = #expect(throws: BadUserFile.self) { try read(text) }
        #expect(error?.description.hasPrefix(place) == true, "\(text): \(error?.description ?? "")")
    }

    @Test func `levels are limited, and bytes that are not UTF-8 are rejected`() throws {
        #expect(throws: BadUserFile.self) { try read(String(repeating: "<a>", count: 100_000)) }
        #expect(throws: BadUserFile.self) {
            try TomcatUsers(algorithms: []).read(Array("<tomcat-users>".utf8) + [0xFF], name: "f")
        }
    }

    @Test(arguments: [
        "<user username='ann' fullName='a&#x85;b'/>", "<user username='ann' roles='&#x85;'/>",
        "<user username='ann' roles='\((0..<1025).map { "r\($0)" }.joined(separator: ","))'/>",
    ])
    func `no user is imported whose name is that of a broken user too`(broken: String) throws {
        let good = "<user username='ann' password='x' roles='admin'/>"
        for text in [broken + good, good + broken, broken + good + good] {
            let users = try read("<tomcat-users>\(text)<user username='bob'/></tomcat-users>")
            #expect(users.users.map(\.record.name.text) == ["bob"] && !users.problems.isEmpty, "\(text)")
        }
    }

    @Test(arguments: [
        String(repeating: "ab", count: 28), String(digest.dropLast()), " " + digest, digest + " ",
        String(digest.prefix(31)), "\(salt)$1000$", "\(salt)$1000$abc", "$2a$10$N9qo8uLOickgx2ZMRZoMye", "$\u{301}x$",
        "$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA", "{ssha}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==",
        "{SHA256}kCjqDRXeyqNbLaIcApCvOxpboKMKWRkG+JtQdOIJ6nI=", "{noop}secret", "{\u{301}x}y", "sha1:c2FsdA:aGFzaA",
        "PBKDF2-SHA256:1000", "SHA-1:ab", "md5$ab",
    ])
    func `a text that looks like a hash is not taken over as a password in clear text`(text: String) throws {
        #expect(try user(text).reason?.contains("looks like a hash") == true)
        let expected = TomcatPassword(text) == nil ? "looks like a hash" : ""
        let both = try user(text, .clear, .md5)
        #expect(both.reason?.contains(expected) == true && both.clearText == nil)
        #expect(try user(text, .clear).clearText == text)
        #expect(try user(text, .clear, .clear).clearText == text)
    }

    @Test(arguments: ["secret", "pa$$word"[...].prefix(3) + "x", "a:b", "shadow:x", "deadbeef", "a{b}", "x}", "{", "$"])
    func `other texts are passwords in clear text`(text: Substring) throws {
        #expect(try user(String(text)).clearText == String(text))
    }

    @Test func `repeated groups and roles of groups take memory and time only once`() throws {
        let (groups, roles) = (
            String(repeating: "g,", count: 20_000), (0..<1000).map { "r\($0)" }.joined(separator: ",")
        )
        let group = "<group name='g' roles='\(roles)'/><group name='h' roles='\(roles),x\u{301},x'/>"
        var users: ImportedUsers?
        let time = try ProcessorTime.measureThread {
            users = try read("<tomcat-users>\(group)<user name='ann' groups='\(groups)h'/></tomcat-users>")
        }
        #expect(users?.users.first?.record.groups.count == 1002)
        // Without the set, 20 million roles are compared.
        #expect(time < 3e9)
    }

    @Test func `a user with too many roles of groups is reported, and a file with too many is rejected`() throws {
        let roles = { (range: Range<Int>) in range.map { "r\($0)" }.joined(separator: ",") }
        let groups = "<group name='a' roles='\(roles(0..<600))'/><group name='b' roles='\(roles(600..<1200))'/>"
        let users = try read(
            "<tomcat-users>\n\(groups)<user name='ann' groups='a,b'/><user name='bob' groups='a'/></tomcat-users>"
        )
        #expect(users.users.map(\.record.name.text) == ["bob"])
        #expect(users.problems == ["f:2: the user ann is ignored: more than 1024 groups"])
        let names = (0..<30).map { "g\($0)" }
        let many = names.map { name in
            "<group name='\(name)' roles='\((0..<1000).map { "\(name)r\($0)" }.joined(separator: ","))'/>"
        }
        let all = (0..<400).map { "<user name='u\($0)' groups='\(names.joined(separator: ","))'/>" }
        let error = #expect(throws: BadUserFile.self) {
            try read("<tomcat-users>\n\(many.joined())\(all.joined())</tomcat-users>")
        }
        #expect(error?.description == "f:2: the users have more than 10000000 roles of groups in all")
    }

    @Test func `a name with a colon is reported`() throws {
        let users = try read("<tomcat-users>\n<user username='a:b'/><user username='a:\u{301}b'/></tomcat-users>")
        #expect(users.users.isEmpty && users.problems.count == 2)
        #expect(users.problems[0].hasPrefix("f:2: the user a:b is ignored: the user name has a colon"))
    }

    @Test func `only the first problems are kept, and all are counted`() throws {
        let users = try read("<tomcat-users>\(String(repeating: "<user/>", count: 1000))</tomcat-users>")
        #expect(users.problems.count == 100 && users.problemCount == 1000)
    }

    @Test func `a user without a name is reported`() throws {
        let users = try read("<tomcat-users>\n<user password='x'/><user username='bob'/></tomcat-users>")
        #expect(users.users.count == 1 && users.problems == ["f:2: the user is ignored: there is no username"])
    }
}
