// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmKit

// Warnings about realms that may be unavailable while a later realm of the same list is not.

extension ConfigurationBuilder {
    /// Warns about a list of several realms without `when-unavailable`, if a realm that is not the last one depends on
    /// another system.
    ///
    /// - Parameters:
    ///   - names: The names of the realms, in order.
    ///   - statement: The statement that names them.
    ///   - linked: The realms without errors.
    func warnAboutUnavailable(_ names: [String], in statement: Statement, of linked: [BoundRealm]) {
        let dependent = names.dropLast().firstIndex { name in
            linked.contains { $0.name == name && $0.dependsOnOtherSystems }
        }
        guard let dependent, let word = statement.arguments.first else { return }
        let (first, next) = (names[dependent], names[dependent + 1])
        let message =
            "while realm \(first) is unavailable, realm \(next) decides, and its user of the same name may be another person"
        let hint =
            "write when-unavailable stop; to answer 503 in this case, or when-unavailable continue; if \(next) may decide"
        log.add(text.warning(at: word.range, message, hint: hint))
    }

    /// Warns about the realms of the `sign-in` block.
    func warnAboutUnavailable(signInOf server: Statement?, of linked: [BoundRealm]) {
        guard case .block(let settings) = server?.body,
            case .block(let signIn) = settings.first(where: { $0.keyword.text == "sign-in" })?.body,
            let statement = signIn.first(where: { $0.keyword.text == "realm" }),
            !signIn.contains(where: { $0.keyword.text == "when-unavailable" })
        else { return }
        warnAboutUnavailable(statement.arguments.compactMap(expanded), in: statement, of: linked)
    }
}
