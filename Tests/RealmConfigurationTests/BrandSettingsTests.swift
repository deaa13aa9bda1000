// SPDX-License-Identifier: Apache-2.0

import AccessControl
import RealmConfiguration
import Testing

@Suite struct BrandSettingsTests {
    private static let png: [UInt8] =
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
    private static let realms = """
        login a { StartWithLoginModule required; }
        realm a { class StartWithRealm; jaas-context a; startWith a; }
        default-realm a;

        """

    private func brand(_ statements: String, logo: [UInt8] = []) -> MemoryFolder {
        var folder = MemoryFolder("server { sign-in { brand {\n\(statements)\n} } }")
        folder.files["etc/logo.svg"] = logo
        return folder
    }

    @Test func `every setting of brand is read`() throws {
        let folder = brand(
            "name \"ACME Ltd\"; message \"Hello, world.\"; footer \"\u{645}\u{200C}\u{631}\";"
                + "help-link https://a.example:8443/h?x=1; logo logo.svg;",
            logo: Self.png
        )
        let read = try folder.load().server.signIn.brand
        #expect(read.name == "ACME Ltd" && read.message == "Hello, world." && read.footer == "\u{645}\u{200C}\u{631}")
        #expect(read.helpLink == "https://a.example:8443/h?x=1")
        #expect(read.logo?.format == .png && read.logo?.bytes == Self.png)
        #expect(try brand("").load().server.signIn.brand == SignInBrand())
        #expect(SignInBrand().name == "Gatehouse")
    }

    @Test(arguments: [
        "<svg></svg>", "<svg/>",
        "\u{FEFF}<?xml version=\"1.0\"?>\n<!-- <a> -->\r\n<!DOCTYPE svg PUBLIC \"a\" \"b\">\t<svg\n>",
    ])
    func `an SVG may have a declaration, comments and a document type before its element`(text: String) throws {
        #expect(try brand("logo logo.svg;", logo: Array(text.utf8)).load().server.signIn.brand.logo?.format == .svg)
    }

    private static let otherFiles: [[UInt8]] =
        [
            "", "<", "<!--", "<!-- <svg> ", "<?xml", "svg", "<svgx>", "<svg", "<html><svg></svg></html>", "GIF89a",
            "a<svg>", "<SVG>",
            "<svg>\0</svg>",
        ].map { Array($0.utf8) } + [Array(png.dropLast()), [0xFF] + Array("<svg>".utf8), Array("<svg>".utf8) + [0xFF]]

