// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes

/// The name of a session's device by its `User-Agent` field, such as `Firefox on Linux`, for the list of sessions.
///
/// It consists of texts of this file and never contains text of the client.
package enum DeviceName {
    package static let unknown = Message.key(.unknownDevice)
    /// The maximum number of bytes of a field that are examined.
    private static let maximumBytesRead = 512

    // Many browsers also send the names of other browsers, so the names that only one browser sends come first.
    private static let browsers: [(pattern: StaticString, name: String)] = [
        ("Edg/", "Edge"), ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("OPR/", "Opera"), ("Vivaldi/", "Vivaldi"),
        ("SamsungBrowser/", "Samsung Internet"), ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"),
        ("Chromium/", "Chromium"), ("HeadlessChrome/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
    ]
    // An iPhone also sends "Mac", and Android also sends "Linux".
    private static let systems: [(pattern: StaticString, name: String)] = [
        ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
        ("Macintosh", "macOS"), ("Linux", "Linux"), ("FreeBSD", "FreeBSD"), ("OpenBSD", "OpenBSD"),
    ]
    private static let programs: [(pattern: StaticString, name: String)] = [
        ("curl/", "curl"), ("Wget/", "Wget"), ("HTTPie/", "HTTPie"), ("python-requests/", "Python"),
        ("Python-urllib/", "Python"), ("Go-http-client/", "Go"), ("PostmanRuntime/", "Postman"),
    ]

    package static func of(_ field: Span<UInt8>) -> Message {
        let field = field.extracting(0..<min(field.count, maximumBytesRead))
        if let program = programs.first(where: { begins(field, with: $0.pattern, at: 0) }) {
            return .verbatim(program.name)
        }
        guard let browser = browsers.first(where: { contains(field, $0.pattern) }) else { return unknown }
        guard let system = systems.first(where: { contains(field, $0.pattern) }) else { return .verbatim(browser.name) }
        return Message(.device, ["browser": .verbatim(browser.name), "system": .verbatim(system.name)])
    }

    private static func contains(_ field: Span<UInt8>, _ pattern: StaticString) -> Bool {
        guard field.count >= pattern.utf8CodeUnitCount else { return false }
        for start in 0...(field.count - pattern.utf8CodeUnitCount) where begins(field, with: pattern, at: start) {
            return true
        }
        return false
    }

    private static func begins(_ field: Span<UInt8>, with pattern: StaticString, at start: Int) -> Bool {
        let end = start + pattern.utf8CodeUnitCount
        return end <= field.count && field.extracting(start..<end).equals(pattern)
    }
}
