// SPDX-License-Identifier: Apache-2.0

import TLSTesting
import Testing

@testable import OpenSSLKit

@Suite struct SessionTests {
    let identity: TLSIdentity
    let clock = TestClock()

    init() throws {
        identity = try localIdentity()
    }

    private func client(_ version: TLSVersion) throws -> ReturningClient {
        try ReturningClient(.client(trusting: .authorities([identity.leaf])), version)
    }

    private func keys(rotation: Int64 = 3_600, lifetime: Int64 = 7_200) throws -> SessionTicketKeys {
        let clock = clock
        return try SessionTicketKeys(rotation: rotation, lifetime: lifetime, now: { clock.now })
    }

    private func server(_ keys: SessionTicketKeys?, scope: String = "") throws -> TLSContext {
        var configuration = TLSConfiguration.server(identity, sessionTickets: keys)
        configuration.sessionScope = scope
        return try TLSContext(configuration)
    }

    @Test(arguments: TLSVersion.allCases)
    func `a session is resumed several times, each time with the ticket of the previous connection`(
        version: TLSVersion
    ) throws {
        let server = try server(keys())
        let client = try client(version)
        #expect(try !client.connect(to: server).server.tls.info.isResumed)
        for _ in 0..<3 {
            let pair = try client.connect(to: server)
            #expect(pair.server.tls.info.isResumed && pair.client.tls.info.isResumed)
            #expect(pair.server.tls.info.version == version)
        }
    }

    @Test(arguments: TLSVersion.allCases)
    func `without ticket keys no session is resumed`(version: TLSVersion) throws {
        let server = try server(nil)
        let client = try client(version)
        try client.connect(to: server)
        #expect(try !client.isResumed(by: server))
    }

    @Test(arguments: TLSVersion.allCases)
    func `a session is resumed by a server with the same keys and scope, and not with other keys or another scope`(
        version: TLSVersion
    ) throws {
        let keys = try keys()
        let client = try client(version)
        try client.connect(to: server(keys))
        #expect(try client.isResumed(by: server(keys)))
        #expect(try !client.isResumed(by: server(self.keys())))
        #expect(try !client.isResumed(by: server(keys, scope: "other")))
    }

    @Test(arguments: TLSVersion.allCases)
    func `keys rotate, a replaced key opens its tickets until they expire, and opened tickets are replaced`(
        version: TLSVersion
    ) throws {
        let keys = try keys(rotation: 3_600, lifetime: 7_200)
        let server = try server(keys)
        let client = try client(version)
        try client.connect(to: server)
        clock.advance(by: 3_600)
        // The connection of another client makes the new key.
        try self.client(version).connect(to: server)
        #expect(keys.count == 2)
        #expect(try client.isResumed(by: server))
        // The first client's session now has a ticket of the new key.
        try client.connect(to: server)
        clock.advance(by: 7_201)
        try self.client(version).connect(to: server)
        #expect(keys.count == 2, "the first key is dropped, and the second and third key are kept")
        #expect(try client.isResumed(by: server))
    }

    @Test func `a key opens no tickets after its last ticket has expired`() throws {
        let keys = try keys(rotation: 3_600, lifetime: 7_200)
        let server = try server(keys)
        let client = try client(.tls13)
        try client.connect(to: server)
        clock.advance(by: 3_600)
        try self.client(.tls13).connect(to: server)
        clock.advance(by: 7_200)
        #expect(keys.count == 2)
        #expect(try client.isResumed(by: server))
        clock.advance(by: 1)
        #expect(try !client.isResumed(by: server))
    }

    @Test func `a new key is made if the clock is set back`() throws {
        let keys = try keys(rotation: 3_600, lifetime: 7_200)
        clock.advance(by: -100_000)
        try client(.tls13).connect(to: server(keys))
        #expect(keys.count == 2)
    }

    @Test(arguments: TLSVersion.allCases)
    func `the first key file encrypts tickets, and all key files decrypt them`(version: TLSVersion) throws {
        let files = try (0..<3).map { _ in try RandomBytes.make(SessionTicketKeys.fileSize) }
        let first = try server(SessionTicketKeys(files: [files[0]]))
        let second = try server(SessionTicketKeys(files: [files[1], files[0]]))
        let third = try server(SessionTicketKeys(files: [files[2], files[1]]))
        let client = try client(version)
        try client.connect(to: first)
        #expect(try !client.isResumed(by: third))
        #expect(try client.isResumed(by: second))
        try client.connect(to: second)
        #expect(try client.isResumed(by: third))
    }

    @Test(arguments: [
        ([], "empty list of ticket keys"), ([79], "ticket key 1 of 79 bytes"), ([80, 48], "ticket key 2 of 48 bytes"),
        ([0], "ticket key 1 of 0 bytes"),
    ])
    func `key files of a wrong length are refused`(sizes: [Int], text: String) throws {
        let files = try sizes.map { try RandomBytes.make($0) }
        let error = #expect(throws: OpenSSLError.self) { try SessionTicketKeys(files: files) }
        #expect(error?.code == .invalidConfiguration && error?.context.contains(text) == true)
    }

    @Test func `key files of zeros or with the same name, and times out of range, are refused`() throws {
        let zeros = [UInt8](repeating: 0, count: 80)
        #expect(throws: OpenSSLError.self) { try SessionTicketKeys(files: [zeros]) }
        let key = try RandomBytes.make(80)
        let twin = Array(key[..<16]) + (try RandomBytes.make(64))
        #expect(throws: OpenSSLError.self) { try SessionTicketKeys(files: [key, twin]) }
        #expect(throws: OpenSSLError.self) { try SessionTicketKeys(rotation: 59, now: { 0 }) }
        #expect(throws: OpenSSLError.self) { try SessionTicketKeys(lifetime: 0, now: { 0 }) }
        #expect(throws: OpenSSLError.self) { try SessionTicketKeys(lifetime: 604_801, now: { 0 }) }
    }

    @Test(arguments: TLSVersion.allCases)
    func `a ticket with a changed byte is not resumed`(version: TLSVersion) throws {
        let server = try server(keys())
        let client = try client(version)
        try client.connect(to: server)
        let session = try #require(client.session)
        let der = session.der()
        let ticket = session.ticket
        let place = try #require((0..<der.count).first { der[$0...].starts(with: ticket) })
        for offset in [0, 15, 16, 31, 32, 100, ticket.count - 32, ticket.count - 1] {
            var changed = der
            changed[place + offset] ^= 0x40
            let forged = try #require(TLSSession(der: changed))
            let pair = try Pair(server: server, client: TLSContext(clientConfiguration(version)))
            try pair.client.tls.resume(forged)
            try pair.shakeHands()
            #expect(!pair.server.tls.info.isResumed && !pair.client.tls.info.isResumed, "byte \(offset)")
        }
    }

    private func clientConfiguration(_ version: TLSVersion) -> TLSConfiguration {
        var configuration = TLSConfiguration.client(trusting: .authorities([identity.leaf]))
        configuration.maximumVersion = version
        return configuration
    }

    @Test func `no early data is offered`() throws {
        let client = try client(.tls13)
        try client.connect(to: server(keys()))
        #expect(try #require(client.session).maximumEarlyData == 0)
    }
}
