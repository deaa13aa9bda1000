// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The name of a session's device in a list of sessions, such as `Firefox on Linux`, by which the user recognizes it.
///
/// It consists only of names known here, because a client may send any text.
enum DeviceName {
    /// The longest name, in characters.
    static let maximumLength = 40
    /// The name of a device that is not known.
    static let unknown = "Unknown device"
    /// The number of bytes of a field that are read.
    private static let lookedAt = 512

    // Many browsers also send the names of others, so the more particular name is first.
    private static let browsers: [(mark: StaticString, name: String)] = [
        ("Edg/", "Edge"), ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("OPR/", "Opera"), ("Vivaldi/", "Vivaldi"),
        ("SamsungBrowser/", "Samsung Internet"), ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"),
        ("Chromium/", "Chromium"), ("HeadlessChrome/", "Chrome"), ("Chrome/", "Chrome"), ("Safari/", "Safari"),
    ]
    // An iPhone also sends "Mac", and Android also sends "Linux".
    private static let systems: [(mark: StaticString, name: String)] = [
        ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("CrOS", "ChromeOS"),
        ("Macintosh", "macOS"), ("Linux", "Linux"), ("FreeBSD", "FreeBSD"), ("OpenBSD", "OpenBSD"),
    ]
    private static let programs: [(mark: StaticString, name: String)] = [
        ("curl/", "curl"), ("Wget/", "Wget"), ("HTTPie/", "HTTPie"), ("python-requests/", "Python"),
        ("Python-urllib/", "Python"), ("Go-http-client/", "Go"), ("PostmanRuntime/", "Postman"),
    ]

    /// Returns the name of a device.
    ///
    /// - Parameter field: The value of a `User-Agent` field.
    /// - Returns: The name.
    static func of(_ field: Span<UInt8>) -> String {
        let field = field.extracting(0..<min(field.count, lookedAt))
        if let program = programs.first(where: { begins(field, with: $0.mark, at: 0) }) { return program.name }
        guard let browser = browsers.first(where: { contains(field, $0.mark) }) else { return unknown }
        guard let system = systems.first(where: { contains(field, $0.mark) }) else { return browser.name }
        return "\(browser.name) on \(system.name)"
    }

    private static func contains(_ field: Span<UInt8>, _ mark: StaticString) -> Bool {
        guard field.count >= mark.utf8CodeUnitCount else { return false }
        for start in 0...(field.count - mark.utf8CodeUnitCount) where begins(field, with: mark, at: start) {
            return true
        }
        return false
    }

    private static func begins(_ field: Span<UInt8>, with mark: StaticString, at start: Int) -> Bool {
        guard field.count - start >= mark.utf8CodeUnitCount else { return false }
        return mark.withUTF8Buffer { mark in
            for index in 0..<mark.count where field[start + index] != (unsafe mark[index]) { return false }
            return true
        }
    }
}
