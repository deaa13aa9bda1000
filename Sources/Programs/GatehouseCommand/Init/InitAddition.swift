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
    func addApplications(_ questions: InitQuestions) throws {
        let answers = try InitAnswers(added: questions)
        let path = answers.configurationFile
        let old = try ConfigurationFiles.system.read(path)
            .mapError { CommandError(.configuration, "\(path) cannot be read: \($0.reason)") }.get()
        let rules = Array(((old.last == UInt8(ascii: "\n") ? "\n" : "\n\n") + answers.rules).utf8)
        let configuration: Configuration
        do throws(ConfigurationErrors) {
            let file = NewFile(path: path, bytes: old + rules)
            configuration = try InitAnswers.load([file], questions.kinds, access: .existingOnly)
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
        let files = answers.proxyFiles
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
        GatehouseCommand.print(answers.nextSteps(isAddition: true))
    }
}

extension InitAnswers {
    /// Checks the options of an addition, and asks for a missing host and address.
    fileprivate init(added questions: InitQuestions) throws {
        self.init()
        let options = questions.options
        let unsuitable = [
            ("--users", options.users != nil), ("--property", !options.property.isEmpty),
            ("--password-file", options.passwordFile != nil), ("--state", options.state != nil),
            ("--user", options.user != nil), ("--password-stdin", options.password.passwordStdin),
        ].first { $0.1 }
        if let unsuitable { throw CommandError(.usage, "\(unsuitable.0) cannot be used with --add") }
        folder = try Self.folder(options.folder ?? folder)
        path = try Self.path(options.protect ?? path)
        guard options.signInHost == nil else {
            throw CommandError(
                .usage,
                """
                a sign-in host is not added: write sign-in { host NAME; prefix /gatehouse; } in the server block of \
                \(configurationFile), and see docs/forward-auth.md for the files of the proxy
                """
            )
        }
        guard NewFiles.exists(configurationFile) else {
            throw CommandError(
                .failed,
                "there is no \(configurationFile): gatehouse init without --add makes it, or name another folder"
            )
        }
        let proxies = ProxyFile.Proxy.allCases.map(\.rawValue).filter { NewFiles.isFolder(file($0)) }
        guard let proxy = options.proxy ?? (proxies.count == 1 ? proxies[0] : nil), proxy != "none" else {
            throw CommandError(
                .usage,
                "the proxy of \(folder) is not known: give --proxy nginx, caddy or haproxy"
            )
        }
        try askForProxy(questions, given: proxy)
        try questions.requireAnswers(options.missingApplication, [])
    }
}
