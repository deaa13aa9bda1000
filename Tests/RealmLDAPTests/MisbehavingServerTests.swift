// SPDX-License-Identifier: Apache-2.0

#if LDAP
import Foundation
import RealmKit
import ServerConnections
import Synchronization
import TLSTesting
import Testing
import Workers

@testable import RealmLDAP

/// A server that breaks the protocol is unavailable, accepts nobody, and costs no more than its time limit.
struct MisbehavingServerTests {
    private static let ann = "uid=ann,ou=people,dc=example,dc=org"

    /// The answers of a server that works, with one user with the password `right`.
    private static func answer(_ request: FakeDirectory.Request) -> [FakeDirectory.Step] {
        switch request.operation {
        case .bind:
            let isRight = ["right", "service"].contains { request.content.suffix($0.utf8.count).elementsEqual($0.utf8) }
            return [.send(BER.result(request.number, 0x61, code: isRight ? 0 : 49))]
        case .search:
            let entry = BER.entry(request.number, ann, [("uid", ["ann"])])
            let isForAnn = request.content.contains(Array("ann".utf8))
            return [.send((isForAnn ? entry : []) + BER.result(request.number, 0x65))]
        case .unbind: return [.close]
        case .extended: return [.send(BER.result(request.number, 0x78, code: 2))]
        }
    }

    private func realm(
        _ servers: [FakeDirectory],
        _ changes: [String: [String]?] = [:],
        log: LogEntries = LogEntries()
    ) throws -> LDAPRealm {
        try LDAPSetup.realm(servers, limit: "300ms", changes, log: log)
    }

