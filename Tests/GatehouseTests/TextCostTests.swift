// SPDX-License-Identifier: Apache-2.0

import Bytes
import RealmKit
import RealmTesting
import Sessions
import TestTools
import Testing
import Throttle

@testable import AccessControl
@testable import SignIn

/// Tests that the cost of a client's text depends on the length of the text, not on its characters.
///
/// Swift compares and hashes `String` by canonical equivalence. For a long sequence of combining marks in mixed order,
/// the time grows with the square of the length. With the lengths in these tests, marks would take 20 to 100 times as
/// long as ASCII letters. The tests send marks and letters in each part of a request, and compare the processor times.
/// Both times include the rest of the request, which makes the ratio smaller. The bound is therefore far below 20.
@Suite struct TextCostTests {
    /// The maximum ratio of the cost of marks to the cost of letters.
    static let bound = 3.0

    /// A part of a request in which a client may send text.
    struct Entry: Sendable, CustomTestStringConvertible {
        /// The encoding of the text.
        enum Form: Sendable {
            case raw, percent, json
        }

        let name: String
        var form = Form.raw
        var count = 8000
        /// The number of requests.
        ///
        /// A short text needs several requests, because it costs little compared with the rest of a request.
        var times = 1
        let request: @Sendable (_ text: String) -> String

        var testDescription: String { name }

        /// Returns requests with a text of about `count` encoded bytes.
        func requests(_ isMarks: Bool) -> String { String(repeating: request(text(isMarks)), count: times) }

        private func text(_ isMarks: Bool) -> String {
            let unit =
                switch (form, isMarks) {
                case (.raw, true), (.json, true): "\u{301}\u{323}"
                case (.raw, false), (.json, false): "abcd"
                case (.percent, true): "%CC%81%CC%A3"
                case (.percent, false): "%61%62%63%64"
                }
            return String(repeating: unit, count: count / unit.utf8.count)
        }
    }

    private static func get(_ target: String, _ fields: [String] = []) -> String {
        (["GET \(target) HTTP/1.1", "Host: house.example"] + fields + ["", ""]).joined(separator: "\r\n")
    }

    private static func post(_ target: String, _ type: String, _ body: String, _ fields: [String] = []) -> String {
        let head = [
            "POST \(target) HTTP/1.1", "Host: house.example", "Content-Type: \(type)",
            "Content-Length: \(body.utf8.count)",
        ]
        return (head + fields + ["", ""]).joined(separator: "\r\n") + body
    }

    private static let form = "application/x-www-form-urlencoded"

    /// A cookie in valid form.
    ///
    /// The form is read only if the request has this cookie.
    private static let cookie = ["Cookie: __Host-gatehouse-sign-in=" + String(repeating: "A", count: 43)]

    private static let fields: [Entry] = [
        "Accept", "Accept-Language", "Authorization", "Connection", "Content-Type", "Cookie", "Expect", "Forwarded",
        "Last-Event-ID", "Origin", "Referer", "Sec-Fetch-Mode", "Sec-Fetch-Site", "TE", "Upgrade", "User-Agent",
        "X-Forwarded-For", "X-Forwarded-Host", "X-Requested-With", "X-Unknown",
    ].flatMap { name in
        [
            Entry(name: "\(name) of a page") { get("/welcome", ["\(name): \($0)"]) },
            Entry(name: "\(name) of a sign-in") { post("/sign-in", form, "username=a", ["\(name): \($0)"]) },
            Entry(name: "\(name) of the session API") {
                post("/session", "application/json", "{\"username\":\"a\",\"password\":\"b\"}", ["\(name): \($0)"])
            },
        ]
    }

    private static let proxies: [Entry] = [
        "X-Original-URL", "X-Original-Method", "X-Forwarded-Method", "X-Forwarded-Proto", "X-Forwarded-Host",
        "X-Forwarded-Uri", "X-Forwarded-For", "Sec-Fetch-Mode",
    ].flatMap { name in
        ["nginx", "caddy", "traefik", "haproxy", "envoy"].map { proxy in
            let rest = [
                "X-Forwarded-For: 192.0.2.1", "X-Original-URL: https://house.example/welcome",
                "X-Original-Method: GET", "X-Forwarded-Method: GET", "X-Forwarded-Proto: https",
                "X-Forwarded-Host: house.example", "X-Forwarded-Uri: /welcome",
            ].filter { !$0.hasPrefix(name + ":") }
            return Entry(name: "\(name) of a forward-auth request of \(proxy)") {
                get("/auth/\(proxy)\(proxy == "envoy" ? "/welcome" : "")", rest + ["\(name): \($0)"])
            }
        }
    }

