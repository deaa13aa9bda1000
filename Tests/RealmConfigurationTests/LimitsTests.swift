// SPDX-License-Identifier: Apache-2.0

import HTTPLimits
import RealmConfiguration
import Testing

/// Tests all settings of the `limits` block, with the table ``HTTPLimits/settings``.
struct LimitsTests {
    @Test(arguments: ["", "server { }", "server { limits { } }"])
    func `a limit that is not set has its default`(text: String) throws {
        #expect(try MemoryFolder(text).load().server.limits == HTTPLimits())
    }

    @Test(arguments: HTTPLimits.settings.map(\.name))
    func `a setting changes only its own limit`(name: String) throws {
        let setting = try #require(HTTPLimits.settings.first { $0.name == name })
        let limits = try MemoryFolder("server { limits { \(name) \(Self.leastText(setting)); } }").load().server.limits
        var expected = HTTPLimits()
        switch setting.value {
        case .integer(let limit, let bounds):
            #expect(expected[keyPath: limit] != bounds.lowerBound)
            expected[keyPath: limit] = bounds.lowerBound
        case .duration(let limit, let bounds):
            expected[keyPath: limit] = bounds.lowerBound
        }
        #expect(limits == expected)
        #expect(limits != HTTPLimits())
    }

    @Test func `no two settings change the same limit`() {
        let limits: [AnyKeyPath] = HTTPLimits.settings.map {
            switch $0.value {
            case .integer(let limit, _): limit
            case .duration(let limit, _): limit
            }
        }
        #expect(Set(limits).count == HTTPLimits.settings.count)
        #expect(Set(HTTPLimits.settings.map(\.name)).count == HTTPLimits.settings.count)
    }

    private static func leastText(_ setting: HTTPLimits.Setting) -> String {
        switch setting.value {
        case .integer(_, let bounds): "\(bounds.lowerBound)"
        case .duration: "250ms"
        }
    }
}
