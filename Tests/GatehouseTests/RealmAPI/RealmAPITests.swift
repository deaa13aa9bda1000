// SPDX-License-Identifier: Apache-2.0

import Sessions
import Testing
import Throttle

@testable import SignIn

@Suite struct RealmAPITests {
    static let refused = "{\"outcome\":\"refused\",\"reason\":\"wrong-credentials\"}\n"

    @Test func `right credentials are accepted with groups and principals, and no session begins`() async throws {
        let asked = try AskedServer()
        let answer = try await asked.check("ann", "right").response
        #expect(answer.status == 200)
        #expect(answer["content-type"] == "application/json")
        #expect(answer["cache-control"] == "no-store")
        #expect(answer["set-cookie"] == nil)
        #expect(
            answer.body == """
                {"attributes":{"displayName":["Ann \\u003cb\\u003e","Ännchen"]},"groups":["Staff","Everyone"],"outcome":"accepted","principals":[\
                {"kind":"user","name":"ann"},{"kind":"group","name":"Staff"},{"kind":"group","name":"Everyone"}],\
                "user":"ann"}

                """
        )
        #expect(asked.server.sessions.count == 0)
        #expect(try await asked.check("ann", "right", in: "a%20b").response.json("user") == "ann")
    }

    @Test func `all refused users get the same bytes after the same delay, and count equally`() async throws {
        var seen: Set<String> = []
        let guesses = [
            ("ann", "wrong"), ("bob", "right"), ("locked", "right"), ("disabled", "right"), ("expired", "right"),
            ("ann", ""),
        ]
        for (name, password) in guesses {
            let asked = try AskedServer()
            let first = try await asked.check(name, password)
            let next = try await asked.check(name, "wrong too")
            #expect(first.response.body == Self.refused)
            #expect(first.milliseconds == 250 && next.milliseconds == 500)
            seen.insert(first.bytes)
            seen.insert(next.bytes)
        }
        #expect(seen.count == 1)
    }

    @Test func `a program that may learn reasons gets the reason of the refusal`() async throws {
        let asked = try AskedServer()
        let reasons = [
            ("ann", "wrong-credentials"), ("bob", "unknown-user"), ("locked", "locked"), ("disabled", "disabled"),
            ("expired", "account-expired"), (String(repeating: "n", count: 1025), "unknown-user"),
        ]
        for (name, reason) in reasons {
            let answer = try await asked.check(name, "wrong", token: AskedServer.detailsToken).response
            #expect(answer.body == "{\"outcome\":\"refused\",\"reason\":\"\(reason)\"}\n")
        }
        let missing = try await asked.check("ann", "right", in: "code", token: AskedServer.detailsToken).response
        #expect(missing.body == "{\"outcome\":\"refused\",\"reason\":\"missing-credential\"}\n")
        // Only after the right password does the second module run, and it is unavailable.
        let hidden = try await asked.check("ann", "right", in: "hidden", token: AskedServer.detailsToken).response
        #expect(hidden.status == 503)
        #expect(try await asked.check("ann", "right", in: "hidden").response.body == Self.refused)
    }

    @Test func `a user name that no user can have is refused`() async throws {
        let asked = try AskedServer()
        for name in [String(repeating: "n", count: 1025), "", " ann", "an\\u0007n", "ann\\u2028"] {
            let answer = try await asked.check(name, "right")
            #expect(answer.response.status == 200 && answer.response.body == Self.refused)
        }
    }

    @Test func `codes answer the questions after the password, and a missing code is refused and counted`()
        async throws
    {
        let asked = try AskedServer { $0.failures = 3 }
        #expect(
            try await asked.check("ann", "right", in: "code", more: ",\"codes\":[\"123456\"]").response.json("outcome")
                == "accepted"
        )
        for codes in ["", ",\"codes\":[]", ",\"codes\":[\"1\"]"] {
            #expect(try await asked.check("ann", "right", in: "code", more: codes).response.body == Self.refused)
        }
        #expect(asked.throttle.lockouts.map { "\($0.key)" } == ["ann@code"])
        #expect(
            try await asked.check("ann", "right", in: "code", more: ",\"codes\":[\"123456\"]").response.body
                == Self.refused
        )
    }

    @Test(arguments: [("down", "unavailable"), ("busy", "overloaded")])
    func `an unavailable or overloaded realm is 503 with Retry-After and locks no account`(
        realm: String,
        error: String
    ) async throws {
        let asked = try AskedServer { $0.failures = 2 }
        for _ in 0..<4 {
            let answer = try await asked.check("ann", "wrong", in: realm).response
            #expect(answer.status == 503 && answer["retry-after"] == "5")
            #expect(answer.body == "{\"error\":\"\(error)\"}\n")
        }
        #expect(asked.throttle.lockouts.isEmpty)
        #expect(asked.server.log.text.contains("\(error) module=0"))
    }

    @Test func `the list contains the realms of the program only`() async throws {
        let asked = try AskedServer()
        let list = try await asked.send("GET", "/realms", token: AskedServer.detailsToken).response
        #expect(list.status == 200)
        #expect(
            list.body == """
                {"realms":[{"auth_type":"People","name":"people"},{"auth_type":"People","name":"code"},\
                {"auth_type":"People","name":"hidden"}]}

                """
        )
        let head = try await asked.send("HEAD", "/realms").response
        #expect(head.status == 200 && head.body.isEmpty)
    }

    @Test func `the realm of another program and an unknown realm get the same bytes`() async throws {
        let asked = try AskedServer()
        var seen: Set<String> = []
        for realm in ["down", "nowhere", "people%CC%81", "PEOPLE", "%2e"] {
            let answer = try await asked.check("ann", "right", in: realm, token: AskedServer.detailsToken)
            if realm == "%2e" {
                #expect(answer.response.status == 400)
            } else {
                #expect(answer.response.status == 403)
                #expect(answer.response.body == "{\"error\":\"forbidden\"}\n")
                seen.insert(answer.bytes)
            }
        }
        #expect(seen.count == 1)
    }

    @Test func `without a token or with a wrong token the response is 401 with a challenge`() async throws {
        let asked = try AskedServer()
        for (token, challenge) in [
            (nil, "Bearer realm=\"realm-api\""), ("x", "Bearer realm=\"realm-api\", error=\"invalid_token\""),
            (AskedServer.token.uppercased(), "Bearer realm=\"realm-api\", error=\"invalid_token\""),
            (AskedServer.token + "0", "Bearer realm=\"realm-api\", error=\"invalid_token\""),
        ] {
            for (method, path) in [("GET", "/realms"), ("POST", "/realms/people/check"), ("POST", "/realms/no/check")] {
                let answer = try await asked.send(method, path, token: token, body: method == "POST" ? "{}" : nil)
                #expect(answer.response.status == 401)
                #expect(answer.response["www-authenticate"] == challenge)
                #expect(answer.response.body == "{\"error\":\"unknown-program\"}\n")
            }
        }
        let basic = try await asked.send("GET", "/realms", token: nil, fields: ["Authorization: Basic YW5uOnJpZ2h0"])
        #expect(basic.response.status == 401)
        let two = "Authorization: Bearer \(AskedServer.token)"
        #expect(try await asked.send("GET", "/realms", fields: [two]).response.status == 401)
        // A browser with a session cookie is no program.
        #expect(try await asked.send("GET", "/realms", token: nil, fields: ["Cookie: a=b"]).response.status == 401)
    }

    @Test func `a program of another network is refused, and a proxy passes on the address of the program`()
        async throws
    {
        let asked = try AskedServer()
        let token = AskedServer.otherToken
        #expect(try await asked.check("ann", "right", token: token, from: "192.0.2.7").response.status == 403)
        #expect(try await asked.check("ann", "right", token: token, from: "10.1.2.3").response.status == 200)
        #expect(asked.server.log.text.contains("a program was refused: wrong-network"))
        for (forwarded, status) in [("10.1.2.3", 200), ("192.0.2.7", 403), ("10.1.2.3, 192.0.2.7", 403)] {
            let answer = try await asked.send(
                "GET",
                "/realms",
                token: token,
                from: "192.0.2.200",
                fields: ["X-Forwarded-For: \(forwarded)"]
            )
            #expect(answer.response.status == status)
        }
        // Other peers cannot name an address of their own.
        let forged = try await asked.send("GET", "/realms", token: token, fields: ["X-Forwarded-For: 10.1.2.3"])
        #expect(forged.response.status == 403)
    }

    @Test(arguments: [
        ("", "a syntax error, at byte 0"), ("{", "a syntax error, at byte 1"), ("[]", "a syntax error, at byte 0"),
        ("{\"username\":\"ann\",\"password\":\"right\"", "a syntax error, at byte 36"),
        ("{\"username\":\"ann\",\"username\":\"bob\"}", "a duplicate name, at byte 18"),
        ("{\"username\":\"an\\u0000n\"}", "a NUL character, at byte 15"),
        ("{\"username\":{\"a\":1}}", "a nested object or array, at byte 12"),
        ("{\"username\":1.5}", "a number that is not an integer of up to nine digits, at byte 12"),
        ("{\"username\":\"\\ud800\"}", "a surrogate that is not part of a pair, at byte 13"),
        ("{\"username\":\"ann\"}", "password is missing or not a string"),
        ("{\"password\":\"right\"}", "username is missing or not a string"),
        ("{\"username\":1,\"password\":\"right\"}", "username is missing or not a string"),
        ("{\"username\":\"ann\",\"password\":null}", "password is missing or not a string"),
        (
            "{\"username\":\"ann\",\"password\":\"x\",\"adress\":\"192.0.2.1\"}",
            "an unknown field; the fields are username, password, codes, service, address"
        ),
        (
            "{\"username\":\"ann\",\"password\":\"x\",\"codes\":\"1\"}", "codes is not an array of up to 3 strings"
        ),
        (
            "{\"username\":\"ann\",\"password\":\"x\",\"codes\":[\"\",\"\",\"\",\"\"]}",
            "codes is not an array of up to 3 strings"
        ),
        (
            "{\"username\":\"ann\",\"password\":\"x\",\"service\":\"../x\"}",
            "service is not a string of 1 to 64 letters, digits, - _ and ., and does not begin with ."
        ),
        (
            "{\"username\":\"ann\",\"password\":\"x\",\"address\":\"192.0.2.1\\r\\nX: y\"}",
            "address is not an IPv4 or IPv6 address"
        ),
        ("{\"username\":\"ann\",\"password\":\"x\",\"address\":null}", "address is not an IPv4 or IPv6 address"),
        (
            "{\"username\":\"a\",\"password\":\"x\",\"address\":\"1.2.3.4%eth0\"}",
            "address is not an IPv4 or IPv6 address"
        ),
        (
            "{\"username\":\"a\",\"password\":\"x\",\"address\":\"2001:db8::1%eth0\"}",
            "address is not an IPv4 or IPv6 address"
        ),
        ("{\"username\":\"a\",\"password\":\"x\",\"address\":\"fe80::1%\"}", "address is not an IPv4 or IPv6 address"),
        (
            "{\"username\":\"a\",\"password\":\"x\",\"address\":\"fe80::1%0123456789abcdef\"}",
            "address is not an IPv4 or IPv6 address"
        ),
    ])
    func `a malformed body is refused with the reason and its place`(body: String, reason: String) async throws {
        let answer = try await AskedServer().send("POST", "/realms/people/check", body: body).response
        #expect(answer.status == 400)
        #expect(answer.body == "{\"error\":\"malformed\",\"reason\":\"\(reason)\"}\n")
    }

    @Test func `the zone of a link-local address is dropped`() async throws {
        let asked = try AskedServer()
        let more = ",\"address\":\"fe80::1%eth0\""
        let answer = try await asked.check("ann", "right", token: AskedServer.otherToken, from: "10.0.0.1", more: more)
        #expect(answer.response.status == 200)
        #expect(asked.server.log.text.contains("fe80::1") && !asked.server.log.text.contains("eth0"))
    }

    @Test func `other media types, long bodies and other methods are refused`() async throws {
        let asked = try AskedServer()
        let body = "{\"username\":\"ann\",\"password\":\"right\"}"
        for type in ["text/plain", "application/x-www-form-urlencoded", nil] {
            let answer = try await asked.send("POST", "/realms/people/check", type: type, body: body).response
            #expect(answer.status == 415 && answer.body == "{\"error\":\"unsupported-media-type\"}\n")
        }
        let parameter = "Application/JSON; charset=utf-8"
        #expect(
            try await asked.send("POST", "/realms/people/check", type: parameter, body: body).response.status == 200
        )
        let long = try await asked.check("ann", String(repeating: "p", count: 40_000)).response
        #expect(long.status == 413 && long.body == "{\"error\":\"too-large\"}\n")
        for (method, path, allowed) in [
            ("POST", "/realms", "GET, HEAD"), ("OPTIONS", "/realms/people/check", "POST"),
            ("GET", "/realms/people/check", "POST"), ("DELETE", "/realms", "GET, HEAD"),
        ] {
            let answer = try await asked.send(method, path).response
            #expect(answer.status == 405 && answer["allow"] == allowed)
            #expect(answer.body == "{\"error\":\"method-not-allowed\"}\n")
        }
        let foreign = try await asked.send(
            "POST",
            "/realms/people/check",
            body: body,
            fields: ["Origin: https://evil.example"]
        )
        #expect(foreign.response.status == 403)
    }

    @Test func `other paths, and all paths without a realm-api block, belong to the application`() async throws {
        let asked = try AskedServer()
        for path in ["/realms/", "/realms/people", "/realms/people/check/", "/realms/people/check/x", "/realm"] {
            #expect(try await asked.send("GET", path).response.status == 401)
            let basic = try await asked.send("GET", path, token: nil, fields: ["Authorization: Basic YW5uOnJpZ2h0"])
            #expect(basic.response.status == 200)
        }
        let start = try #require(AskedServer.configuration.firstRange(of: "realm-api {"))
        let end = try #require(AskedServer.configuration.firstRange(of: "protect / {"))
        let without =
            AskedServer.configuration[..<start.lowerBound] + "}\n" + AskedServer.configuration[end.lowerBound...]
        let plain = try AskedServer(String(without))
        for path in ["/realms", "/realms/people/check"] {
            let answer = try await plain.send("GET", path).response
            #expect(answer.status == 401 && answer["www-authenticate"]?.hasPrefix("Basic ") == true)
        }
    }

    @Test func `no log line contains a password, a code or a token`() async throws {
        let asked = try AskedServer()
        _ = try await asked.check("ann", "right", in: "code", more: ",\"codes\":[\"123456\"]")
        _ = try await asked.check("ann", "sesame-4711")
        _ = try await asked.check("ann", "sesame-4711", in: "nowhere")
        _ = try await asked.check("ann", "sesame-4711", token: "wrong-token-4711")
        _ = try await asked.send("POST", "/realms/people/check", body: "{\"password\":\"sesame-4711\"")
        let log = asked.server.log.text
        for secret in ["right", "123456", "4711", AskedServer.token] { #expect(!log.contains(secret)) }
        #expect(log.contains("a program has checked a login: accepted"))
        #expect(log.contains("a program has checked a login: refused: wrong-credentials"))
        #expect(log.contains("program=mail wrong-realm"))
        #expect(log.contains("a program was refused: wrong-token"))
    }
}
