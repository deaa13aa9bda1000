// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import LoginConf
public import RealmKit

/// Reads a realms.conf with its login.conf files, and links them with the realms that the executable contains.
public struct ConfigurationLoader: Sendable {
    let kinds: [RealmKind]
    let files: ConfigurationFiles
    let clock: any LoginClock
    let properties: [String: String]
    let services: any RealmServiceSource

    /// Creates a loader.
    ///
    /// - Parameters:
    ///   - kinds: The types of realms and modules.
    ///   - files: The source of files and environment variables.
    ///   - clock: The clock for the deadlines of modules.
    ///   - properties: The values of `${name}`. The property `config.dir`, the folder of realms.conf, is added.
    ///   - services: The source of the services for realms.
    public init(
        _ kinds: [RealmKind],
        files: ConfigurationFiles,
        clock: any LoginClock,
        properties: [String: String] = [:],
        services: any RealmServiceSource = NoRealmServices()
    ) {
        self.kinds = kinds
        self.files = files
        self.clock = clock
        self.properties = properties
        self.services = services
    }

    /// Reads and links a configuration.
    ///
    /// - Parameter path: The path of the realms.conf.
    /// - Returns: The configuration, with its warnings.
    /// - Throws: ``ConfigurationErrors`` with the errors of all files.
    public func load(_ path: String) throws(ConfigurationErrors) -> Configuration {
        let text: SourceText
        switch files.read(path) {
        case .success(let contents):
            text = SourceText(name: path, bytes: contents.bytes)
            return try link(text, isWritableByAll: contents.isWritableByAll)
        case .failure(let fault):
            text = SourceText(name: path, bytes: [])
            let hint = "name another file with --config FILE"
            throw ConfigurationErrors(
                "the configuration cannot be read: \(fault.reason)",
                at: .none,
                in: text,
                hint: hint
            )
        }
    }

    private func link(_ text: SourceText, isWritableByAll: Bool) throws(ConfigurationErrors) -> Configuration {
        let log = DiagnosticLog()
        if isWritableByAll { log.warnWritable(text) }
        let parsed = RealmsConf.parse(text)
        log.add(parsed.diagnostics)
        let builder = ConfigurationBuilder(text, expansion: expansion(for: text.name), loader: self, log: log)
        let configuration = builder.build(parsed.partial)
        // A syntax error may hide statements, so the linker may report errors that are only its consequences. These are
        // not shown.
        if let errors = ConfigurationErrors(parsed.diagnostics) { throw errors }
        if let errors = ConfigurationErrors(log.diagnostics) { throw errors }
        return configuration
    }

    /// Returns the values of the references `${...}` in a file.
    func expansion(for file: String) -> Expansion {
        var properties = properties
        properties["config.dir"] = RelativePath.folder(of: file)
        return Expansion(
            property: { [properties] in properties[$0] },
            environment: files.environment,
            file: { [files] in files.read(RelativePath.resolve($0, beside: file)).map(\.bytes) }
        )
    }
}

/// The errors and warnings of a configuration in the order in which they were found, without duplicates.
final class DiagnosticLog {
    private(set) var diagnostics: [Diagnostic] = []
    private var seen: Set<Diagnostic> = []

    func add(_ diagnostic: Diagnostic) {
        if seen.insert(diagnostic).inserted { diagnostics.append(diagnostic) }
    }

    func add(_ diagnostics: [Diagnostic]) {
        diagnostics.forEach { add($0) }
    }

    func warnWritable(_ text: SourceText) {
        add(
            text.warning(
                at: .none,
                "all users of this machine can write to this file and change the access rules",
                hint: "chmod o-w"
            )
        )
    }
}
