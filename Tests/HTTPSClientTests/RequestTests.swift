// SPDX-License-Identifier: Apache-2.0

import HTTPSClient
import HTTPSTesting
import RealmKit
import TLSTesting
import Testing

@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct RequestTests {
    @Test func `a request and its response`() async throws {
        try await Fixture.withService(respond: { _ in [Fixture.response("hello", fields: "X-One: 1\r\n")] }) {
            service in
            let client = try Fixture.client()
            var request = try HTTPSRequest("POST", service.url("/a?b=c"), body: Secret(utf8: "body"))
            try request.addField("Authorization", prefix: "Basic ", secret: Secret(utf8: "YTpi"))
            try request.addField("X-Field", value: "value")
            let response = try await client.response(to: request)
            #expect(response.status == 200)
            #expect(response["x-one"] == ["1"])
            #expect(response.body == Array("hello".utf8))
            let received = try #require(service.requests.first)
            #expect(received.line == "POST /a?b=c HTTP/1.1")
            #expect(received.field("Host") == "localhost:\(service.port)")
            #expect(received.field("User-Agent") == "Gatehouse")
            #expect(received.field("Authorization") == "Basic YTpi")
            #expect(received.field("X-Field") == "value")
            #expect(received.field("Content-Length") == "4")
            #expect(received.body == Array("body".utf8))
        }
    }

    @Test func `connections are used again`() async throws {
        try await Fixture.withService(respond: { _ in [Fixture.response("x")] }) { service in
            let client = try Fixture.client()
            for _ in 0..<20 { #expect(try await client.get(service.url()).body == [0x78]) }
            #expect(service.connections == 1)
            #expect(service.requests.map(\.number) == Array(0..<20))
        }
    }
}
