// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPSClient
import OpenSSLKit
import RealmKit
import RemoteList
import Testing

@Suite(.enabled(if: DeviceService.isPossible, "python3 or openssl is not installed"))
struct DeviceListTests {
    private static func devices(
        _ service: DeviceService,
        password: String = "open sesame",
        pin: Digest
    ) async throws -> [Device] {
        try await DeviceList.devices(
            at: HTTPSURL("https://localhost:\(service.port)/devices"),
            authorization: Secret(utf8: Data("ann:\(password)".utf8).base64EncodedString()),
            client: HTTPSClient(HTTPSClientConfiguration(trust: .pinnedKeys([pin])))
        )
    }

    @Test func `the list of a service`() async throws {
        let service = try DeviceService()
        defer { service.stop() }
        let devices = try await Self.devices(service, pin: service.pin)
        #expect(devices.map(\.name) == ["lamp", "fan"])
        #expect(devices.map(\.isOn) == [true, false])
    }

    @Test func `a wrong password`() async throws {
        let service = try DeviceService()
        defer { service.stop() }
        await #expect(throws: ListFault.status(401)) {
            try await Self.devices(service, password: "sesame", pin: service.pin)
        }
    }

    @Test func `another server`() async throws {
        let (service, other) = (try DeviceService(), try DeviceService())
        defer {
            service.stop()
            other.stop()
        }
        await #expect(throws: ListFault.noAnswer(.certificateRejected)) {
            try await Self.devices(service, pin: other.pin)
        }
    }
}
