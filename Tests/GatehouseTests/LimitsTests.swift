// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import HTTPServer
import RealmConfiguration
import Testing

@testable import Gatehouse

@Suite struct LimitsTests {
    // They stand in two targets, as the reader of configurations knows no server.
    @Test func `the limits of a configuration that names none are the server's own`() {
        #expect(HTTPLimits(ServerSettings.Limits()) == HTTPLimits())
    }
}
