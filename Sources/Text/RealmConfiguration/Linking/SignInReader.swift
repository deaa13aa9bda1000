// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import LoginConf
internal import RealmKit

/// Reads the `sign-in` block of the `server` block.
struct SignInReader {
    let builder: ConfigurationBuilder
    /// The names of all realms.
    let realms: [String]

    func read(_ statement: Statement) -> SignInSettings {
        var settings = SignInSettings()
        let hint = "as in: sign-in { prefix /gatehouse; }"
        guard let statements = builder.block(statement, hint: hint) else { return settings }
        let block = Block(
            statements,
            of: "sign-in",
            [
                "host", "prefix", "realm", "when-unavailable", "time", "waiting", "return-to", "brand", "languages",
                "translation",
            ],
            repeated: ["translation"],
            in: builder
        )
        if let (word, text) = block.text("host") {
            settings.host = authority(text[...])
            if settings.host == nil {
                let hint = "write HOST or HOST:PORT, as in: host auth.example.org;"
                builder.error(at: word.range, "\(text) is not a host", hint: hint)
            }
        }
        if let (word, text) = block.text("prefix"), let path = builder.path(text, at: word) {
            settings.prefix = path == "/" ? "" : path
        }
        if let statement = block.first("realm") { settings.realms = builder.realms(statement, among: realms) }
        if block.first("when-unavailable") != nil {
            var reaction = WhenUnavailable.continue
            block.choice("when-unavailable", into: &reaction)
            settings.whenUnavailable = reaction
        }
        block.duration("time", .seconds(10) ... .seconds(86_400), into: &settings.time)
        block.integer("waiting", 1...1_000_000, into: &settings.waiting)
        if let statement = block.first("return-to") { settings.returnTo = origins(statement) }
        settings.translations = TranslationReader(builder: builder).read(block)
        if let statement = block.first("brand") { settings.brand = brand(statement, for: settings.translations) }
        return settings
    }

    private func origins(_ statement: Statement) -> [SignInSettings.Origin] {
        var origins: [SignInSettings.Origin] = []
        for word in builder.list(statement) {
            guard let text = builder.expanded(word) else { continue }
            guard text.hasPrefix("https://"), let origin = authority(text.dropFirst(8)) else {
                let hint = "write https://HOST or https://HOST:PORT, without a path or a user"
                builder.error(at: word.range, "\(text) is not an origin", hint: hint)
                continue
            }
            if origins.contains(origin) { builder.error(at: word.range, "\(origin) occurs twice in return-to") }
            origins.append(origin)
        }
        return origins
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

    // MARK: The brand

    private static let localized = ["message", "footer", "help-link", "help-text"]
    private static let brandKeywords = ["name", "logo"] + localized

    private func brand(_ statement: Statement, for translations: Translations) -> SignInBrand {
        var brand = SignInBrand()
        let hint = "as in: brand { name \"Example Ltd\"; }"
        guard let statements = builder.block(statement, hint: hint) else { return brand }
        let block = Block(statements, of: "brand", Self.brandKeywords, repeated: Self.localized, in: builder)
        let text = { (keyword: String, maximum: Int) in
            block.localizedText(keyword, for: translations) { builder.shownText($0, of: keyword, maximum: maximum) }
        }
        if let name = block.word("name").flatMap({ builder.shownText($0, of: "name", maximum: 60) }) {
            brand.name = name
        }
        brand.message = text("message", 300)
        brand.footer = text("footer", 200)
        brand.helpLink = block.localizedText("help-link", for: translations, value: link)
        brand.helpText = text("help-text", 60)
        if let statement = block.first("help-text"), block.first("help-link") == nil {
            builder.warn(at: statement.keyword.range, "help-text has no effect without help-link")
        }
        brand.logo = block.file("logo").flatMap(logo)
        return brand
    }

    /// Returns the URL in a word, if it is an `https` URL of printable ASCII characters.
    private func link(_ word: RealmsConfWord) -> String? {
        guard let text = builder.expanded(word) else { return nil }
        let scheme = "https://"
        let host = text.dropFirst(scheme.count).prefix { !"/?#:".contains($0) }
        guard text.hasPrefix(scheme), HostName.canonicalInConfiguration(host) != nil,
            (1...500).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            let hint = "as in: help-link https://intranet.example.org/help;"
            builder.error(at: word.range, "\(text) is not an https URL", hint: hint)
            return nil
        }
        return text
    }

    private func logo(_ path: Located<String>) -> SignInBrand.Logo? {
        let fault: String
        switch builder.loader.files.read(path.value) {
        case .failure(let unreadable): fault = "cannot be read: \(unreadable.reason)"
        case .success(let contents) where contents.bytes.count > SignInBrand.Logo.maximumSize:
            fault = "is larger than \(Block.text(bytes: SignInBrand.Logo.maximumSize))"
        case .success(let contents):
            if let logo = SignInBrand.Logo(contents.bytes) { return logo }
            fault = "is neither an SVG nor a PNG image"
        }
        builder.error(at: path.range, "the logo \(fault)")
        return nil
    }
}

extension ConfigurationBuilder {
    /// Returns the text in a word that a page shows; reports a text that is empty, longer than `maximum` Unicode scalars,
    /// or has invisible characters.
    func shownText(_ word: RealmsConfWord, of keyword: String, maximum: Int) -> String? {
        guard let text = expanded(word) else { return nil }
        if let fault = ShownText.fault(of: text, maximum: maximum) {
            error(at: word.range, "\(keyword) \(fault)")
            return nil
        }
        return text
    }
}
