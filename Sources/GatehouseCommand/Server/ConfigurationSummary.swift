// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ConfiguredTLS
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// A summary of a configuration for administrators.
enum ConfigurationSummary {
    static func text(_ configuration: Configuration, tls: ServerTLS?) -> String {
        let parts = [
            realms(configuration), contexts(configuration), rules(configuration), passwords(configuration.passwords),
            throttle(configuration.server.throttle), signIn(configuration.server),
            server(configuration, tls: tls),
        ]
        return parts.flatMap { $0 }.joined(separator: "\n")
    }

    private static func realms(_ configuration: Configuration) -> [String] {
        var lines = ["realms"]
        if configuration.realms.isEmpty { lines.append("  none") }
        for realm in configuration.realms {
            let mark = realm.name == configuration.defaultRealm ? " (default)" : ""
            lines.append("  \(realm.name)\(mark)  \(realm.className), \(realm.realm.authType)")
            lines.append("    login context \(realm.stack.name)")
            if !realm.nested.isEmpty { lines.append("    uses \(realm.nested.map(\.name).joined(separator: ", "))") }
            if !realm.assignedGroups.isEmpty {
                lines.append("    every user is in \(GroupName.list(realm.assignedGroups))")
            }
        }
        return lines
    }

    private static func contexts(_ configuration: Configuration) -> [String] {
        var lines = ["login contexts"]
        if configuration.contexts.isEmpty { lines.append("  none") }
        for context in configuration.contexts {
            let users = context.realms.isEmpty ? "used by no realm" : "for \(context.realms.joined(separator: ", "))"
            lines.append("  \(context.name)  \(context.place), \(users)")
            for module in context.modules { lines.append("    \(module.control) \(module.name)") }
        }
        return lines
    }

    private static func rules(_ configuration: Configuration) -> [String] {
        var lines = ["protected"]
        if configuration.rules.isEmpty { lines.append("  nothing") }
        lines += configuration.rules.map { "  \($0.target)  \(conditions($0))" }
        if !configuration.roles.isEmpty { lines.append("roles") }
        for role in configuration.roles {
            let members = [("group", role.groups), ("user", role.users), ("realm", role.realms)]
                .filter { !$1.isEmpty }.map { "\($0) \($1.joined(separator: " "))" }
            lines.append("  \(role.name)  \(members.joined(separator: ", "))")
        }
        return lines
    }

    /// Returns the conditions of a rule, in the words of realms.conf.
    private static func conditions(_ rule: ProtectRule) -> String {
        var parts: [String] = []
        switch rule.access {
        case .open: parts.append("open")
        case .nobody: parts.append("nobody")
        case .users:
            parts.append("realm \(rule.realms.joined(separator: " "))")
            if rule.whenUnavailable == .stop { parts.append("when-unavailable stop") }
            parts.append(rule.schemes.map(\.rawValue).joined(separator: " "))
            parts.append(rule.requirements.map(\.description).joined(separator: ", or "))
        }
        if !rule.methods.isEmpty { parts.append("methods \(rule.methods.joined(separator: " "))") }
        if !rule.networks.isEmpty {
            parts.append("networks \(rule.networks.map(\.description).joined(separator: " "))")
        }
        return parts.joined(separator: ", ")
    }

    /// Returns the limits of sessions, and the settings of the sign-in pages.
    private static func signIn(_ settings: ServerSettings) -> [String] {
        let sessions = settings.sessions
        var lines = ["sessions"]
        lines.append("  expire after \(time(sessions.idle)) without a request, and after \(time(sessions.absolute))")
        lines.append("  at most \(sessions.perUser) for a user, \(sessions.total) in all")
        let signIn = settings.signIn
        let prefix = signIn.prefix.isEmpty ? "/" : signIn.prefix
        lines.append("  sign-in pages below \(prefix), at most \(time(signIn.time)) for a sign-in")
        if let host = signIn.host { lines.append("  \(host) signs users in for all hosts with form") }
        if !signIn.realms.isEmpty { lines.append("  sign-in in realm \(signIn.realms.joined(separator: " "))") }
        if let reaction = signIn.whenUnavailable { lines.append("  when-unavailable \(reaction.rawValue)") }
        if !signIn.returnTo.isEmpty {
            lines.append("  may return to \(signIn.returnTo.map(\.description).joined(separator: ", "))")
        }
        return lines + languages(signIn.translations)
    }

    /// Returns the languages of the pages, and for each translation file the number of texts that it lacks.
    private static func languages(_ translations: Translations) -> [String] {
        let tags = translations.all.map(\.language)
        let standard = tags.count == 1 ? "" : "; other browsers get \(translations.standard.language)"
        var lines = ["  pages in \(tags.joined(separator: ", "))\(standard)"]
        for translation in translations.all where !translation.files.isEmpty {
            let count = translation.lacking.count
            let lack = count == 0 ? "" : ", lacks \(count) of \(MessageKey.allCases.count) texts, which are in English"
            lines.append("    \(translation.language)  \(translation.files.joined(separator: ", "))\(lack)")
        }
        return lines
    }

    private static func server(_ configuration: Configuration, tls: ServerTLS?) -> [String] {
        let settings = configuration.server
        var lines = ["server"]
        lines += settings.listen.map { "  listens on \($0.value)" }
        let proxies = settings.trustedProxies.map(\.description)
        lines.append("  trusts \(proxies.isEmpty ? "no proxy" : "the proxies \(proxies.joined(separator: ", "))")")
        lines.append("  TLS \(settings.tls.minimumVersion.rawValue) or newer")
        guard let tls else {
            return lines + [
                "  a development certificate is created in \(settings.stateFolder.value) at the first start"
            ]
        }
        let kind = tls.certificate.isDevelopment ? "development certificate" : "certificate"
        for (label, certificate) in [(kind, tls.certificate)] + tls.hostCertificates.map({ ("certificate", $0) }) {
            lines.append("  \(label) \(certificate.file)")
            lines.append("    SHA-256 \(certificate.fingerprint)")
        }
        lines += tls.warnings.map { "    warning: \($0)" }
        return lines
    }
}
