// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Glibc
internal import LoginConf
internal import RealmConfiguration
internal import RealmKit

/// `gatehouse init --add`: further applications for a configuration that exists.
extension GatehouseOptions.Init {
    /// Appends the rules of the applications to realms.conf, if the loader accepts it with them, and writes the files of the
    /// proxy that do not exist yet; no other line of it is changed, and no file is overwritten.
    func addApplications(_ questions: InitQuestions, _ kinds: [RealmKind]) throws {
        let answers = try InitAnswers.added(self, questions)
        let path = answers.configurationFile
        let old = try ConfigurationFiles.system.read(path)
            .mapError { CommandError(.configuration, "\(path) cannot be read: \($0.reason)") }.get().bytes
        let rules = Array(((old.last == UInt8(ascii: "\n") ? "\n" : "\n\n") + InitFiles(answers: answers).rules).utf8)
        let configuration: Configuration
        do throws(ConfigurationErrors) {
            let file = NewFile(path: path, bytes: old + rules)
            configuration = try UnwrittenConfiguration.load([file], kinds, access: .existingOnly)
        } catch {
            throw CommandError(.configuration, "\(error.description)\nnothing was written")
        }
        guard !configuration.server.trustedProxies.isEmpty, configuration.server.signIn.prefix == "/gatehouse" else {
            throw CommandError(
                .configuration,
                """
                the files of proxies need trusted-proxies 127.0.0.1; and sign-in { prefix /gatehouse; } in the server block \
                of \(path); nothing was written
                """
            )
        }
        // The files that all hosts share exist, if the folder is that of an earlier `gatehouse init` with a proxy.
        let files = InitFiles(answers: answers).proxyFiles
            .filter { $0.file.isOfOneHost || !NewFiles.exists($0.path) }
            .map { NewFile(path: $0.path, bytes: Array($0.file.text.utf8)) }
        var written = NewFiles()
        do throws(NewFiles.Fault) {
            try written.write(files)
            try NewFiles.append(rules, to: path, ofSize: old.count)
        } catch {
            written.remove()
            throw answers.advice(error)
        }
        for file in files { GatehouseCommand.print("made \(file.path)") }
        let hosts = answers.applications.map(\.host).joined(separator: ", ")
        GatehouseCommand.print("added rules to \(path): \(hosts)")
        GatehouseCommand.print(InitNextSteps(answers: answers, isAddition: true).text)
    }

    /// The first option that an addition cannot have.
    fileprivate var unsuitable: String? {
        let options = [
            ("--users", users != nil), ("--property", !property.isEmpty), ("--password-file", passwordFile != nil),
            ("--state", state != nil), ("--user", user != nil), ("--password-stdin", password.passwordStdin),
        ]
        return options.first { $0.1 }?.0
    }
}

extension InitAnswers {
    /// Checks the options of an addition, and asks for a missing host and address.
    fileprivate static func added(
        _ options: GatehouseOptions.Init,
        _ questions: InitQuestions
    ) throws -> InitAnswers {
        if let option = options.unsuitable { throw CommandError(.usage, "\(option) cannot be used with --add") }
        var answers = InitAnswers()
        answers.folder = try folder(options.folder ?? answers.folder)
        answers.path = try path(options.protect ?? answers.path)
        let file = answers.configurationFile
        guard options.signInHost == nil else {
            throw CommandError(
                .usage,
                """
                a sign-in host is not added: write sign-in { host NAME; prefix /gatehouse; } in the server block of \(file), \
                and see docs/forward-auth.md for the files of the proxy
                """
            )
        }
        guard NewFiles.exists(file) else {
            throw CommandError(
                .failed,
                "there is no \(file): gatehouse init without --add makes it, or name another folder"
            )
        }
        var options = options
        let proxies = ProxyFile.Proxy.allCases.filter { NewFiles.isFolder(answers.file($0.rawValue)) }
        if options.proxy == nil, proxies.count == 1 { options.proxy = proxies[0].rawValue }
        guard let name = options.proxy, name != "none" else {
            throw CommandError(
                .usage,
                "the proxy of \(answers.folder) is not known: give --proxy nginx, caddy or haproxy"
            )
        }
        try answers.askForProxy(options, questions)
        try questions.requireAnswers(options.missingApplication, [])
        return answers
    }
}
