// SPDX-License-Identifier: Apache-2.0

internal import LoginConf

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
