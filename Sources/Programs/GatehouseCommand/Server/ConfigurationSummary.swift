// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import ConfiguredTLS
internal import Passwords
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Throttle

/// A summary of a configuration for administrators; settings with their default values are left out.
enum ConfigurationSummary {
    static func text(_ configuration: Configuration, tls: ServerTLS?) -> String {
        let settings = configuration.server
        let parts = [
            realms(configuration), contexts(configuration), rules(configuration),
            section("passwords", passwords(configuration.passwords), without: passwords(PasswordSettings())),
            section("failed logins", throttle(settings.throttle), without: throttle(ThrottleSettings())),
            section(
                "sessions",
                sessions(settings.sessions) + signIn(settings.signIn),
                without: sessions(SessionSettings()) + signIn(SignInSettings())
            ),
            server(configuration, tls: tls),
        ]
        return parts.flatMap { $0 }.joined(separator: "\n")
    }

    /// A title and the lines below it without those of the default settings; nothing if no line is left.
    private static func section(_ title: String, _ lines: [String], without standard: [String]) -> [String] {
        let changed = lines.filter { !standard.contains($0) }
        return changed.isEmpty ? [] : [title] + changed
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
            lines += ((realm.realm as? any SummarizedRealm)?.summary ?? []).map { "    \($0)" }
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

    /// The conditions of a rule, in the words of realms.conf.
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

    private static func sessions(_ settings: SessionSettings) -> [String] {
        [
            "  expire after \(time(settings.idle)) without a request, and after \(time(settings.absolute))",
            "  at most \(settings.perUser) for a user, \(settings.total) in all",
        ]
    }

    private static func signIn(_ signIn: SignInSettings) -> [String] {
        let prefix = signIn.prefix.isEmpty ? "/" : signIn.prefix
        var lines = ["  sign-in pages below \(prefix), at most \(time(signIn.time)) for a sign-in"]
        let brand = signIn.brand
        if brand != SignInBrand() {
            let parts = [
                brand.name, brand.logo.map { _ in "logo" }, brand.message.map { _ in "message" },
                brand.footer.map { _ in "footer" }, brand.helpLink.map { _ in "help-link" },
            ]
            lines.append("  brand \(parts.compactMap(\.self).joined(separator: ", "))")
        }
        if let host = signIn.host { lines.append("  \(host) signs users in for all hosts with form") }
        if !signIn.realms.isEmpty { lines.append("  sign-in in realm \(signIn.realms.joined(separator: " "))") }
        if let reaction = signIn.whenUnavailable { lines.append("  when-unavailable \(reaction.rawValue)") }
        if !signIn.returnTo.isEmpty {
            lines.append("  may return to \(signIn.returnTo.map(\.description).joined(separator: ", "))")
        }
        return lines + languages(signIn.translations)
    }

    /// The languages of the pages, and for each translation file the number of texts that it lacks.
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
        lines += settings.metricsAddresses.map { "  serves metrics on \($0.value)" }
        let proxies = settings.trustedProxies.map(\.description)
        if !proxies.isEmpty { lines.append("  trusts the proxies \(proxies.joined(separator: ", "))") }
        if !settings.identityTokenKeys.isEmpty { lines.append("  gives identity tokens to applications") }
        if let clients = settings.realmAPI?.clients.map(\.name), !clients.isEmpty {
            lines.append("  checks logins for \(clients.joined(separator: ", "))")
        }
        if settings.tls.minimumVersion != TLSSettings().minimumVersion {
            lines.append("  TLS \(settings.tls.minimumVersion.rawValue) or newer")
        }
        if settings.tls.clientCertificates != .none {
            lines.append("  client certificates \(settings.tls.clientCertificates.rawValue)")
        }
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
        return lines
    }
}

extension ConfigurationSummary {
    /// The rules for new passwords, and the limits of password checks.
    static func passwords(_ settings: PasswordSettings) -> [String] {
        let slots = settings.slots
        let checks = slots.workers == 0 ? "one check for each processor" : "\(slots.workers) checks"
        let refused =
            switch slots.whenFull {
            case .refuse: "further checks are refused"
            case .cancelOldest: "the oldest waiting checks are refused"
            }
        return [
            "  new passwords have at least \(settings.minimumLength) characters and are hashed with \(settings.policy)",
            "  at most \(checks) at a time, with \(size(slots.memory)) of memory and niceness \(slots.niceness)",
            "  at most \(slots.queue) checks wait, each for at most \(time(slots.wait)); \(refused)",
        ]
    }

    static func throttle(_ settings: ThrottleSettings) -> [String] {
        let longest = time(settings.longestDelay)
        let delay =
            settings.delay == .zero
            ? "not delayed" : "delayed by \(time(settings.delay)), then longer, up to \(longest)"
        var lines = ["failed logins", "  answers are \(delay)"]
        lines.append(lock("an account", failures: settings.failures, in: settings.window, for: settings.lock))
        lines.append(
            lock("an address", failures: settings.sourceFailures, in: settings.sourceWindow, for: settings.sourceLock)
        )
        if !settings.exempt.isEmpty { lines.append("  exempt networks: \(settings.exempt.count)") }
        return lines
    }

    private static func lock(_ subject: String, failures: Int, in window: Duration, for lock: Duration) -> String {
        guard failures > 0 else { return "  never lock \(subject)" }
        return "  \(failures) within \(time(window)) lock \(subject) for \(time(lock))"
    }

    private static func size(_ bytes: Int) -> String {
        bytes % (1 << 30) == 0 ? "\(bytes >> 30) GiB" : "\(bytes >> 20) MiB"
    }

    /// A time in the syntax of realms.conf, in the largest unit that gives a whole number.
    static func time(_ time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        guard attoseconds == 0 else { return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms" }
        let units = [("d", Int64(86_400)), ("h", 3600), ("m", 60)]
        guard seconds > 0, let (unit, length) = units.first(where: { seconds % $0.1 == 0 }) else {
            return "\(seconds)s"
        }
        return "\(seconds / length)\(unit)"
    }
}
