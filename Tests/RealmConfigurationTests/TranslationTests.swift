// SPDX-License-Identifier: Apache-2.0

import AccessControl
import SeededRandom
import Testing

@testable import RealmConfiguration

@Suite struct TranslationTests {
    private func folder(_ statements: String, files: [String: String] = [:]) -> MemoryFolder {
        var folder = MemoryFolder("server { sign-in {\n\(statements)\n} }")
        for (name, text) in files { folder.files["etc/\(name)"] = Array(text.utf8) }
        return folder
    }

    private func translations(_ statements: String, files: [String: String] = [:]) throws -> Translations {
        try folder(statements, files: files).load().server.signIn.translations
    }

    @Test(arguments: Translations.builtIn)
    func `a built-in translation has every text, with the placeholders of the English one`(translation: Translation) {
        for key in MessageKey.allCases {
            let text = translation.texts[key.rawValue]
            #expect(text?.isEmpty == false, "\(translation.language): \(key.rawValue)")
            let (found, expected) = (Placeholder.names(in: text ?? ""), Placeholder.names(in: Translation.english[key]))
            #expect(found == expected, "\(translation.language): \(key.rawValue)")
        }
        #expect(translation.texts.count == MessageKey.allCases.count)
    }

    @Test func `German and French differ from English in every text except those that are the same word`() {
        let same: [MessageKey] = [.direction]
        for other in [Translation.german, .french] {
            let equal = MessageKey.allCases.filter { other[$0] == Translation.english[$0] }
            #expect(Set(equal) == Set(same), "\(other.language)")
        }
    }

    @Test(arguments: Translations.builtIn)
    func `a built-in text needs no escape in a translation file`(translation: Translation) {
        for text in translation.texts.values { #expect(!text.contains { "\"\\$\n".contains($0) }) }
    }

    @Test func `placeholders are replaced, and a value is not searched for placeholders`() {
        let text = Translation.english.text(.signingInToAs, ["application": "{user}", "user": "{application}"])
        #expect(text == "Signing in to {user} as {application}.")
        #expect(Placeholder.names(in: "{a} {b {c} } {") == ["a", "b {c"])
        #expect(Translation.english.text(.welcome, [:]) == "Welcome {user}")
    }

    @Test func `without settings the pages are in English, German or French`() throws {
        #expect(try translations("").all.map(\.language) == ["en", "de", "fr"])
        #expect(try translations("languages de EN;").all.map(\.language) == ["de", "en"])
    }

    @Test func `a translation file adds a language, and its missing texts are in English`() throws {
        let folder = folder("translation IT it.conf;", files: ["it.conf": "sign-in \"Accedi\"; direction ltr;"])
        let italian = try #require(try folder.load().server.signIn.translations.all.last)
        #expect(italian.language == "it" && italian[.signIn] == "Accedi" && italian[.help] == "Help")
        #expect(
            folder.diagnostics() == [
                "etc/realms.conf:2:16: warning: the translation to it has no text for error-title, help, continue"
                    + " and \(MessageKey.allCases.count - 5) more; these texts are in English"
            ]
        )
    }

    @Test func `a translation file may change some texts of a built-in language`() throws {
        let files = ["words.conf": "user-name \"Employee number\";"]
        let folder = folder("translation en words.conf; languages en;", files: files)
        let english = try folder.load().server.signIn.translations.standard
        #expect(english[.userName] == "Employee number" && english[.password] == "Password")
        #expect(folder.diagnostics() == [])
    }

    @Test(arguments: Translations.builtIn)
    func `the reader of translation files reads a built-in file as the program does`(translation: Translation) throws {
        let folder = folder("translation xx xx.conf;", files: ["xx.conf": translation.builtInFile])
        #expect(folder.diagnostics() == [])
        #expect(try folder.load().server.signIn.translations.all.last?.texts == translation.texts)
    }

    @Test(arguments: [
        (
            "languages en it;",
            "2:14: error: there is no translation for it | known names: de, en, fr; another language needs a file,"
                + " as in: translation it it.conf;"
        ),
        ("languages en en;", "2:14: error: en occurs twice in languages"),
        ("languages;", "2:1: error: languages takes at least one word"),
        ("translation it;", "2:1: error: translation takes a language and a file | as in: translation it it.conf;"),
        ("translation i_t it.conf;", "2:13: error: i_t is not the tag of a language | as in: translation it it.conf;"),
        ("translation it no.conf;", "2:16: error: the translation cannot be read: No such file or directory"),
    ])
    func `a mistake in the settings is reported at its place`(statement: String, message: String) {
        #expect(folder(statement).diagnostics() == ["etc/realms.conf:\(message)"])
    }

    @Test(arguments: [
        ("sign-im \"x\";", "1:1: error: unknown statement sign-im in the translation | did you mean sign-in?"),
        ("sign-in \"\";", "1:9: error: sign-in is a text of 1 to 500 characters"),
        ("sign-in a; sign-in b;", "1:12: error: a second sign-in | the first one is at etc/x.conf:1:1"),
        ("sign-in \"{user}\";", "1:9: error: unknown placeholder {user} | this text has no placeholders"),
        ("welcome \"{usr}\";", "1:9: error: unknown placeholder {usr} | did you mean user?"),
        ("welcome \"Benvenuto\";", "1:9: error: the text lacks the placeholder {user}"),
        ("direction down;", "1:11: error: direction is ltr or rtl"),
        ("sign-in \"a", "1:9: error: this quoted text is not closed"),
    ])
    func `a mistake in a translation file is reported at its place`(text: String, message: String) {
        let found = folder("translation de x.conf;", files: ["x.conf": text]).diagnostics()
        #expect(found.first?.hasPrefix("etc/x.conf:\(message)") == true, "\(found)")
    }

    @Test(arguments: [
        ("en", "en"), ("de", "de"), ("DE-ch", "de"), ("de-CH-1996", "de"), ("fr-CA", "fr"), ("pt-PT", "pt-br"),
        ("pt", "pt-br"), ("PT-BR", "pt-br"), ("es", nil), ("", nil), ("-", nil), ("de_DE", nil), ("d", nil),
    ])
    func `a language range finds its translation`(range: String, language: String?) {
        let brazilian = Translation(language: "pt-br", copying: .english)
        let translations = Translations(Translations.builtIn + [brazilian])
        let found = translations.index(for: range.utf8Span.span).map { translations.all[$0].language }
        #expect(found == language)
    }
}
