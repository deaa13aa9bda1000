// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Gatehouse
internal import RealmConfiguration
internal import RealmKit

/// What a configuration comes to, for a person to read.
enum Outline {
    static func text(_ configuration: Configuration, tls: ServerTLS?) -> String {
        let parts = [
            realms(configuration), contexts(configuration), rules(configuration), passwords(configuration.passwords),
            throttle(configuration.server.throttle), server(configuration, tls),
        ]
        return parts.flatMap { $0 }.joined(separator: "\n")
    }

    private static func realms(_ configuration: Configuration) -> [String] {
        var lines = ["realms"]
        if configuration.realms.isEmpty { lines.append("  none") }
        for realm in configuration.realms {
            let mark = realm.name == configuration.defaultRealm ? " (default)" : ""
            lines.append("  \(realm.name)\(mark)  \(realm.className), \(realm.realm.authType)")
            lines.append("    checked by \(realm.stack.name)")
            if !realm.assignedGroups.isEmpty {
                lines.append("    everybody is in \(realm.assignedGroups.joined(separator: ", "))")
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
            for module in context.modules { lines.append("    \(module.flag.rawValue) \(module.name)") }
        }
        return lines
    }

    private static func rules(_ configuration: Configuration) -> [String] {
        var lines = ["protected"]
        if configuration.rules.isEmpty { lines.append("  nothing") }
        for rule in configuration.rules {
            let who = rule.requirements.map(\.description).joined(separator: ", or ")
            let how = rule.schemes.map(\.rawValue).joined(separator: ", ")
            lines.append("  \(rule.path)  realm \(rule.realms.joined(separator: ", ")), \(how), \(who)")
        }
        return lines
    }

    private static func server(_ configuration: Configuration, _ tls: ServerTLS?) -> [String] {
        let settings = configuration.server
        var lines = ["server"]
        lines += settings.listen.map { "  listens on \($0.value)" }
        lines.append("  TLS \(settings.tls.minimumVersion.rawValue) or newer")
        guard let tls else {
            return lines + ["  a development certificate is made in \(settings.stateFolder.value) at the first start"]
        }
        let kind = tls.certificate.isDevelopment ? "development certificate" : "certificate"
        for (what, certificate) in [(kind, tls.certificate)] + tls.hostCertificates.map({ ("certificate", $0) }) {
            lines.append("  \(what) \(certificate.file)")
            lines.append("    SHA-256 \(certificate.fingerprint)")
        }
        lines += tls.doubts.map { "    warning: \($0)" }
        return lines
    }
}
