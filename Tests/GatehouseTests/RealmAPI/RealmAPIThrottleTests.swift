// SPDX-License-Identifier: Apache-2.0

import Testing
import Throttle

@testable import SignIn

@Suite struct RealmAPIThrottleTests {
    @Test func `after the limit of failures an account is locked, and the response stays the same`() async throws {
        let asked = try AskedServer { $0.failures = 3 }
        var seen: Set<String> = []
        for _ in 0..<3 { seen.insert(try await asked.check("ann", "wrong").bytes) }
        seen.insert(try await asked.check("ann", "right").bytes)
        #expect(seen.count == 1)
        #expect(asked.throttle.lockouts.map { "\($0.key)" } == ["ann@people"])
        // The lock is the same for all programs and for HTTP Basic.
        let basic = try await asked.send("GET", "/", token: nil, fields: ["Authorization: Basic YW5uOnJpZ2h0"])
        #expect(basic.response.status == 401)
    }

    @Test func `wrong passwords of many users do not lock the network of the program`() async throws {
        let asked = try AskedServer { $0.sourceFailures = 3 }
        for number in 0..<10 { _ = try await asked.check("user-\(number)", "wrong") }
        #expect(asked.throttle.lockouts.isEmpty)
        #expect(try await asked.check("ann", "right").response.json("outcome") == "accepted")
    }

    @Test func `with the address of the user, failures count for this address`() async throws {
        let asked = try AskedServer { $0.sourceFailures = 3 }
        let (token, peer) = (AskedServer.otherToken, "10.1.2.3")
        for number in 0..<3 {
            let more = ",\"address\":\"203.0.113.9\",\"service\":\"imap\""
            _ = try await asked.check("user-\(number)", "wrong", token: token, from: peer, more: more)
        }
        #expect(asked.throttle.lockouts.map { "\($0.key)" } == ["203.0.113.9"])
        let same = try await asked.check("ann", "right", token: token, from: peer, more: ",\"address\":\"203.0.113.9\"")
        #expect(same.response.body == RealmAPITests.refused)
        let mapped = ",\"address\":\"::ffff:203.0.113.9\""
        let other = try await asked.check("ann", "right", token: token, from: peer, more: mapped)
        #expect(other.response.body == RealmAPITests.refused)
        let free = try await asked.check(
            "ann",
            "right",
            token: token,
            from: peer,
            more: ",\"address\":\"203.0.113.10\""
        )
        #expect(free.response.json("outcome") == "accepted")
        #expect(asked.server.log.text.contains("203.0.113.9"))
    }

    @Test func `a program that may not name an address is refused if it does`() async throws {
        let asked = try AskedServer()
        let answer = try await asked.check("ann", "right", more: ",\"address\":\"203.0.113.9\"").response
        #expect(answer.status == 403)
        #expect(asked.server.log.text.contains("address-not-allowed"))
    }

    @Test func `wrong tokens are delayed more and more by network, and a right token is still accepted`() async throws {
        let asked = try AskedServer { $0.failures = 4 }
        var delays: [Int] = []
        for number in 0..<6 {
            delays.append(try await asked.send("GET", "/realms", token: "wrong-\(number)").milliseconds)
        }
        #expect(delays == [250, 500, 1000, 2000, 2000, 2000])
        #expect(try await asked.send("GET", "/realms", token: "wrong", from: "198.51.100.1").milliseconds == 250)
        let right = try await asked.send("GET", "/realms")
        #expect(right.response.status == 200 && right.milliseconds == 0)
        // Users of the same network can still log in.
        let basic = try await asked.send("GET", "/", token: nil, fields: ["Authorization: Basic YW5uOnJpZ2h0"])
        #expect(basic.response.status == 200)
        // A missing token is no guess.
        #expect(try await asked.send("GET", "/realms", token: nil).milliseconds == 0)
    }
}
