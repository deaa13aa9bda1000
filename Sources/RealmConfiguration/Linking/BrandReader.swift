// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf

/// Reads the `brand` block of the `sign-in` block.
struct BrandReader {
    let builder: ConfigurationBuilder

    private static let keywords = ["name", "message", "footer", "help-link", "logo"]

    func read(_ statement: Statement) -> SignInBrand {
        var brand = SignInBrand()
        guard let statements = builder.block(statement, hint: "as in: brand { name \"Example Ltd\"; }") else {
            return brand
        }
        let block = Block(statements, of: "brand", Self.keywords, in: builder)
        if let word = block.word("name"), let name = builder.shownText(word, of: "name", maximum: 60) {
            brand.name = name
        }
        brand.message = block.word("message").flatMap { builder.shownText($0, of: "message", maximum: 300) }
        brand.footer = block.word("footer").flatMap { builder.shownText($0, of: "footer", maximum: 200) }
        brand.helpLink = block.word("help-link").flatMap(link)
        brand.logo = block.file("logo").flatMap(logo)
        return brand
    }

    /// Returns the URL in a word, if it is an `https` URL of printable ASCII characters.
    private func link(_ word: RealmsConfWord) -> String? {
        guard let text = builder.expanded(word) else { return nil }
        let scheme = "https://"
        let host = text.dropFirst(scheme.count).prefix { !"/?#:".contains($0) }
        guard text.hasPrefix(scheme), builder.hostName(host) != nil, (1...500).contains(text.utf8.count),
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
        guard (1...maximum).contains(text.unicodeScalars.count), text.unicodeScalars.contains(where: \.isInk) else {
            error(at: word.range, "\(keyword) is a text of 1 to \(maximum) characters")
            return nil
        }
        guard !text.unicodeScalars.contains(where: \.isInvisible) else {
            error(at: word.range, "\(keyword) has a control character or a mark for the direction of text")
            return nil
        }
        return text
    }
}

extension Unicode.Scalar {
    /// True for a character that is not a blank.
    fileprivate var isInk: Bool { !properties.isWhitespace }

    /// True for control characters, separators of lines, and invisible characters that change the order of text.
    ///
    /// The joiners U+200C and U+200D are allowed, because words of some languages need them.
    fileprivate var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: value != 0x200C && value != 0x200D
        default: false
        }
    }
}