    private static let targets: [Entry] = [
        Entry(name: "a path", form: .percent) { get("/" + $0) },
        Entry(name: "a path below a rule", form: .percent) { get("/welcome/" + $0) },
        Entry(name: "the path of a session", form: .percent) { get("/sessions/" + $0) },
        Entry(name: "a path of forward authentication", form: .percent) { get("/auth/" + $0) },
        Entry(name: "a path with many segments", form: .percent) {
            get("/" + $0 + "/" + $0, [])
        },
        Entry(name: "the name of a query's field", form: .percent) { get("/sign-in?\($0)=x") },
        Entry(name: "a return target", form: .percent) { get("/sign-in?return=/\($0)") },
        Entry(name: "a ticket", form: .percent) { get("/sign-in?ticket=\($0)") },
        Entry(name: "the path of a forward-auth request", form: .percent) {
            get(
                "/auth/nginx",
                [
                    "X-Forwarded-For: 192.0.2.1", "X-Original-URL: https://house.example/\($0)",
                    "X-Original-Method: GET",
                ]
            )
        },
    ].map { entry in
        guard entry.name == "a path with many segments" else { return entry }
        return Entry(name: entry.name, form: .percent, count: 3600, request: entry.request)
    }

    private static let bodies: [Entry] =
        ["csrf", "number", "others", "password", "ticket", "username"].map { name in
            Entry(name: "\(name) of the sign-in form", form: .percent, count: 30_000) {
                post("/sign-in", form, "\(name)=\($0)", cookie)
            }
        }
        + [
            Entry(name: "the name of a form's field", form: .percent, count: 30_000) {
                post("/sign-in", form, "\($0)=1", cookie)
            },
            Entry(name: "a form's field of the API", form: .percent, count: 30_000) {
                post("/session", form, "username=a&password=b&\($0)=1")
            },
            Entry(name: "the realm of the API's form", form: .percent, count: 30_000) {
                post("/session", form, "username=a&password=b&realm=\($0)")
            },
            Entry(name: "a name of JSON", form: .json, count: 30_000) {
                post("/session", "application/json", "{\"username\":\"a\",\"password\":\"b\",\"\($0)\":1}")
            },
            Entry(name: "the user of JSON", form: .json, count: 30_000) {
                post("/session", "application/json", "{\"username\":\"\($0)\",\"password\":\"b\"}")
            },
            Entry(name: "the password of JSON", form: .json, count: 30_000) {
                post("/session", "application/json", "{\"username\":\"a\",\"password\":\"\($0)\"}")
            },
            Entry(name: "the realm of JSON", form: .json, count: 30_000) {
                post("/session", "application/json", "{\"username\":\"a\",\"password\":\"b\",\"realm\":\"\($0)\"}")
            },
            Entry(name: "an answer of a second page", form: .percent, count: 30_000) {
                post("/sign-in/step", form, "number=1&answer-0=\($0)", cookie)
            },
            Entry(name: "the number of a second page", form: .percent, count: 30_000) {
                post("/sign-in/step", form, "number=\($0)", cookie)
            },
            Entry(name: "an answer of JSON", form: .json, count: 30_000) {
                post("/session", "application/json", "{\"number\":1,\"answers\":[\"\($0)\"]}")
            },
        ]

    private static let users: [Entry] = [
        Entry(name: "a user name", form: .json, count: 1000, times: 40) {
            post("/session", "application/json", "{\"username\":\"z\($0)\",\"password\":\"b\"}")
        },
        Entry(name: "a user name that is refused", form: .json, count: 1000, times: 40) {
            post("/session", "application/json", "{\"username\":\"a\($0)\",\"password\":\"b\"}")
        },
        Entry(name: "a user name of Basic that is refused", form: .json, count: 1000, times: 40) {
            get("/welcome", ["Authorization: Basic \(Base64Text.encode("a\($0):x"))"])
        },
        Entry(name: "a user name of Basic in several realms", form: .json, count: 1000, times: 40) {
            get("/both", ["Authorization: Basic \(Base64Text.encode("a\($0):x"))"])
        },
        Entry(name: "a user name of Basic", form: .json, count: 1000, times: 40) {
            get("/welcome", ["Authorization: Basic \(Base64Text.encode("z\($0):x"))"])
        },
    ]

    private static let configuration = """
        default-realm town;
        login town { StartWithLoginModule required; }
        realm town { class StartWithRealm; jaas-context town; startWith z; }
        realm city { class StartWithRealm; jaas-context town; startWith y; }
        server { listen 127.0.0.1:0; trusted-proxies 127.0.0.1; FORWARDED }
        protect /welcome { realm town; auth form basic; require any; }
        protect /both { realm town city; auth form basic; require any; }
        protect other.example/ { realm town; auth form basic; require user zoe; }
        """

