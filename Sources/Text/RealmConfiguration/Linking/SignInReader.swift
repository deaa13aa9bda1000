// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmKit

/// Reads the `sign-in` block of the `server` block.
struct SignInReader {
    let builder: ConfigurationBuilder
    /// The names of all realms.
    let realms: [String]

    private static let keywords = [
        "host", "prefix", "realm", "when-unavailable", "time", "waiting", "return-to", "brand",
        "languages", "translation",
    ]

    func read(_ statement: Statement) -> SignInSettings {
        var settings = SignInSettings()
        guard let statements = builder.block(statement, hint: "as in: sign-in { prefix /gatehouse; }") else {
            return settings
        }
        let block = Block(statements, of: "sign-in", Self.keywords, repeated: ["translation"], in: builder)
        if let word = block.word("host"), let text = builder.expanded(word) {
            settings.host = authority(text[...])
            if settings.host == nil {
                let hint = "write HOST or HOST:PORT, as in: host auth.example.org;"
                builder.error(at: word.range, "\(text) is not a host", hint: hint)
            }
        }
        if let word = block.word("prefix"), let text = builder.expanded(word), let path = builder.path(text, at: word) {
            settings.prefix = path == "/" ? "" : path
        }
        if let statement = block.first("realm") { settings.realms = builder.realms(statement, among: realms) }
        let scalars = SettingReader(builder: builder, block: block)
        if block.first("when-unavailable") != nil {
            var reaction = WhenUnavailable.continue
            scalars.choice("when-unavailable", into: &reaction)
            settings.whenUnavailable = reaction
        }
        scalars.duration("time", .seconds(10) ... .seconds(86_400), into: &settings.time)
        scalars.integer("waiting", 1...1_000_000, into: &settings.waiting)
        if let statement = block.first("return-to") { settings.returnTo = origins(statement) }
        settings.translations = TranslationReader(builder: builder).read(block)
        if let statement = block.first("brand") {
            settings.brand = BrandReader(builder: builder, translations: settings.translations).read(statement)
        }
        return settings
    }

    private func origins(_ statement: Statement) -> [SignInSettings.Origin] {
        var origins: [SignInSettings.Origin] = []
        for word in builder.list(statement) {
            guard let text = builder.expanded(word) else { continue }
            guard let origin = origin(text) else {
                let hint = "write https://HOST or https://HOST:PORT, without a path or a user"
                builder.error(at: word.range, "\(text) is not an origin", hint: hint)
                continue
            }
            if origins.contains(origin) { builder.error(at: word.range, "\(origin) occurs twice in return-to") }
            origins.append(origin)
        }
        return origins
    }

    private func origin(_ text: String) -> SignInSettings.Origin? {
        text.hasPrefix("https://") ? authority(text.dropFirst(8)) : nil
    }

    /// Returns the origin with a host and an optional port.
    private func authority(_ text: Substring) -> SignInSettings.Origin? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first.flatMap(HostName.canonicalInConfiguration) else { return nil }
        guard parts.count == 2 else { return SignInSettings.Origin(host: host, port: 443) }
        guard let port = UInt16(parts[1]), port > 0, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return SignInSettings.Origin(host: host, port: Int(port))
    }
}
