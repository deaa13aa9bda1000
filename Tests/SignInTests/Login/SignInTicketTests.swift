// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import SeededRandom
import Testing

@testable import SignIn

@Suite struct SignInTicketTests {
    private let tickets: SignInTickets
    private let browser: Digest
    private let ticket = SignInTicket(destination: Destination(target: "/welcome?x=1"), notice: 7, issued: 1_000_000)

    init() throws {
        tickets = try SignInTickets()
        browser = try Digest.sha256([1])
    }

    private func open(_ text: some Collection<UInt8>, now: UInt64 = 1_000_000) throws -> SignInTicket? {
        try tickets.open(Array(text).span, from: browser, now: now, lifetime: 500)
    }

    @Test func `an opened ticket is equal to the sealed ticket`() throws {
        var random = Random(seed: 7)
        for _ in 0..<200 {
            let length = random.below(2048)
            let target = random.below(4) == 0 ? nil : String(repeating: "é", count: length / 2)
            let issued = random.next()
            let destination = Destination(
                target: target,
                challenge: random.below(2) == 0 ? nil : try Digest.sha256([UInt8(random.below(256))]),
                isRetry: random.below(2) == 0
            )
            let ticket = SignInTicket(destination: destination, notice: UInt8(random.below(256)), issued: issued)
            #expect(try open(tickets.seal(ticket, for: browser).utf8, now: issued) == ticket)
        }
    }

    @Test func `a ticket with a flipped bit does not open`() throws {
        let text = Array(try tickets.seal(ticket, for: browser).utf8)
        for index in text.indices {
            for bit in 0..<8 {
                var altered = text
                altered[index] ^= 1 << UInt8(bit)
                #expect(try open(altered) == nil)
            }
        }
    }

    @Test func `a shortened or lengthened ticket does not open`() throws {
        let text = Array(try tickets.seal(ticket, for: browser).utf8)
        for count in text.indices { #expect(try open(text.prefix(count)) == nil) }
        for byte in UInt8.min ... .max { #expect(try open(text + [byte]) == nil) }
        #expect(try open(text + Array("AAAA".utf8)) == nil)
        #expect(try open([UInt8](repeating: UInt8(ascii: "A"), count: SignInTickets.maximumLength + 4)) == nil)
    }

    @Test func `a ticket is valid only for its browser and its server`() throws {
        let text = try tickets.seal(ticket, for: browser)
        let other = try Digest.sha256([2])
        #expect(try tickets.open(text.utf8Span.span, from: other, now: 1_000_000, lifetime: 500) == nil)
        #expect(try SignInTickets().open(text.utf8Span.span, from: browser, now: 1_000_000, lifetime: 500) == nil)
        #expect(try open(text.utf8) == ticket)
    }

    @Test(
        arguments: [
            (999_999, false), (1_000_000, true), (1_000_500, true), (1_000_501, false), (UInt64.max, false), (0, false),
        ] as [(UInt64, Bool)]
    )
    func `a ticket expires after its lifetime`(now: UInt64, isGood: Bool) throws {
        #expect((try open(tickets.seal(ticket, for: browser).utf8, now: now) != nil) == isGood)
    }

    @Test func `an empty target and a missing target remain different after sealing`() throws {
        for target in ["", nil] {
            let ticket = SignInTicket(destination: Destination(target: target), issued: 1)
            #expect(try open(tickets.seal(ticket, for: browser).utf8, now: 1)?.destination.target == target)
        }
    }

    @Test func `random bytes are not opened as a ticket`() throws {
        var random = Random(seed: 8)
        for _ in 0..<2000 { #expect(try open(random.bytes(random.below(200))) == nil) }
    }
}
