// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CommandSupport
internal import ConfiguredTLS
internal import Glibc
internal import LoginConf
internal import RealmConfiguration
internal import RealmKit

/// The configuration of `gatehouse init`, read by the loader before it is written.
extension InitAnswers {
    /// Reads the configuration with the answers, and checks it as `gatehouse check` does; with `createIfMissing`, it may
    /// create the state folder.
    func load(
        _ kinds: [RealmKind],
        access: StateAccess,
        log: RealmLog = .discarding
    ) throws(ConfigurationErrors) -> Configuration {
        var answers = self
        // The folder of --state may be of another user, and is not read.
        answers.state = nil
        return try Self.load(answers.configurationFiles, kinds, access: access, log: log)
    }

    /// Reads realms.conf, the first of some unwritten files whose others are found by their names alone, and checks it as
    /// `gatehouse check` does.
    static func load(
        _ unwritten: [NewFile],
        _ kinds: [RealmKind],
        access: StateAccess,
        log: RealmLog = .discarding
    ) throws(ConfigurationErrors) -> Configuration {
        let path = unwritten[0].path
        var files = ConfigurationFiles(
            read: { asked in
                let name = asked.utf8.split(separator: UInt8(ascii: "/")).last ?? asked.utf8[...]
                let file = unwritten.first { file in
                    file.path == path
                        ? file.path.utf8.elementsEqual(asked.utf8)
                        : file.path.utf8.split(separator: UInt8(ascii: "/")).last?.elementsEqual(name) ?? false
                }
                return file.map { .success($0.bytes) }
                    ?? ConfigurationFiles.system.read(asked)
            },
            environment: ConfigurationFiles.system.environment
        )
        files.findings = ConfigurationFiles.system.findings
        let loader = ConfigurationLoader(
            kinds,
            files: files,
            clock: SystemClock(),
            properties: SystemProperties.all,
            services: GatehouseCommand.services(access, log: log)
        )
        let configuration = try loader.load(path)
        _ = try ServerTLS.check(configuration.server, files: files, clock: .system)
        return configuration
    }

    func check(_ kinds: [RealmKind], status: CommandError.Status) throws {
        // The answer does not depend on the folder, which is not known yet. A missing state folder is an empty one.
        var answers = self
        answers.folder = "./.gatehouse-init.\(getpid())"
        do throws(ConfigurationErrors) {
            _ = try answers.load(kinds, access: .existingOnly)
        } catch {
            let lines = error.diagnostics.filter { $0.severity == .error }.map { diagnostic in
                diagnostic.message + (diagnostic.hint.map { "\n    hint: \($0)" } ?? "")
            }
            throw CommandError(status, (lines + missingService).joined(separator: "\n"))
        }
    }

    /// The contents of a missing service file of PAM.
    private var missingService: [String] {
        guard case .pam = users, unsafe access("/etc/pam.d/gatehouse", F_OK) != 0 else { return [] }
        let lines = ["common-auth", "common-account", "common-password"].map { "        @include \($0)" }
        return ["    hint: for the users of Debian or Ubuntu, write to /etc/pam.d/gatehouse:"] + lines
    }

    /// The users whom the state folder of an earlier configuration contains, with a warning about them.
    func existingUsers(_ kinds: [RealmKind]) async throws -> [Username] {
        guard NewFiles.exists(stateFolder) else { return [] }
        let realm = try UserAdministration(load(kinds, access: .existingOnly)).realm
        let names = try await realm.users().map(\.name)
        guard !names.isEmpty else { return [] }
        let list = names.prefix(10).map { Printable.line($0.text) } + (names.count > 10 ? ["..."] : [])
        GatehouseCommand.print(
            "warning: \(stateFolder) exists already, and its users can sign in: "
                + list.joined(separator: ", "),
            on: STDERR_FILENO
        )
        return names
    }
}
