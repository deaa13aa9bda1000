// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import ArgumentParser
internal import RealmConfiguration
internal import RealmKit

extension GatehouseOptions {
    /// `gatehouse translation`: the texts of the pages, for translators.
    struct TranslationTexts: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "translation",
            abstract: "Print the texts of the pages as a translation file."
        )

        @Argument(
            help: ArgumentHelp("The language: en, de or fr. Default: en.", valueName: "language"),
            completion: .list(Translations.builtIn.map(\.language))
        )
        var language = "en"

        func perform(_ kinds: [RealmKind]) async throws {
            let known = Translations.builtIn
            guard let translation = known.first(where: { $0.language.utf8.elementsEqual(language.lowercased().utf8) })
            else {
                let names = known.map(\.language).joined(separator: ", ")
                throw CommandError(
                    .usage,
                    "there is no built-in translation for \(language); known languages: \(names)"
                )
            }
            GatehouseCommand.print(String(translation.builtInFile.dropLast()))
        }
    }
}
