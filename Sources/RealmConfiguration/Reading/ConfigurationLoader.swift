// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import LoginConf
public import RealmKit

/// Reads a realms.conf and everything it names, and links it with the realms an executable brings.
public struct ConfigurationLoader: Sendable {
    let kinds: [RealmKind]
    let files: ConfigurationFiles
    let clock: any LoginClock
    let properties: [String: String]
    let services: any RealmServiceSource

    /// A loader.
    ///
    /// - Parameters:
    ///   - kinds: The types of realms and modules there are.
    ///   - files: Where files and environment variables come from.
    ///   - clock: The time, for the stacks that are made.
    ///   - properties: What `${name}` stands for; `config.dir`, the folder of realms.conf, is added.
    ///   - services: Makes what realms are lent.
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
    /// - Throws: ``ConfigurationErrors`` with everything that is wrong, in whichever file.
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
        let linker = Linker(text, expansion: expansion(for: text.name), loader: self, log: log)
        let configuration = linker.link(parsed.partial)
        // What did not parse is missing from what was linked, so only syntax errors are worth reporting then.
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

/// What is wrong and what is doubtful, in the order in which it was found, each thing once.
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
        add(text.warning(at: .none, "anybody may write to this file, and so decide who comes in", hint: "chmod o-w"))
    }
}
