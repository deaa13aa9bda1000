// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import LoginConf
internal import RealmKit

extension SignInSettings {
    static let schema = BlockSchema<SignInSettings>(
        name: "sign-in",
        example: "sign-in { prefix /gatehouse; }",
        statements: [
            .value("host", \.host) { block, keyword in
                block.word(keyword) { text throws(BadWord) in
                    if let host = Origin(authority: text[...]) { return host }
                    throw BadWord(
                        "\(text) is not a host",
                        hint: "write HOST or HOST:PORT, as in: host auth.example.org;"
                    )
                }
            },
            .value("prefix", \.prefix) { block, keyword in
                guard let word = block.word(keyword) else { return nil }
                return block.builder.value(of: word) { text throws(BadWord) in
                    let path = try RuleTarget.path(text, isQuoted: word.isQuoted)
                    return path == "/" ? "" : path
                }
            },
            .value("realm", \.realms) { $0.realms($1) },
            .value("when-unavailable", \.whenUnavailable) { $0.choice($1) ?? .continue },
            .duration("time", .seconds(10) ... .seconds(86_400), \.time),
            .integer("waiting", 1...1_000_000, \.waiting),
            .value("return-to", \.returnTo) { block, keyword in
                block.list(keyword, isUnique: true, Origin.init(word:)).map(\.value)
            },
            StatementSchema(keyword: "translation", isRepeated: true) { block, settings in
                settings.translations = block.translations()
            },
            StatementSchema(keyword: "languages") { block, settings in
                settings.translations = block.languages(among: settings.translations)
            },
            StatementSchema(keyword: "brand", innerKeywords: SignInBrand.keywords) { block, settings in
                guard let statement = block.first("brand") else { return }
                SignInBrand.schema(settings.translations).read(statement, into: &settings.brand, in: block.builder)
            },
        ]
    )
}

extension SignInSettings.Origin {
    /// Reads `https://HOST` or `https://HOST:PORT`.
    fileprivate init(word text: String) throws(BadWord) {
        guard text.hasPrefix("https://"), let origin = Self(authority: text.dropFirst(8)) else {
            let hint = "write https://HOST or https://HOST:PORT, without a path or a user"
            throw BadWord("\(text) is not an origin", hint: hint)
        }
        self = origin
    }

    /// Reads a host and an optional port.
    fileprivate init?(authority text: Substring) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first.flatMap(HostName.canonicalInConfiguration) else { return nil }
        var port: UInt16? = 443
        if parts.count == 2 { port = parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }) ? UInt16(parts[1]) : nil }
        guard let port, port > 0 else { return nil }
        self.init(host: host, port: Int(port))
    }
}

// MARK: The brand

extension SignInBrand {
    static let keywords = schema(Translations()).keywords

    /// The schema of the `brand` block, whose texts may be in the languages of the pages.
    fileprivate static func schema(_ translations: Translations) -> BlockSchema<SignInBrand> {
        BlockSchema(
            name: "brand",
            example: "brand { name \"Example Ltd\"; }",
            statements: [
                .value("name", \.name) { $0.word($1, ShownText.reader(of: $1, maximum: 60)) },
                .text("message", \.message, maximum: 300, in: translations),
                .text("footer", \.footer, maximum: 200, in: translations),
                .value("help-link", \.helpLink, isRepeated: true) { $0.localizedText($1, for: translations, link) },
                .text("help-text", \.helpText, maximum: 60, in: translations),
                .value("logo", \.logo) { $0.logo($1) },
            ]
        ) { block, _ in
            if let statement = block.first("help-text"), block.first("help-link") == nil {
                block.builder.warn(at: statement.keyword.range, "help-text has no effect without help-link")
            }
        }
    }

    /// Returns the URL, if it is an `https` URL of printable ASCII characters.
    @Sendable private static func link(_ text: String) throws(BadWord) -> String {
        let scheme = "https://"
        let host = text.dropFirst(scheme.count).prefix { !"/?#:".contains($0) }
        guard text.hasPrefix(scheme), HostName.canonicalInConfiguration(host) != nil,
            (1...500).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            let hint = "as in: help-link https://intranet.example.org/help;"
            throw BadWord("\(text) is not an https URL", hint: hint)
        }
        return text
    }
}

extension Block {
    fileprivate func logo(_ keyword: String) -> SignInBrand.Logo? {
        guard let path = file(keyword),
            let bytes = builder.contents(of: path.value, at: path.range, as: "the logo")
        else { return nil }
        let maximum = SignInBrand.Logo.maximumSize
        if bytes.count <= maximum, let logo = SignInBrand.Logo(bytes) { return logo }
        let isLarge = bytes.count > maximum
        let fault = isLarge ? "is larger than \(Block.text(bytes: maximum))" : "is neither an SVG nor a PNG image"
        builder.error(at: path.range, "the logo \(fault)")
        return nil
    }
}

extension StatementSchema<SignInBrand> {
    fileprivate static func text(
        _ keyword: String,
        _ setting: Setting<LocalizedText?>,
        maximum: Int,
        in translations: Translations
    ) -> Self {
        value(keyword, setting, isRepeated: true) { block, keyword in
            block.localizedText(keyword, for: translations, ShownText.reader(of: keyword, maximum: maximum))
        }
    }
}

extension ShownText {
    /// Returns the reader of the texts of a statement that pages show.
    static func reader(of keyword: String, maximum: Int) -> @Sendable (String) throws(BadWord) -> String {
        { text throws(BadWord) in
            if let fault = fault(of: text, maximum: maximum) { throw BadWord("\(keyword) \(fault)") }
            return text
        }
    }
}
