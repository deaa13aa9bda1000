// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmKit

extension ConfigurationLoader {
    /// The names that messages about a configuration may quote, and those whose values they may not.
    ///
    /// The value of a property is harmless unless its kind is a secret, or a location, which may be a URL with a password.
    var names: KnownNames {
        let modules = kinds.flatMap(\.modules)
        let schemas = kinds.map(\.properties) + modules.map(\.options)
        var harmless = Set(Self.statements + [ModuleLinker.deadline.name])
        var secret: Set = ["token"]
        for property in schemas.flatMap(\.properties) {
            switch property.kind {
            case .secret, .location: secret.insert(property.name)
            case .string, .integer, .boolean, .duration, .path, .list, .choice, .realm, .realms:
                harmless.insert(property.name)
            }
        }
        let words = kinds.flatMap(\.classNames) + modules.flatMap(\.names) + ControlFlag.allCases.map(\.rawValue)
        return KnownNames(harmless: harmless, secret: secret, words: Set(words))
    }

    /// The statements of realms.conf that are no properties of realms, of which only `token` has a secret.
    private static let statements =
        ConfigurationBuilder.keywords + RealmLinker.keywords + CacheTimes.schema.allKeywords + RoleReader.keywords
        + RuleReader.keywords + ServerSettings.schema.allKeywords + PasswordSettings.schema.allKeywords
}
