// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmKit

/// Reads the `sign-in` block of the `server` block.
struct SignInReader {
    let builder: ConfigurationBuilder
    /// The names of all realms.
    let realms: [String]

    func read(_ statement: Statement) -> SignInSettings {
        var settings = SignInSettings()
        guard let statements = builder.block(statement, hint: "as in: sign-in { prefix /gatehouse; }") else {
            return settings
        }
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

/// Reads the `brand` block of the `sign-in` block.
struct BrandReader {
    let builder: ConfigurationBuilder
    /// The languages of the pages.
    let translations: Translations

    private static let localized = ["message", "footer", "help-link", "help-text"]
    private static let keywords = ["name", "logo"] + localized

    func read(_ statement: Statement) -> SignInBrand {
        var brand = SignInBrand()
        guard let statements = builder.block(statement, hint: "as in: brand { name \"Example Ltd\"; }") else {
            return brand
        }
        let block = Block(statements, of: "brand", Self.keywords, repeated: Self.localized, in: builder)
        if let word = block.word("name"), let name = builder.shownText(word, of: "name", maximum: 60) {
            brand.name = name
        }
        let texts = LocalizedTextReader(builder: builder, translations: translations)
        brand.message = texts.read("message", in: block) { builder.shownText($0, of: "message", maximum: 300) }
        brand.footer = texts.read("footer", in: block) { builder.shownText($0, of: "footer", maximum: 200) }
        brand.helpLink = texts.read("help-link", in: block, value: link)
        brand.helpText = texts.read("help-text", in: block) { builder.shownText($0, of: "help-text", maximum: 60) }
        if let statement = block.first("help-text"), block.first("help-link") == nil {
            let message = "help-text has no effect without help-link"
            builder.log.add(builder.text.warning(at: statement.keyword.range, message))
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
        switch builder.loader.files.read(path.value) {
        case .failure(let fault):
            builder.error(at: path.range, "the logo cannot be read: \(fault.reason)")
            return nil
        case .success(let contents):
            guard contents.bytes.count <= SignInBrand.Logo.maximumSize else {
                let maximum = SettingReader.text(bytes: SignInBrand.Logo.maximumSize)
                builder.error(at: path.range, "the logo is larger than \(maximum)")
                return nil
            }
            guard let logo = SignInBrand.Logo(contents.bytes) else {
                builder.error(at: path.range, "the logo is neither an SVG nor a PNG image")
                return nil
            }
            return logo
        }
    }
}

extension ConfigurationBuilder {
    /// Returns the text in a word that a page shows; reports a text that is empty, too long or has invisible characters.
    ///
    /// - Parameters:
    ///   - word: The word.
    ///   - keyword: The keyword of the statement, for messages.
    ///   - maximum: The maximum length in Unicode scalars.
    /// - Returns: The text.
    func shownText(_ word: RealmsConfWord, of keyword: String, maximum: Int) -> String? {
        guard let text = expanded(word) else { return nil }
        if let fault = ShownText.fault(of: text, maximum: maximum) {
            error(at: word.range, "\(keyword) \(fault)")
            return nil
        }
        return text
    }
}
