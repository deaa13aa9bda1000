// SPDX-License-Identifier: Apache-2.0

import DirectoryTesting
import TestTools
import Testing

@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct SlapdTests {
    @Test func `A user binds over LDAP, StartTLS and LDAPS`() async throws {
        let server = try await SlapdServer()
        for connection in [["-H", server.url], ["-H", server.url, "-ZZ"], ["-H", server.tlsURL]] {
            let finished = try await Self.whoAmI(SlapdServer.ann, connection)
            #expect(finished.output == "dn:\(SlapdServer.ann.name)\n", "\(connection) \(finished.errors)")
        }
        #expect(server.received.contains("STARTTLS"))
    }

    @Test func `A server with the certificate of another host is refused`() async throws {
        var settings = SlapdServer.Settings()
        settings.certificate = "other"
        let server = try await SlapdServer(settings)
        #expect(try await Self.whoAmI(SlapdServer.ann, ["-H", server.tlsURL]).status != 0)
        #expect(try await Self.whoAmI(SlapdServer.ann, ["-H", server.url]).status == 0)
    }

    @Test func `A client certificate is the service account`() async throws {
        let server = try await SlapdServer()
        for connection in [["-H", server.url, "-ZZ"], ["-H", server.tlsURL]] {
            let arguments = ["-Y", "EXTERNAL", "-Q"] + connection
            let finished = try await DirectoryTool.run("ldapwhoami", arguments, certificate: "client")
            #expect(finished.output == "dn:\(SlapdServer.service.name)\n", "\(connection) \(finished.errors)")
            #expect(try await DirectoryTool.run("ldapwhoami", arguments).status != 0)
        }
    }

    @Test func `The login names and passwords of all users without a restriction are accepted`() async throws {
        let server = try await SlapdServer()
        let people = [SlapdServer.ann, SlapdServer.ben] + SlapdServer.peopleWithSpecialNames
        for person in people + [SlapdServer.service, SlapdServer.admin] {
            let finished = try await Self.whoAmI(person, ["-H", server.url])
            #expect(finished.status == 0, "\(person.uid): \(finished.errors)")
        }
        let wrong = Person(uid: "ann", name: SlapdServer.ann.name, password: "wrong")
        #expect(try await Self.whoAmI(wrong, ["-H", server.url]).status == 49)
    }

    @Test func `The log contains the filter and the name that the server has read`() async throws {
        let server = try await SlapdServer()
        for (filter, uid) in [("(uid=a\\2ab)", "a*b"), ("(uid=\\28paren\\29)", "(paren)"), ("(uid=a*b)", "a*b")] {
            let finished = try await Self.search(server, filter, ["uid"])
            #expect(finished.output.contains("uid: \(uid)\n"), "\(finished)")
        }
        #expect(server.searches.map(\.filter) == ["(uid=a\\2Ab)", "(uid=\\28paren\\29)", "(uid=a*b)"])
        #expect(server.searches.allSatisfy { $0.base == SlapdServer.base })
        #expect(server.binds == Array(repeating: SlapdServer.service.name, count: 3))
    }

    @Test func `An anonymous client reads only the root entry`() async throws {
        let server = try await SlapdServer()
        let root = try await DirectoryTool.run(
            "ldapsearch",
            ["-x", "-LLL", "-H", server.url, "-s", "base", "-b", "", "supportedExtension"]
        )
        #expect(root.output.contains("1.3.6.1.4.1.1466.20037"))
        let entry = try await DirectoryTool.run(
            "ldapsearch",
            ["-x", "-LLL", "-H", server.url, "-b", SlapdServer.base, "(uid=ann)"]
        )
        #expect(entry.status == 32)
    }

    @Test func `Entries name the groups of both classes in which they are`() async throws {
        let server = try await SlapdServer()
        let ann = try await Self.search(server, "(uid=ann)", ["memberOf"])
        for name in ["staff", "level1", "unique"] {
            #expect(ann.output.contains("memberOf: \(SlapdServer.group(name))\n"), "\(ann.output)")
        }
        #expect(!ann.output.contains("level2"))
        try await server.modify(
            ldif: """
                dn: \(SlapdServer.group("level1"))
                changetype: modify
                add: member
                member: \(SlapdServer.ben.name)

                dn: \(SlapdServer.group("unique"))
                changetype: modify
                delete: uniqueMember
                uniqueMember: \(SlapdServer.ben.name)
                """
        )
        let ben = try await Self.search(server, "(uid=ben)", ["memberOf"])
        #expect(ben.output.contains("level1"))
        #expect(!ben.output.contains("unique"))
    }

    @Test(arguments: [
        (SlapdServer.carl, "Account locked"), (SlapdServer.frank, "Account locked"),
        (SlapdServer.eve, "Password expired"), (SlapdServer.ivan, "Account locked"),
        (SlapdServer.dora, "Password must be changed"), (SlapdServer.grace, "2 grace logins"),
        (SlapdServer.holly, "Password expires in"),
    ])
    func `The password policy of a user`(person: Person, text: String) async throws {
        let server = try await SlapdServer()
        let finished = try await Self.whoAmI(person, ["-H", server.url, "-e", "ppolicy"])
        #expect((finished.output + finished.errors).contains(text), "\(finished)")
    }

    @Test func `A user is locked after the failures of the policy`() async throws {
        let server = try await SlapdServer()
        let wrong = Person(uid: "ann", name: SlapdServer.ann.name, password: "wrong password")
        for _ in 0..<SlapdServer.maximumFailures {
            let finished = try await Self.whoAmI(wrong, ["-H", server.url, "-e", "ppolicy"])
            #expect(finished.status == 49)
            #expect(!finished.errors.contains("Account locked"))
        }
        let finished = try await Self.whoAmI(SlapdServer.ann, ["-H", server.url, "-e", "ppolicy"])
        #expect(finished.errors.contains("Account locked"), "\(finished)")
    }

    @Test func `A user changes the password, within the policy`() async throws {
        let server = try await SlapdServer()
        let ann = SlapdServer.ann
        let change = ["-x", "-H", server.url, "-D", ann.name, "-w", ann.password, "-e", "ppolicy"]
        let short = try await DirectoryTool.run("ldappasswd", change + ["-s", "short"])
        #expect(short.status != 0)
        #expect((short.output + short.errors).contains("Password is too short"), "\(short)")
        let same = try await DirectoryTool.run("ldappasswd", change + ["-s", ann.password])
        #expect(same.status != 0)
        let accepted = try await DirectoryTool.run("ldappasswd", change + ["-s", "another password"])
        #expect(accepted.status == 0, "\(accepted)")
        let new = Person(uid: ann.uid, name: ann.name, password: "another password")
        #expect(try await Self.whoAmI(new, ["-H", server.url]).status == 0)
        #expect(try await Self.whoAmI(ann, ["-H", server.url]).status == 49)
    }

    @Test func `A server keeps its ports and its data when it is stopped, killed and started`() async throws {
        let server = try await SlapdServer()
        try await server.modify(
            ldif: "dn: \(SlapdServer.ann.name)\nchangetype: modify\nreplace: title\ntitle: Mayor\n"
        )
        await server.stop()
        #expect(try await Self.whoAmI(SlapdServer.ann, ["-H", server.url]).errors.contains("Can't contact"))
        try await server.start()
        await server.kill()
        try await server.start()
        #expect(try await Self.search(server, "(uid=ann)", ["title"]).output.contains("title: Mayor"))
    }

    @Test func `A suspended server accepts connections and answers when it is resumed`() async throws {
        let server = try await SlapdServer()
        server.suspend()
        async let answer = Self.search(server, "(uid=ann)", ["uid"])
        try await Waiting.until { !RunningProcesses.mentioning("-H \(server.url)").isEmpty }
        #expect(server.searches.isEmpty)
        server.resume()
        #expect(try await answer.output.contains("uid: ann"))
        server.suspend()
        await server.stop()
    }

    @Test func `A server ends with its object`() async throws {
        var server = try await SlapdServer() as SlapdServer?
        let folder = try #require(server?.folder.path)
        #expect(RunningProcesses.mentioning(folder).count == 1)
        server = nil
        try await Waiting.until { RunningProcesses.mentioning(folder).isEmpty }
    }

    static func whoAmI(_ person: Person, _ options: [String]) async throws -> Finished {
        try await DirectoryTool.run("ldapwhoami", ["-x", "-D", person.name, "-w", person.password] + options)
    }

    static func search(
        _ server: SlapdServer,
        _ filter: String,
        _ attributes: [String],
        _ options: [String] = []
    ) async throws -> Finished {
        let service = SlapdServer.service
        let bind = ["-x", "-LLL", "-o", "ldif-wrap=no", "-D", service.name, "-w", service.password]
        return try await DirectoryTool.run(
            "ldapsearch",
            bind + ["-H", server.url, "-b", SlapdServer.base] + options + [filter] + attributes
        )
    }
}
