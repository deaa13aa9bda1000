// SPDX-License-Identifier: Apache-2.0

import RealmConfiguration
import SeededRandom
import Testing

@testable import AccessControl

@Suite struct AcceptLanguageTests {
    private let translations = Translations()

    @Test(arguments: [
        ("", "en"), ("de", "de"), ("de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7", "de"), ("da, en-gb;q=0.8, en;q=0.7", "en"),
        ("fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", "fr"), ("es, de;q=0.1", "de"), ("es", "en"), ("*", "en"),
        ("de;q=0.5, fr;q=0.8", "fr"), ("de;q=0.500,fr;q=0.501", "fr"), ("de;q=0", "en"),
        ("de;q=0.000, fr;q=0.001", "fr"),
        ("de ; q=1 , fr", "de"), ("en;q=0.1, fr;Q=0.2", "fr"), ("de;q=2", "de"), ("de;q=1.5, fr", "de"),
        ("de;q=x, fr;q=0.1", "fr"), ("de;q=, fr;q=0.1", "fr"), ("de;q=0.1234, fr;q=0.1", "fr"),
        ("de;q=-1, fr;q=0.1", "fr"), ("de;level=1, fr;q=0.1", "fr"), (",,;,fr", "fr"), ("\tde\t", "de"),
        ("es,es,es,es,es,es,es,es,es,es,es,es,es,es,es,de", "de"),
        ("es,es,es,es,es,es,es,es,es,es,es,es,es,es,es,es,de", "en"),
    ])
    func `the language with the highest weight is chosen`(value: String, language: String) {
        let index = AcceptLanguageField.index(for: value.utf8Span.span, in: translations)
        #expect(translations.all[index].language == language)
    }

    @Test func `any bytes choose a translation that exists`() {
        var random = Random(seed: 7)
        let pieces = ["de", "fr", "-", ",", ";", "q=", "0", ".", "1", "*", " ", "é", "en-US", "\u{0}"]
        for _ in 0..<5000 {
            let text = (0..<random.below(40)).map { _ in random.pick(pieces) }.joined()
            #expect(
                translations.all.indices.contains(AcceptLanguageField.index(for: text.utf8Span.span, in: translations))
            )
            let bytes = random.bytes(random.below(200))
            #expect(translations.all.indices.contains(AcceptLanguageField.index(for: bytes.span, in: translations)))
        }
    }
}