    /// The ways to misbehave after a request with a number.
    private static let faults: [(name: String, steps: @Sendable (Int, UInt8) -> [FakeDirectory.Step])] = [
        ("closes at once", { _, _ in [.close] }),
        ("sends text", { _, _ in [.send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8)), .hang] }),
        ("sends random bytes", { _, _ in [.send((0..<200).map { UInt8(truncatingIfNeeded: $0 * 73 + 5) }), .hang] }),
        ("sends zeros", { _, _ in [.send([UInt8](repeating: 0, count: 100)), .hang] }),
        ("sends half of an answer", { [.send(Array(BER.result($0, $1).dropLast(5))), .hang] }),
        ("sends half of an answer and closes", { [.send(Array(BER.result($0, $1).dropLast(5))), .close] }),
        ("sends an answer slowly", { [.drip(BER.result($0, $1), .milliseconds(100)), .hang] }),
        ("answers a later request", { [.send(BER.result($0 + 1, $1)), .hang] }),
        ("answers an earlier request", { [.send(BER.result($0 - 1, $1)), .hang] }),
        ("answers another kind of request", { [.send(BER.result($0, $1 == 0x61 ? 0x6B : 0x61)), .hang] }),
        ("answers with a request", { number, _ in [.send(BER.message(number, BER.element(0x60, []))), .hang] }),
        ("announces a huge answer", { _, _ in [.send([0x30, 0x84, 0x7F, 0xFF, 0xFF, 0xFF, 2, 1, 1]), .hang] }),
        ("announces an answer without an end", { _, _ in [.send([0x30, 0x80, 2, 1, 1]), .hang] }),
        ("has an empty answer", { number, tag in [.send(BER.message(number, BER.element(tag, []))), .hang] }),
        ("ends the connection with a notice", { _, _ in [.send(BER.noticeOfDisconnection), .close] }),
        ("only sends notices", { _, _ in [.send(BER.noticeOfDisconnection), .hang] }),
        ("is busy", { [.send(BER.result($0, $1, code: 51))] }),
        ("cannot serve", { [.send(BER.result($0, $1, code: 52))] }),
        ("refers to another server", { [.send(BER.result($0, $1, code: 10))] }),
        ("wants another step of the bind", { [.send(BER.result($0, $1, code: 14))] }),
    ]

    @Test(arguments: faults.map(\.name), ["bind of the service", "search", "bind of the user"])
    func `a server that breaks the protocol accepts nobody and is unavailable in time`(
        name: String,
        place: String
    ) async throws {
        let fault = try #require(Self.faults.first { $0.name == name })
        let server = try FakeDirectory { request in
            let isService = request.content.suffix(7).elementsEqual("service".utf8)
            let isHere =
                switch request.operation {
                case .bind: place == (isService ? "bind of the service" : "bind of the user")
                case .search: place == "search"
                case .unbind, .extended: false
                }
            guard isHere else { return Self.answer(request) }
            return fault.steps(request.number, request.operation == .bind ? 0x61 : 0x65)
        }
        let log = LogEntries()
        let realm = try realm([server], log: log)
        let start = ContinuousClock.now
        let report = try await realm.login("ann", "right")
        #expect(report.identity == nil)
        #expect(
            report.failure == (name == "is busy" ? .overloaded : .unavailable),
            "\(report.noteTexts) \(log.all)"
        )
        #expect(start.duration(to: .now) < .seconds(5))
        #expect(log.contains(server.url) || log.contains("has failed") || log.contains("was answered"), "\(log.all)")
    }

    @Test(arguments: faults.map(\.name).filter { !$0.hasPrefix("refers") && !$0.hasPrefix("wants") })
    func `the next server answers instead, and later logins do not use the connection again`(
        name: String
    ) async throws {
        let fault = try #require(Self.faults.first { $0.name == name })
        let good = try FakeDirectory(Self.answer)
        let bad = try FakeDirectory { request in
            guard request.operation == .bind, request.content.suffix(7).elementsEqual("service".utf8) else {
                return fault.steps(request.number, request.operation == .bind ? 0x61 : 0x65)
            }
            return Self.answer(request)
        }
        let realm = try realm([bad, good])
        for password in ["right", "wrong"] {
            let report = try await realm.login("ann", password)
            #expect(report.failure == (password == "right" ? nil : .wrongCredentials), "\(report.noteTexts)")
        }
        #expect(!bad.requests.isEmpty && !good.requests.isEmpty)
    }

    @Test func `a fault of the caller is kept if the answers to later searches do not arrive`() async throws {
        let isFirst = Atomic(true)
        let server = try FakeDirectory { request in
            guard request.operation == .search else { return Self.answer(request) }
            let isAnswered = isFirst.exchange(false, ordering: .relaxed)
            return isAnswered ? Self.answer(request) : [.hang]
        }
        let realm = try realm([server])
        let search = LDAPSearch.entry(Self.ann, attributes: ["uid"])
        let isUsable = try await realm.directory.pool.run(for: JobOwner(source: "test", account: nil)) {
            connection,
            call throws(ServerFault) in
            connection.begin(call)
            do throws(ServerFault) {
                let searches = Array(repeating: search, count: 20)
                try connection.search(each: searches) { _, _ throws(ServerFault) in
                    throw ServerFault(.failed, "enough")
                }
            } catch {
                guard error.log == "enough" else { throw error }
            }
            return connection.isUsable
        }
        #expect(!isUsable)
    }

    @Test func `a server that sends more entries than it was asked for is unavailable`() async throws {
        let server = try FakeDirectory { request in
            guard request.operation == .search else { return Self.answer(request) }
            let entry = BER.entry(request.number, Self.ann, [("uid", ["ann"])])
            return [.send((0..<1000).flatMap { _ in entry }), .hang]
        }
        let log = LogEntries()
        let realm = try realm([server], ["search-timeout": ["60s"], "timeout": ["60s"]], log: log)
        let start = ContinuousClock.now
        #expect(try await realm.login("ann", "right").failure == .unavailable)
        #expect(start.duration(to: .now) < .seconds(30))
        #expect(log.contains("the server has sent more entries than it was asked for"), "\(log.all)")
    }

    @Test func `a server that refuses StartTLS is not taken for one with a bad certificate`() async throws {
        let server = try FakeDirectory(Self.answer)
        let log = LogEntries()
        let realm = try realm([server], ["start-tls": ["true"]], log: log)
        #expect(try await realm.login("ann", "right").failure == .unavailable)
        #expect(log.contains("the server has answered StartTLS with 2 (Protocol error)"), "\(log.all)")
    }

    @Test func `a local socket with a full backlog is an overload, and no connection`() throws {
        let path = "\(FileManager.default.temporaryDirectory.path)/gatehouse-\(UUID().uuidString.prefix(8)).sock"
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
        var sockets: [Int32] = []
        defer {
            sockets.forEach { close($0) }
            unsafe unlink(path)
        }
        func call(_ function: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32, _ kind: Int32) -> Int32 {
            sockets.append(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | kind, 0))
            return unsafe withUnsafePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe function(sockets[sockets.count - 1], $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
        let isBound = unsafe call({ unsafe bind($0, $1, $2) }, 0) == 0
        #expect(isBound && listen(sockets[0], 0) == 0)
        var accepted = 0
        while accepted < 100, unsafe call({ unsafe connect($0, $1, $2) }, Int32(SOCK_NONBLOCK.rawValue)) == 0 {
            accepted += 1
        }
        #expect(errno == EAGAIN)
        let settings = try LDAPSetup.realm(LDAPSetup.properties("ldapi://\(path)")).directory.settings
        let fault = #expect(throws: ServerFault.self) {
            _ = try LDAPConnection(
                settings.servers[0],
                settings: settings,
                call: ServerCall(until: MonotonicTime.now + 60_000_000_000)
            )
        }
        #expect(fault?.code == .full, "\(fault?.log ?? "")")
    }

    @Test func `a server that closes at StartTLS is connected to once, and is not blamed for its certificate`() throws {
        let server = try FakeDirectory { $0.operation == .extended ? [.close] : Self.answer($0) }
        let changes = ["start-tls": ["true"], "connect-timeout": ["60s"], "timeout": ["60s"]]
        let settings = try realm([server], changes).directory.settings
        let call = ServerCall(until: MonotonicTime.now + 60_000_000_000)
        let fault = #expect(throws: ServerFault.self) {
            _ = try LDAPConnection(settings.servers[0], settings: settings, call: call)
        }
        #expect(fault?.code == .unreachable)
        #expect(fault?.log == "no TLS connection: the server has closed the connection")
        #expect(server.connections == 1)
    }

    @Test func `an account that its entry calls disabled is refused by a server without locks, too`() async throws {
        let server = try FakeDirectory { request in
            guard request.operation == .search else { return Self.answer(request) }
            let attributes = [("uid", ["ann"]), ("pwdAccountLockedTime", ["000001010000Z"])]
            return [.send(BER.entry(request.number, Self.ann, attributes) + BER.result(request.number, 0x65))]
        }
        let direct: [String: [String]?] = [
            "search-bind-dn": nil, "search-bind-password": nil,
            "user-dn-pattern": ["uid=%s,ou=people,dc=example,dc=org"],
        ]
        for changes in [[:], direct] {
            let realm = try realm([server], changes)
            #expect(try await realm.login("ann", "right").failure == .disabled)
            #expect(try await realm.login("ann", "wrong").failure == .wrongCredentials)
        }
    }

    @Test func `a primary group that is not found refuses the login, wherever the users are`() async throws {
        // S-1-5-3-4-5, in the domain S-1-5-3-4, with the primary group S-1-5-3-4-7.
        let identifier = "\u{1}\u{3}\0\0\0\0\0\u{5}\u{3}\0\0\0\u{4}\0\0\0\u{5}\0\0\0"
        let hasGroup = Atomic(false)
        let server = try FakeDirectory { request in
            guard request.operation == .search else { return Self.answer(request) }
            let end = BER.result(request.number, 0x65)
            let isForAnn = request.content.contains(Array("ann".utf8))
            guard isForAnn || !request.content.contains(Array("objectSid".utf8)) else {
                let group = BER.entry(request.number, "cn=Crew,cn=Users,dc=example,dc=org", [("cn", ["Crew"])])
                let isInDomain = !request.content.contains(Array("ou=people".utf8))
                return [.send((isInDomain && hasGroup.load(ordering: .relaxed) ? group : []) + end)]
            }
            let attributes = [("uid", ["ann"]), ("objectSid", [identifier]), ("primaryGroupID", ["7"])]
            return [.send((isForAnn ? BER.entry(request.number, Self.ann, attributes) : []) + end)]
        }
        let log = LogEntries()
        let realm = try realm(
            [server],
            ["base-dn": ["ou=people,dc=example,dc=org"], "group-source": ["member-of"], "primary-group": ["true"]],
            log: log
        )
        for _ in 0..<2 { #expect(try await realm.login("ann", "right").failure == .unavailable) }
        #expect(log.contains("the primary group of \(Self.ann) is not found below dc=example,dc=org"), "\(log.all)")
        hasGroup.store(true, ordering: .relaxed)
        let report = try await realm.login("ann", "right")
        #expect(report.identity?.subject.groups == ["Crew"], "\(report.noteTexts) \(log.all)")
    }

    @Test(arguments: [false, true])
    func `a notice or an answer on an idle connection ends its use`(isAnswer: Bool) async throws {
        let server = try FakeDirectory(Self.answer)
        let log = LogEntries()
        let realm = try realm([server], log: log)
        #expect(try await realm.login("ann", "right").failure == nil)
        let connections = server.connections
        // The requests of the next login have numbers near these.
        server.sendUnasked(
            isAnswer ? (1..<8).flatMap { BER.result($0, 0x61) + BER.result($0, 0x65) } : BER.noticeOfDisconnection
        )
        #expect(try await realm.login("ann", "wrong").failure == .wrongCredentials)
        #expect(server.connections == connections + 2)
        #expect(try await realm.login("ann", "right").failure == nil)
        #expect(server.connections == connections + 2)
        #expect(log.all == [])
    }

    @Test func `an answer that was sent before its request is not taken for that of the bind`() async throws {
        let server = try FakeDirectory { request in
            // Together with the entry, the server sends answers for binds that never were.
            guard request.operation == .search else { return Self.answer(request) }
            guard case .send(let bytes) = Self.answer(request).first else { return [] }
            return [.send(bytes + (request.number..<request.number + 5).flatMap { BER.result($0, 0x61) })]
        }
        let realm = try realm([server])
        for _ in 0..<5 { #expect(try await realm.login("ann", "wrong").failure == .wrongCredentials) }
        #expect(try await realm.login("ann", "right").failure == nil)
    }

    @Test func `nothing that follows the answer to StartTLS without TLS is read`() async throws {
        let server = try FakeDirectory { request in
            guard request.operation == .extended else { return Self.answer(request) }
            let answers = (request.number + 1..<request.number + 5).flatMap { BER.result($0, 0x61) }
            return [.send(BER.result(request.number, 0x78) + answers)]
        }
        let realm = try realm([server], ["start-tls": ["true"], "ca-file": [LDAPSetup.pki.file("root.pem").path]])
        #expect(try await realm.login("ann", "right").failure == .unavailable)
        #expect(server.requests.allSatisfy { $0.operation != .bind })
    }

    @Test(arguments: [0, 2, 8, 80])
    func `a server that refuses StartTLS gets no password`(code: UInt8) async throws {
        let server = try FakeDirectory { request in
            guard request.operation == .extended else { return Self.answer(request) }
            return [.send(BER.result(request.number, 0x78, code: code))]
        }
        let realm = try realm([server], ["start-tls": ["true"], "ca-file": [LDAPSetup.pki.file("root.pem").path]])
        #expect(try await realm.login("ann", "right").failure == .unavailable)
        #expect(server.requests.allSatisfy { $0.operation != .bind })
    }

    @Test func `an entry of another user, or several, are not the user`() async throws {
        func server(_ names: [String], code: UInt8 = 0) throws -> FakeDirectory {
            try FakeDirectory { request in
                guard request.operation == .search else { return Self.answer(request) }
                let entries = names.flatMap {
                    BER.entry(request.number, "uid=\($0),dc=example,dc=org", [("uid", [$0])])
                }
                return [.send(entries + BER.result(request.number, 0x65, code: code))]
            }
        }
        func failure(_ names: [String], code: UInt8 = 0) async throws -> LoginFailure? {
            let server = try server(names, code: code)
            let failure = try await realm([server]).login("ann", "right").failure
            #expect(!server.requests.isEmpty)
            return failure
        }
        #expect(try await failure(["ann"]) == nil)
        #expect(try await failure(["ben"]) == .unknownUser)
        #expect(try await failure(["ann", "ann"]) == .unknownUser)
        #expect(try await failure(["ann", "ben", "eve"]) == .unavailable)
        // The server has more entries than it returns.
        #expect(try await failure(["ann"], code: 4) == .unavailable)
        #expect(try await failure([], code: 4) == .unavailable)
        // The server has two, and is asked for those whose name is that of the user.
        #expect(try await failure(["ann", "ben"]) == nil)
        #expect(try await failure(["ann", "ben"], code: 4) == .unavailable)
    }

    @Test(arguments: [1, 17])
    func `a message of more than 16 MiB is not read`(size: Int) async throws {
        let server = try FakeDirectory { request in
            guard request.operation == .search else { return Self.answer(request) }
            let text = String(repeating: "x", count: size << 20)
            let entry = BER.entry(request.number, Self.ann, [("uid", ["ann"]), ("description", [text])])
            return [.send(entry + BER.result(request.number, 0x65))]
        }
        let times = ["connect-timeout", "bind-timeout", "search-timeout", "timeout"]
        let log = LogEntries()
        let realm = try realm([server], [String: [String]?](times.map { ($0, ["60s"]) }) { $1 }, log: log)
        #expect(try await realm.login("ann", "right").failure == (size > 16 ? .unavailable : nil), "\(log.all)")
        #expect(!server.requests.isEmpty)
    }

    @Test func `ranges of groups that cannot be are an outage`() async throws {
        for range in ["0-9223372036854775807", "0-99999999999999999999", "0--1", "1-0", "0-0"] {
            let server = try FakeDirectory { request in
                guard request.operation == .search else { return Self.answer(request) }
                let attributes = [("uid", ["ann"]), ("memberOf;range=\(range)", ["cn=a,dc=example,dc=org"])]
                let entry = BER.entry(request.number, Self.ann, attributes)
                return [.send(entry + BER.result(request.number, 0x65))]
            }
            let realm = try realm([server], ["group-source": ["member-of"], "maximum-groups": ["20"]])
            #expect(try await realm.login("ann", "right").failure == .unavailable, "\(range)")
            #expect(!server.requests.isEmpty)
        }
    }
}
#endif
