// SPDX-License-Identifier: Apache-2.0

import RealmConfiguration
import RealmKit
import Testing
import Throttle

struct ThrottleSettingsTests {
    @Test func `every setting of the throttle is read`() throws {
        let text = """
            server {
                throttle {
                    failures 5; window 10m; lock 1h; delay 100ms; longest-delay 2s;
                    source-failures 50; source-window 20m; source-lock 30m;
                    accounts 2000; sources 3000; exempt 10.0.0.0/8 127.0.0.1 ::1;
                }
            }
            """
        var expected = ThrottleSettings()
        expected.failures = 5
        expected.window = .seconds(600)
        expected.lock = .seconds(3600)
        expected.delay = .milliseconds(100)
        expected.longestDelay = .seconds(2)
        expected.sourceFailures = 50
        expected.sourceWindow = .seconds(1200)
        expected.sourceLock = .seconds(1800)
        expected.accounts = 2000
        expected.sources = 3000
        expected.exempt = [try CIDRBlock("10.0.0.0/8"), try CIDRBlock("127.0.0.1"), try CIDRBlock("::1")]
        #expect(try MemoryFolder(text).load().server.throttle == expected)
    }

    @Test(arguments: ["", "server { }", "server { throttle { } }"])
    func `settings that are not set have their defaults`(text: String) throws {
        #expect(try MemoryFolder(text).load().server.throttle == ThrottleSettings())
    }

    @Test func `locks and delays can be turned off`() throws {
        let text = "server { throttle { failures 0; source-failures 0; delay 0s; } }"
        let settings = try MemoryFolder(text).load().server.throttle
        #expect(settings.failures == 0)
        #expect(settings.sourceFailures == 0)
        #expect(settings.delay == .zero)
    }
}