    @Test(arguments: otherFiles)
    func `a file that is neither an SVG nor a PNG image is rejected`(bytes: [UInt8]) {
        #expect(
            brand("logo logo.svg;", logo: bytes).diagnostics()
                == ["etc/realms.conf:2:6: error: the logo is neither an SVG nor a PNG image"]
        )
    }

    @Test func `a logo of 64 KiB is accepted, and a larger one is rejected`() throws {
        let image = Self.png + [UInt8](repeating: 0, count: 65_536 - Self.png.count)
        #expect(try brand("logo logo.svg;", logo: image).load().server.signIn.brand.logo?.bytes.count == 65_536)
        #expect(
            brand("logo logo.svg;", logo: image + [0]).diagnostics()
                == ["etc/realms.conf:2:6: error: the logo is larger than 64KiB"]
        )
        #expect(
            brand("logo other.svg;").diagnostics()
                == ["etc/realms.conf:2:6: error: the logo cannot be read: No such file or directory"]
        )
    }

    @Test(
        arguments: [
            ("name \"\";", "6: error: name is a text of 1 to 60 characters"),
            ("name \"  \";", "6: error: name is a text of 1 to 60 characters"),
            ("name \u{3164}\u{2800};", "6: error: name is a text of 1 to 60 characters"),
            ("name \(String(repeating: "n", count: 61));", "6: error: name is a text of 1 to 60 characters"),
            ("name ACME Ltd;", "11: error: name takes one word | quote a value that holds blanks"),
            ("footer \(String(repeating: "n", count: 201));", "8: error: footer is a text of 1 to 200 characters"),
            ("message \(String(repeating: "n", count: 301));", "9: error: message is a text of 1 to 300 characters"),
            (
                "color red;",
                "1: error: unknown statement color in brand | known names: footer, help-link, help-text, logo, message, name"
            ),
        ]
            + [
                "http://a.example", "javascript:alert(1)", "https://", "https:///x", "https://a.example/é",
                "//a.example", "\"https://a.example/ b\"",
                "https://u@a.example", "https://a\\@b.example",
            ].map {
                (
                    "help-link \($0);",
                    "11: error: \($0.filter { $0 != "\"" }) is not an https URL | as in: help-link https://intranet.example.org/help;"
                )
            }
    )
    func `a mistake in brand is reported at its place`(statement: String, message: String) {
        #expect(brand(statement).diagnostics() == ["etc/realms.conf:2:\(message)"])
    }

    @Test(arguments: ["\u{7}", "\u{202E}", "\u{2066}", "\u{2028}", "\u{85}", "\u{200B}", "\u{AD}", "\u{FEFF}"])
    func `a text with an invisible character is rejected`(character: String) {
        // The value comes from the environment, because the parser rejects some of these characters itself.
        var folder = brand("name \"A${env:X}B\";")
        folder.environment["X"] = character
        #expect(
            folder.diagnostics()
                == ["etc/realms.conf:2:6: error: name has a control character or a mark for the direction of text"]
        )
    }

    @Test func `the texts of brand and the name of an application may have translations`() throws {
        let text = """
            server { sign-in { languages en de pt-br; translation pt-BR pt.conf; brand {
                message "Hello"; message de "Hallo"; message PT "Olá"; footer de "Rom"; footer "Rome";
                help-link https://a.example/; help-link de https://a.example/de; help-text "Desk"; help-text de "Stelle";
            } } }
            protect /a { auth form; require any; application Wiki; application de "Das Wiki"; }
            """
        var folder = MemoryFolder(Self.realms + text)
        folder.files["etc/pt.conf"] = Array("password Senha;".utf8)
        let configuration = try folder.load()
        let brand = configuration.server.signIn.brand
        #expect(brand.message == LocalizedText("Hello", translations: ["de": "Hallo", "pt": "Olá"]))
        #expect(brand.footer == LocalizedText("Rome", translations: ["de": "Rom"]))
        #expect(brand.helpLink?.text(in: "de") == "https://a.example/de")
        #expect(brand.helpText?.text(in: "de") == "Stelle" && brand.helpText?.text(in: "en") == "Desk")
        #expect(configuration.rules.first?.application?.text(in: "de") == "Das Wiki")
    }

    @Test(arguments: [
        ("pt-br", "pt-br"), ("pt-ao", "pt"), ("pt", "pt"), ("ptx", "all"), ("en", "all"), ("", "all"), ("-", "all"),
        ("pt-br-x", "pt-br"),
    ])
    func `a page gets the text of its language, or of a more general one`(language: String, text: String) {
        let texts = LocalizedText("all", translations: ["pt": "pt", "pt-br": "pt-br"])
        #expect(texts.text(in: language) == text)
    }

    private static let blanks = "quote a text that holds blanks"

    @Test(arguments: [
        ("message a; message d b;", "20: error: d is not the tag of a language | as in: de, pt-BR; \(blanks)"),
        ("footer a; footer de_CH b;", "18: error: de_CH is not the tag of a language | as in: de, pt-BR; \(blanks)"),
        (
            "message a; message dee b;",
            "20: error: there are no pages in the language dee | did you mean de?; \(blanks)"
        ),
        (
            "message Hello world;",
            "9: error: there are no pages in the language Hello | known names: de, en, fr; \(blanks)"
        ),
        (
            "message Hello big world;",
            "15: error: message takes one text, or a language and a text | quote a value that holds blanks"
        ),
        (
            "message de \"a\";",
            "1: error: message has no text for all other languages | add message TEXT; without a language"
        ),
        ("message a; message b;", "12: error: a second message | the first one is at etc/realms.conf:2:1"),
        (
            "message a; message de b; message DE c;",
            "26: error: a second message de | the first one is at etc/realms.conf:2:12"
        ),
        ("message a; message de \"\";", "23: error: message is a text of 1 to 300 characters"),
        (
            "help-link https://a.example/; help-link de x;",
            "44: error: x is not an https URL | as in: help-link https://intranet.example.org/help;"
        ),
        ("help-text Desk;", "1: warning: help-text has no effect without help-link"),
    ])
    func `a mistake in a translation of a text is reported at its place`(statements: String, message: String) {
        #expect(brand(statements).diagnostics() == ["etc/realms.conf:2:\(message)"])
    }

    @Test func `the language of a text must be one of languages`() {
        let text = "server { sign-in { languages en; brand { message a; message de b; } } }"
        let message = "there are no pages in the language de | known names: en; quote a text that holds blanks"
        #expect(MemoryFolder(text).diagnostics() == ["etc/realms.conf:1:61: error: \(message)"])
    }

    @Test func `a rule may name its application`() throws {
        let rules =
            "protect /a { auth form; require any; application \"My Wiki\"; }\nprotect /b { auth form; require any; }"
        #expect(try MemoryFolder(Self.realms + rules).load().rules.map(\.application) == ["My Wiki", nil])
    }

    @Test func `a mistake in application is reported at its place`() {
        let rules = """
            protect /a { auth form; require any; application \(String(repeating: "n", count: 61)); }
            protect /b { require any; application B; }
            protect /c { open; application C; }
            """
        #expect(
            MemoryFolder(Self.realms + rules).diagnostics() == [
                "etc/realms.conf:4:50: error: application is a text of 1 to 60 characters",
                "etc/realms.conf:5:39: warning: application has no effect: only the sign-in page shows it, and auth has no form",
                "etc/realms.conf:6:20: error: open and application exclude each other",
            ]
        )
    }

    @Test func `a rule for the path of the logo has no effect only if there is a logo`() {
        let rule = "protect /logo { auth form; require any; }\n"
        var folder = MemoryFolder(Self.realms + rule + "server { sign-in { brand { logo logo.svg; } } }")
        folder.files["etc/logo.svg"] = Self.png
        #expect(
            folder.diagnostics() == [
                "etc/realms.conf:4:9: warning: the rule has no effect: /logo is a sign-in page | "
                    + "set another path for the pages with server { sign-in { prefix /gatehouse; } }"
            ]
        )
        #expect(MemoryFolder(Self.realms + rule).diagnostics().isEmpty)
    }
}
