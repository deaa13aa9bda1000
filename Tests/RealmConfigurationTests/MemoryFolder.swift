// SPDX-License-Identifier: Apache-2.0

import AccessControl
import BuiltInRealms
import Files
import LoginConf
import RealmConfiguration
import RealmKit
import RealmTesting

/// A folder in memory with a realms.conf and other files.
struct MemoryFolder: Sendable {
    var files: [String: [UInt8]]
    var writable: Set<String> = []
    var readableByOthers: Set<String> = []
    var environment: [String: String] = [:]
    var properties: [String: String] = [:]
    /// Further types of realms and modules.
    var kinds: [RealmKind] = []

    init(_ realms: String, _ others: [String: String] = [:]) {
        files = others.mapValues { Array($0.utf8) }
        files["etc/realms.conf"] = Array(realms.utf8)
    }

    /// Loads the configuration with some built-in realms and ``VaultRealm``.
    func load(
        _ path: String = "etc/realms.conf",
        clock: ManualClock = ManualClock()
    ) throws(ConfigurationErrors) -> Configuration {
        let (files, writable, readable, environment) = (files, writable, readableByOthers, environment)
        var source = ConfigurationFiles(
            read: { path in
                guard let bytes = files[path] else {
                    return .failure(Expansion.UnreadableFile("No such file or directory", isMissing: true))
                }
                return .success(bytes)
            },
            environment: { environment[$0] }
        )
        source.findings = { path, use, _ in
            var dangers: [FileTrust.Danger] = writable.contains(path) ? [.everyoneWrites] : []
            if readable.contains(path), use == .privateKey { dangers.append(.othersRead) }
            if readable.contains(path), use == .secret { dangers.append(.everyoneReads) }
            return dangers.map { FileTrust.Finding($0, of: path, as: use) }
        }
        // Only two built-in realms are used. Otherwise each new realm would change the diagnostics that list all realms.
        let builtIn = builtInRealms.filter { !Set($0.classNames).isDisjoint(with: ["StackRealm", "StartWithRealm"]) }
        let kinds = builtIn + [RealmKind(VaultRealm.self, modules: VaultLoginModule.self)] + self.kinds
        return try ConfigurationLoader(kinds, files: source, clock: clock, properties: properties).load(path)
    }

    /// Returns all diagnostics in the form `file:line:column: severity: message | hint`.
    func diagnostics() -> [String] {
        do throws(ConfigurationErrors) {
            return try load().warnings.map(Self.line)
        } catch {
            return error.diagnostics.map(Self.line)
        }
    }

    private static func line(_ diagnostic: Diagnostic) -> String {
        let place = "\(diagnostic.file):\(diagnostic.line):\(diagnostic.column)"
        return "\(place): \(diagnostic.severity.rawValue): \(diagnostic.message)"
            + (diagnostic.hint.map { " | \($0)" } ?? "")
    }
}

extension ProtectRule {
    /// Returns the rule with a place in the file.
    func at(_ place: String) -> ProtectRule {
        var rule = self
        rule.place = place
        return rule
    }
}
