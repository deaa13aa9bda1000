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
            text = SourceText(name: path, bytes: contents.bytes, secretNames: secretNames)
            return try link(text)
        case .failure(let fault):
            text = SourceText(name: path, bytes: [])
            var message = "the configuration cannot be read: \(fault.reason)"
            if path == ConfigurationPath.installed { message += "; there is no realms.conf in this folder either" }
            throw ConfigurationErrors(message, at: .none, in: text, hint: "name another file with --config FILE")
        }
    }

    private func link(_ text: SourceText) throws(ConfigurationErrors) -> Configuration {
        let log = DiagnosticLog()
        let parsed = RealmsConf.parse(text)
        log.add(parsed.diagnostics)
        let builder = ConfigurationBuilder(text, loader: self, log: log)
        let configuration = builder.build(parsed.partial)
        let diagnostics = parsed.hasErrors ? SyntaxErrors(parsed, in: text).withIndependent(log) : log.diagnostics
        if let errors = ConfigurationErrors(diagnostics) { throw errors }
        return configuration
    }

    /// The names of properties and options whose values are secrets.
    var secretNames: Set<String> {
        let schemas = kinds.map(\.properties) + kinds.flatMap(\.modules).map(\.options)
        return Set(schemas.flatMap(\.properties).filter { $0.kind == .secret }.map(\.name))
    }

    /// Returns the values of the references `${...}` in a file.
    ///
    /// - Parameters:
    ///   - file: The path of the file with the references.
    ///   - onRead: Receives the path of each file that a reference names and that can be read.
    /// - Returns: The values.
    func expansion(
        for file: String,
        onRead: @escaping @Sendable (String) -> Void = { _ in }
    ) -> Expansion {
        var properties = properties
        properties["config.dir"] = RelativePath.folder(of: file)
        return Expansion(
            property: { [properties] in properties[$0] },
            environment: files.environment,
            file: { [files] reference in
                let path = RelativePath.resolve(reference, beside: file)
                return files.read(path).map { contents in
                    onRead(path)
                    return contents.bytes
                }
            }
        )
    }
}
