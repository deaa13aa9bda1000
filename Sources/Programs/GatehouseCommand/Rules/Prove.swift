// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import Files
internal import Glibc
internal import LoginConf
internal import Prover
internal import RealmConfiguration
internal import RealmKit

extension GatehouseOptions {
    /// `gatehouse prove`: what the stacks and rules of a configuration grant, for all answers of their modules.
    struct Prove: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "prove",
            abstract:
                "Show what stacks and rules grant, for all answers of their modules, or compare two configurations.",
            discussion: """
                No module is called and no password is needed. For each realm: the minimal sets of modules whose success \
                grants a login, also while a module is unavailable or accepts every user; and findings. \
                Exit status: 0 no finding, 1 findings, 2 wrong arguments, 3 wrong configuration or too large. \
                With --diff: 0 both admit the same, 1 the new one only admits less, 2 something is newly admitted, \
                3 incomparable, because other settings may change what back ends answer.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Argument(
            help: ArgumentHelp(
                "Realms, login contexts and paths of rules. Default: all. With --diff: the old and the new realms.conf, each a file or as in HEAD:realms.conf.",
                valueName: "name"
            )
        )
        var names: [String] = []
        @Option(
            help: ArgumentHelp(
                "Prove services of a pam.d folder instead, by name; needs no realms.conf.",
                valueName: "folder"
            ),
            completion: .directory
        )
        var pamDir: String?
        @Option(
            help: ArgumentHelp("Prove services of a pam.conf instead, by name.", valueName: "file"),
            completion: .file()
        )
        var pamConf: String?
        @Option(
            help: ArgumentHelp("Prove the entries of a login.conf instead; needs no realms.conf.", valueName: "file"),
            completion: .file()
        )
        var loginConf: String?
        @Flag(help: "Print each stack as a graph in the DOT language.") var dot = false
        @Flag(help: "Print the stacks as one picture in SVG.") var svg = false
        @Flag(help: "Compare two configurations by what they admit.") var diff = false
        @Flag(help: "Print JSON.") var json = false
        @Flag(help: "Print the findings as SARIF 2.1.0, for code scanning.") var sarif = false
        @Option(
            help: ArgumentHelp("A file with known findings, one line each, which are not reported.", valueName: "file"),
            completion: .file()
        )
        var accept: String?

        func validate() throws {
            guard !diff || names.count == 2 else {
                throw ValidationError("--diff takes the old and the new realms.conf")
            }
            guard [json, sarif, dot, svg].filter(\.self).count < 2 else {
                throw ValidationError("--json, --sarif, --dot and --svg exclude each other")
            }
            guard [diff, pamDir != nil, pamConf != nil, loginConf != nil].filter(\.self).count < 2 else {
                throw ValidationError("--diff, --pam-dir, --pam-conf and --login-conf exclude each other")
            }
            guard pamDir == nil && pamConf == nil || !names.isEmpty else {
                throw ValidationError("--pam-dir and --pam-conf need a service, such as sshd")
            }
            guard !diff || !sarif && !dot && !svg && accept == nil else {
                throw ValidationError("--diff compares; it has no --sarif, --dot, --svg and --accept")
            }
            guard options.config == nil || !diff && pamDir == nil && pamConf == nil && loginConf == nil else {
                throw ValidationError("--config cannot be combined with --diff, --pam-dir, --pam-conf and --login-conf")
            }
            guard accept == nil || !dot && !svg else { throw ValidationError("a picture has no findings to --accept") }
        }

        func perform(_ kinds: [RealmKind]) async throws {
            try diff ? compare(kinds) : prove(kinds)
        }

        private func prove(_ kinds: [RealmKind]) throws {
            let stacks = try unlinkedStacks()
            if dot || svg { return try printPicture(stacks ?? linkedStacks(kinds)) }
            var report: ProofReport
            if let stacks {
                report = ProofReport()
                for stack in stacks { report.add(stack, of: stack.name, title: stack.name) }
            } else {
                report = try ProofReport(try load(options.config, kinds), names: names)
            }
            if let accept { report.accept(try Self.lines(of: accept)) }
            let text = json ? report.json.text(.terminal) : sarif ? report.sarif.text(.terminal) : report.text
            GatehouseCommand.print(sarif || json ? text : Printable.text(text))
            guard report.tooLarge.isEmpty else {
                let names = report.tooLarge.joined(separator: ", ")
                throw CommandError(.configuration, "too large, so nothing is proved about \(names)")
            }
            if !report.findings.isEmpty { throw CommandError(.failed, "") }
        }

        private func load(_ path: String?, _ kinds: [RealmKind]) throws -> Configuration {
            let path = path ?? ConfigurationPath.standard
            let revision = GitRevision(path)
            let configuration = try options.loadForProof(
                revision?.path ?? path,
                kinds,
                files: revision?.files ?? .system,
                services: GatehouseCommand.services(.checkOnly, log: .discarding)
            )
            if !diff, let line = options.line(aboutWarningsOf: configuration) {
                GatehouseCommand.print(line, on: STDERR_FILENO)
            }
            return configuration
        }

        /// The stacks of a pam.d folder or a login.conf; nil if there is none.
        private func unlinkedStacks() throws -> [StackModel]? {
            if let pamDir { return try UnlinkedStacks.services(names, in: pamDir) }
            if let pamConf { return try UnlinkedStacks.services(names, of: pamConf) }
            return try loginConf.map { try UnlinkedStacks.entries(names, of: $0) }
        }

        private func linkedStacks(_ kinds: [RealmKind]) throws -> [StackModel] {
            let realms = try load(options.config, kinds).realms
            for name in names where !realms.contains(where: { $0.isMeant(by: [name]) }) {
                throw CommandError(.usage, "there is no realm or login context \(name)")
            }
            return realms.filter { names.isEmpty || $0.isMeant(by: names) }.map { StackModel($0.stack) }
        }

        private func printPicture(_ stacks: [StackModel]) throws {
            guard !stacks.isEmpty else { throw CommandError(.usage, "there is no realm and no login context") }
            do {
                let picture = try svg ? StackModel.svg(of: stacks) : stacks.map { try $0.dot }.joined(separator: "\n")
                GatehouseCommand.print(Printable.text(picture))
            } catch is DecisionDiagrams.TooLarge {
                throw CommandError(.configuration, "a stack is too large for a picture")
            }
        }

        private static func lines(of path: String) throws -> [String] {
            switch ConfigurationFiles.system.read(path) {
            case .success(let bytes):
                let text = String(decoding: bytes, as: UTF8.self)
                return text.split(whereSeparator: \.isNewline).map(String.init)
            case .failure(let fault): throw CommandError(.usage, "\(path): \(fault.reason)")
            }
        }

        private func compare(_ kinds: [RealmKind]) throws {
            let configurations = try names.map { try load($0, kinds) }
            let models = configurations.map { AccessModel(rules: $0.rules, server: $0.server, realms: $0.realms) }
            let settings = configurations.map { $0.server.decidingSettings(in: $0.folder) }
            let changed = zip(settings[0], settings[1]).filter { $0.values != $1.values }.map {
                "the setting \($0.0.name)"
            }
            let comparison = AccessComparison(from: models[0], to: models[1], otherSettings: changed)
            GatehouseCommand.print(json ? comparison.json.text(.terminal) : Printable.text(comparison.text))
            if comparison.result != .same { throw ComparisonEnd(result: comparison.result) }
        }
    }
}

extension BoundRealm {
    /// True if one of the names is that of the realm or of its login context.
    func isMeant(by names: [String]) -> Bool { names.contains(name) || names.contains(stack.name) }
}

/// The end of a comparison, whose result is the exit status.
struct ComparisonEnd: Error {
    let result: AccessComparison.Result
}

extension ServerSettings {
    /// The settings that decide about requests, and that a proof does not know; those without a value are empty.
    ///
    /// Files are relative to the folder of the configuration.
    fileprivate func decidingSettings(in folder: String) -> [(name: String, values: [String])] {
        func relative(_ files: [Located<String>]) -> [String] {
            files.map { FilePath.relative($0.value[...], to: folder) }
        }
        return [
            ("trusted-proxies", trustedProxies.map(\.description)), ("forwarded-host", ["\(trustsForwardedHost)"]),
            ("client-certificates", [tls.clientCertificates.rawValue]),
            ("client-ca", relative([tls.clientAuthorityFile].compactMap(\.self))),
            ("client-crl", relative(tls.clientRevocationFiles)),
            ("client-depth", ["\(tls.clientDepth)"]),
            ("sign-in", signIn.realms + [signIn.whenUnavailable?.rawValue ?? "", signIn.prefix]),
            ("sign-in", (signIn.host.map { [$0] } ?? []).map(\.description) + signIn.returnTo.map(\.description)),
            ("realm-api", realmAPI.map { ["\($0)"] } ?? []),
        ]
    }
}

extension AccessComparison {
    /// The result, and a line or two for each difference.
    var text: String {
        let title =
            switch result {
            case .same: "same: both configurations admit the same requests"
            case .narrower: "narrower: nothing is newly admitted"
            case .wider: "wider: something is newly admitted"
            case .incomparable: "incomparable: nothing is newly admitted, unless back ends answer differently"
            }
        let lines =
            wider.flatMap { ["newly admitted: \($0.text)", "  \($0.reason)"] }
            + narrower.flatMap { ["no longer admitted: \($0.text)", "  \($0.reason)"] }
            + otherSettings.map { "changed: \($0)" }
        return ([title] + lines).joined(separator: "\n")
    }

    var json: JSONValue {
        [
            "result": .text("\(result)"), "newlyAdmitted": .array(wider.map(\.json)),
            "noLongerAdmitted": .array(narrower.map(\.json)), "changed": .texts(otherSettings),
        ]
    }
}

extension AccessDifference {
    fileprivate var json: JSONValue {
        [
            "method": .text(method), "url": .text(url), "preflight": .boolean(isPreflight),
            "address": peer.map(JSONValue.text), "scheme": (user?.scheme).map(JSONValue.text),
            "user": (user?.name).map(JSONValue.text), "realm": (user?.realm).map(JSONValue.text),
            "group": (user?.group).map(JSONValue.text), "answers": (user?.answers).map(JSONValue.text),
            "condition": (user?.condition).map(JSONValue.text),
            "attribute": user.flatMap { $0.attribute.isEmpty ? nil : .texts($0.attribute) },
            "reason": .text(reason),
        ]
    }
}
