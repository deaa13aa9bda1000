// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import LoginConf
public import RealmKit
internal import Synchronization

/// Reads a realms.conf with its login.conf files, and links them with the realms that the executable contains.
public struct ConfigurationLoader: Sendable {
    let kinds: [RealmKind]
    let files: ConfigurationFiles
    let clock: any LoginClock
    let properties: [String: String]
    let services: ProgramServices?
    /// True for a proof, which needs the stacks and calls no module: a realm that cannot be created on this machine, such as
    /// one whose file is missing, is a warning, and its stack has entries without modules.
    package var isForProof = false

    /// Creates a loader for these types of realms and modules, with a clock for the deadlines of modules.
    ///
    /// The properties are the values of `${name}`. The property `config.dir`, the folder of realms.conf, is added.
    public init(
        _ kinds: [RealmKind],
        files: ConfigurationFiles,
        clock: any LoginClock,
        properties: [String: String] = [:]
    ) {
        self.init(kinds, files: files, clock: clock, properties: properties, services: nil)
    }

    /// Creates a loader that provides services to realms; without them, a realm that needs one cannot be loaded.
    package init(
        _ kinds: [RealmKind],
        files: ConfigurationFiles,
        clock: any LoginClock,
        properties: [String: String] = [:],
        services: ProgramServices?
    ) {
        self.kinds = kinds
        self.files = files
        self.clock = clock
        self.properties = properties
        self.services = services
    }

    /// Reads and links the realms.conf with this path; throws the errors of all files.
    public func load(_ path: String) throws(ConfigurationErrors) -> Configuration {
        let (configuration, errors) = try loadPartially(path)
        if let errors { throw errors }
        return configuration
    }

    /// Reads and links a configuration as far as its errors allow: a statement with an error has its default value.
    ///
    /// It is for `gatehouse health`, which needs the address of a server that runs although its file has errors now.
    /// Nothing may be served with such a configuration. It throws only if the file cannot be read.
    package func loadPartially(
        _ path: String
    ) throws(ConfigurationErrors) -> (configuration: Configuration, errors: ConfigurationErrors?) {
        switch files.read(path) {
        case .success(let bytes):
            return link(SourceText(name: path, bytes: bytes, names: names))
        case .failure(let fault):
            let text = SourceText(name: path, bytes: [])
            var message = "the configuration cannot be read: \(fault.reason)"
            if path == ConfigurationPath.installed { message += "; there is no realms.conf in this folder either" }
            throw ConfigurationErrors(message, at: .none, in: text, hint: "name another file with --config FILE")
        }
    }

    /// Links realms that a program defines in code, as if they were in a file in the current folder.
    package func load(
        _ definitions: [RealmDefinition],
        stateFolder: String?,
        settings: String
    ) throws(ConfigurationErrors) -> Configuration {
        let text = definitions.text(stateFolder: stateFolder, settings: settings, kinds: kinds)
        let (configuration, errors) = link(SourceText(ofProgram: Self.nameOfCode, text, names: names))
        if let errors { throw errors }
        return configuration
    }

    /// The name that errors show instead of a file.
    static let nameOfCode = "realms in code"

    private func link(_ text: SourceText) -> (configuration: Configuration, errors: ConfigurationErrors?) {
        let log = DiagnosticLog()
        let parsed = RealmsConf.parse(text)
        log.add(parsed.diagnostics)
        let builder = ConfigurationBuilder(text, loader: self, log: log)
        let configuration = builder.build(parsed.partial)
        let diagnostics = parsed.hasErrors ? log.diagnostics(after: parsed, in: text) : log.diagnostics
        return (configuration, ConfigurationErrors(diagnostics))
    }

    /// Returns the values of the references `${...}` in a file; `onRead` receives the path of each file that a reference
    /// names and that can be read.
    func expansion(for file: String, onRead: @escaping @Sendable (String) -> Void = { _ in }) -> Expansion {
        var properties = properties
        properties["config.dir"] = RelativePath.folder(of: file)
        return Expansion(
            property: { [properties] in properties[$0] },
            environment: files.environment,
            file: { [files] reference in
                let path = RelativePath.resolve(reference, beside: file)
                return files.read(path).map { bytes in
                    onRead(path)
                    return bytes
                }
            }
        )
    }
}

extension ConfigurationLoader {
    /// The names that messages about a configuration may quote, and those whose values they may not.
    ///
    /// The value of a property is harmless unless its kind is a secret, or a location, which may be a URL with a password.
    var names: KnownNames {
        let modules = kinds.flatMap(\.modules).filter { !$0.isOfPAM }
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
        ConfigurationBuilder.keywords + [RealmsConf.pamFile] + RealmLinker.keywords + CacheTimes.schema.allKeywords
        + RoleReader.keywords
        + RuleReader.keywords + ServerSettings.schema.allKeywords + PasswordSettings.schema.allKeywords
}

/// Runs the reloads of a program one after the other, so that an older configuration does not replace a newer one.
package final class ReloadQueue: Sendable {
    private let last = Mutex<Task<Void, Never>?>(nil)

    package init() {}

    /// Runs a reload after those before it; it is not cancelled with the caller.
    package func run(
        _ reload: @escaping @Sendable () async throws(ConfigurationErrors) -> Void
    ) async throws(ConfigurationErrors) {
        let task = last.withLock { last in
            let task = Task { [before = last] () -> ConfigurationErrors? in
                await before?.value
                do throws(ConfigurationErrors) { try await reload() } catch { return error }
                return nil
            }
            last = Task { _ = await task.value }
            return task
        }
        if let errors = await task.value { throw errors }
    }
}

extension ConfigurationErrors {
    /// Writes the errors to standard error, and ends the process with status 3, as `gatehouse` does.
    ///
    /// It is for the main program of a server. An error that no code catches would end the program with a backtrace. The
    /// lines of a file are shown on a terminal only, because more people may read a log; the statements of realms in code
    /// always are.
    public func exit() -> Never {
        let text = isatty(STDERR_FILENO) == 1 ? description : logText
        var rest = Array((text + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        Glibc.exit(3)
    }
}

/// Runs a program, and ends the process with status 3 if its configuration has errors.
///
/// The errors are printed on standard error, with their places.
///
/// ```swift
/// try await exitOnConfigurationErrors {
///     let verifier = try await RealmVerifier("realms.conf", kinds: builtInRealms, logger: logger)
///     ...
/// }
/// ```
///
/// - Parameter program: Creates the realms, and does its work.
/// - Throws: All other errors of the program.
public func exitOnConfigurationErrors(_ program: () async throws -> Void) async throws {
    do {
        try await program()
    } catch let errors as ConfigurationErrors {
        errors.exit()
    }
}
