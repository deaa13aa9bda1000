// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import LoginConf
public import RealmKit

/// Reads a realms.conf and the files it names, and links it with the realms that an executable contains.
public struct ConfigurationLoader: Sendable {
    let kinds: [RealmKind]
    let files: ConfigurationFiles
    let clock: any LoginClock
    let properties: [String: String]
    let services: any RealmServiceSource

    /// A loader.
    ///
    /// - Parameters:
    ///   - kinds: The types of realms and modules.
    ///   - files: The source of files and environment variables.
    ///   - clock: The clock of the stacks.
    ///   - properties: The values of `${name}`; `config.dir`, the folder of realms.conf, is added.
    ///   - services: The source of the services that realms are provided with.
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
    /// - Parameter path: The realms.conf.
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
        let configuration = builder.link(parsed.partial)
        // Statements that did not parse are missing here, so that further errors may be consequences of syntax errors.
        if let errors = ConfigurationErrors(parsed.diagnostics) { throw errors }
        if let errors = ConfigurationErrors(log.diagnostics) { throw errors }
        return configuration
    }

    func expansion(for file: String) -> Expansion {
        var properties = properties
        properties["config.dir"] = FilePath.folder(of: file)
        return Expansion(
            property: { [properties] in properties[$0] },
            environment: files.environment,
            file: { [files] in files.read(FilePath.resolve($0, beside: file)).map(\.bytes) }
        )
    }
}

/// The errors and warnings of a configuration, in the order in which they were found, each once.
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
                "all users of this machine can write to this file, and so change who gets access",
                hint: "chmod o-w"
            )
        )
    }
}