    /// Returns the processor time of a request in nanoseconds.
    private func cost(_ request: String, _ server: TestServer) async throws -> Double {
        try await ProcessorTime.measure { _ = try await server.bytes(request) }
    }

    @Test(arguments: fields + proxies + targets + bodies + users)
    func `combining marks in a request cost no more than letters`(entry: Entry) async throws {
        // Locks and delays are turned off, so that the requests differ only in their text.
        var settings = ThrottleSettings()
        settings.failures = 1_000_000
        settings.sourceFailures = 1_000_000
        settings.delay = .zero
        let clock = ManualClock(now: 1_000_000_000_000)
        for forwarded in entry.name.hasPrefix("X-Forwarded-Host") ? ["", "forwarded-host on;"] : [""] {
            let throttle = FailureThrottle(settings, clock: clock, wall: { 0 }, jitter: { 0 })
            let text = Self.configuration.replacing("FORWARDED", with: forwarded)
            let server = try TestServer(text, throttle: throttle)
            let (letters, marks) = (entry.requests(false), entry.requests(true))
            let ratio = try await CostRatio(
                below: Self.bound,
                of: { try await cost(marks, server) },
                to: { try await cost(letters, server) }
            )
            #expect(ratio.value < Self.bound, "\(entry.name): \(ratio)")
        }
    }

    /// Tests texts that a signed-in user may send, and pages that show a user name.
    @Test(arguments: [
        "csrf of a sign-out", "csrf of the account page", "Last-Event-ID", "the page of a user", "the API",
    ])
    func `combining marks in requests of a session cost no more than letters`(place: String) async throws {
        func requests(of unit: String) async throws -> (TestServer, String) {
            let server = try TestServer(Self.configuration.replacing("FORWARDED", with: ""))
            let client = TestClient(server)
            let long = String(repeating: unit, count: 28_000 / unit.utf8.count / 3)
            _ = try await client.signIn("z" + String(repeating: unit, count: 1000 / unit.utf8.count))
            let cookie = "Cookie: \(TestClient.session)=\(try #require(client[TestClient.session]))"
            let body = "csrf=\(PercentEncoding.encode(long))"
            let request =
                switch place {
                case "csrf of a sign-out": Self.post("/sign-out", Self.form, body, [cookie])
                case "csrf of the account page": Self.post("/account/end", Self.form, body, [cookie])
                case "Last-Event-ID":
                    // The method is HEAD, because the event stream in the response to GET would not end.
                    Self.get("/session/events", [cookie, "Last-Event-ID: \(String(repeating: unit, count: 2000))"])
                        .replacing("GET", with: "HEAD")
                case "the page of a user":
                    String(repeating: Self.get("/welcome", [cookie, "Accept: text/html"]), count: 40)
                default: String(repeating: Self.get("/session", [cookie]), count: 40)
                }
            return (server, request)
        }
        // These letters are also percent-encoded. Encoded text is three times as long as ASCII letters.
        let (server, letters) = try await requests(of: "\u{E9}\u{E8}")
        let (other, marks) = try await requests(of: "\u{301}\u{323}")
        let ratio = try await CostRatio(
            below: Self.bound,
            of: { try await cost(marks, other) },
            to: { try await cost(letters, server) }
        )
        #expect(ratio.value < Self.bound, "\(place): \(ratio)")
    }

    @Test func `a comparison by canonical equivalence exceeds the bound of these tests`() async {
        func cost(of unit: String) -> Double {
            let (one, other) = (String(repeating: unit, count: 2000), String(repeating: unit, count: 2000) + "x")
            return ProcessorTime.measureThread {
                for _ in 0..<10 where one == other { Issue.record("the texts are not the same") }
            }
        }
        let ratio = await CostRatio(
            below: Self.bound,
            of: { cost(of: "\u{301}\u{323}") },
            to: { cost(of: "abcd") }
        )
        #expect(ratio.value > Self.bound, "\(ratio)")
    }
}

private enum Base64Text {
    static func encode(_ text: String) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var encoded: [UInt8] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = (0..<3).map { start + $0 < bytes.count ? UInt32(bytes[start + $0]) : 0 }
            let bits = group[0] << 16 | group[1] << 8 | group[2]
            for index in 0..<4 {
                let isPadding = start + index > bytes.count
                encoded.append(isPadding ? UInt8(ascii: "=") : digits[Int(bits >> UInt32(18 - 6 * index) & 63)])
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
