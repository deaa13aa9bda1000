// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Gatehouse

/// The limits for requests in progress, of a client and in all.
@Suite struct RequestPlacesTests {
    @Test func `a client has a limited number of requests, by IPv4 address or IPv6 network`() {
        let places = RequestPlaces(total: 100, perClient: 2)
        var taken = [places.take(for: "2001:db8::1"), places.take(for: "2001:db8::2")]
        #expect(taken.allSatisfy { $0 != nil })
        #expect(places.take(for: "2001:db8:0:0:ffff::3") == nil)
        #expect(places.take(for: "2001:db8:0:1::1") != nil && places.take(for: "192.0.2.1") != nil)
        #expect(places.take(for: nil) != nil)
        // A place is released once, also if it is released by a call and then forgotten.
        taken[0]?.release()
        taken = [taken[1]]
        let second = places.take(for: "2001:db8::1")
        #expect(second != nil && places.take(for: "2001:db8::1") == nil)
        taken = []
        #expect(places.take(for: "2001:db8::1") != nil)
    }

    @Test func `at the limit of all, a client with few requests still gets a place`() {
        let places = RequestPlaces(total: 40, perClient: 20)
        var taken = (0..<40).map { places.take(for: "192.0.2.\($0 / 20)") }
        #expect(taken.allSatisfy { $0 != nil })
        taken += (0..<10).map { places.take(for: "198.51.100.\($0 / 5)") }
        let more = taken.suffix(10).map { $0 != nil }
        #expect(more == [true, true, true, true, false, true, true, true, true, false])
        #expect(places.takePeak() == 48)
        taken = []
        #expect(places.takePeak() == 48 && places.takePeak() == 0)
    }

    private static let configuration = """
        realm town { class StartWithRealm; jaas-context town; startWith z; }
        login town { StartWithLoginModule required; }
        server { listen 127.0.0.1:0; trusted-proxies 10.0.0.1; }
        protect app.example/ { realm town; auth form basic; require any; }
        """

    @Test func `a client with too many requests gets 503, and other clients of its proxy do not`() async throws {
        let places = RequestPlaces(total: 100, perClient: 2)
        let server = try TestServer(Self.configuration, places: places)
        let proxy = TestClient(server, from: "10.0.0.1", at: "app.example")
        var count = 0
        func statuses(_ address: String) async throws -> [Int] {
            // No credentials are repeated, because accepted ones are cached.
            count += 1
            let basic = (0..<2).map { "Authorization: Basic \(Data("zed:\(count)-\($0)".utf8).base64EncodedString())" }
            let fields = ["X-Forwarded-For: \(address)", "X-Forwarded-Proto: https"]
            let original = ["X-Original-URL: https://app.example/", "X-Original-Method: GET"]
            var statuses: [Int] = []
            for response in [
                try await proxy.send("GET", "/sign-in", fields),
                try await proxy.send("GET", "/", fields + [basic[0]]),
                try await proxy.send("GET", "/auth/nginx", fields + original + [basic[1]]),
                // No task answers this request.
                try await proxy.send("GET", "/auth/nginx", fields + original),
            ] { statuses.append(response.status) }
            return statuses
        }
        #expect(try await statuses("192.0.2.1") == [200, 200, 200, 401])
        let held = [places.take(for: "192.0.2.1"), places.take(for: "192.0.2.1")]
        #expect(try await statuses("192.0.2.1") == [503, 503, 503, 401])
        #expect(server.log.text.contains("too-many-requests"))
        #expect(try await statuses("192.0.2.2") == [200, 200, 200, 401])
        for place in held { place?.release() }
        #expect(try await statuses("192.0.2.1") == [200, 200, 200, 401])
        // No request has kept its place.
        #expect(places.takePeak() > 0 && places.takePeak() == 0)
    }
}
