// SPDX-License-Identifier: Apache-2.0

import AccessControl
import SeededRandom
import Testing

@testable import RealmConfiguration
@testable import SignIn

@Suite struct DeviceNameTests {
    private static let webKit = "AppleWebKit/537.36 (KHTML, like Gecko)"

    @Test(
        arguments: [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
            ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) \(webKit) Chrome/140.0.0.0 Safari/537.36", "Chrome on Windows"),
            ("Mozilla/5.0 (Linux; Android 10; K) \(webKit) Chrome/140.0.0.0 Mobile Safari/537.36", "Chrome on Android"),
            ("Mozilla/5.0 (X11; Linux x86_64) \(webKit) Chrome/140.0 Safari/537.36 Edg/140.0", "Edge on Linux"),
            ("Mozilla/5.0 (Windows NT 10.0) \(webKit) Chrome/140.0 Safari/537.36 OPR/120.0", "Opera on Windows"),
            (
                "Mozilla/5.0 (Linux; Android 14; SAMSUNG SM-S911B) \(webKit) SamsungBrowser/28.0 Chrome/130.0 Safari/537.36",
                "Samsung Internet on Android"
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15",
                "Safari on macOS"
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 CriOS/140.0 Safari/604.1",
                "Chrome on iPhone"
            ),
            ("Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X) AppleWebKit/605.1.15 FxiOS/140.0", "Firefox on iPad"),
            ("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) \(webKit) Chrome/140.0 Safari/537.36", "Chrome on ChromeOS"),
            ("Firefox/140.0", "Firefox"), ("curl/8.14.1", "curl"), ("Wget/1.25.0", "Wget"),
            ("python-requests/2.32", "Python"), ("Go-http-client/1.1", "Go"), ("", "Unknown device"),
            ("curl", "Unknown device"), ("Mozilla/5.0 (X11; Linux x86_64)", "Unknown device"),
            ("<script>alert(1)</script>", "Unknown device"), ("my-curl/1", "Unknown device"),
            ("\u{0}", "Unknown device"),
            (String(repeating: " ", count: 512) + "Firefox/1 Linux", "Unknown device"),
        ]
    )
    func `the device name is determined by the User-Agent field`(field: String, name: String) {
        #expect(DeviceName.of(field.utf8Span.span).text(in: .english) == name)
    }

    @Test func `a device name contains no text of the client`() {
        var random = Random(seed: 41)
        let pieces = [
            "Firefox/", "Chrome/", "Linux", "iPhone", "Windows", "curl/", "Safari/", "<b>", "zed", "\u{1F600}", " ",
        ]
        let words: Set<Substring> = [
            "Firefox", "Chrome", "Safari", "curl", "on", "Linux", "iPhone", "Windows", "Unknown", "device",
        ]
        for _ in 0..<5000 {
            let field = (0..<random.below(20)).map { _ in random.pick(pieces) }.joined()
            let name = DeviceName.of(field.utf8Span.span).text(in: .english)
            #expect(name.count <= 40)
            #expect(name.split(separator: " ").allSatisfy(words.contains))
            _ = DeviceName.of(random.bytes(random.below(600)).span)
        }
    }
}
