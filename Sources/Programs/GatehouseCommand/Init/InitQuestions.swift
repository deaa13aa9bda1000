// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import RealmConfiguration
internal import RealmKit

/// The questions of `gatehouse init`, for the options that are missing.
struct InitQuestions {
    /// True if questions are asked; false if a missing option has its default.
    let asks: Bool
    /// True if passwords are asked for, also with `--defaults`.
    let asksForPasswords: Bool
    private let hasDefaults: Bool

    init(_ options: GatehouseOptions.Init) {
        hasDefaults = options.defaults
        if case .some = Terminal() { asksForPasswords = true } else { asksForPasswords = false }
        asks = asksForPasswords && !hasDefaults
    }

    /// Checks, if nothing can be asked, that no option is missing which has no default, and without `--defaults` no other.
    func requireAnswers(_ missing: [String], _ others: [String]) throws {
        guard !asks else { return }
        let list = (hasDefaults ? missing : missing + others).joined(separator: ", ")
        guard !list.isEmpty else { return }
        let reason = hasDefaults ? "" : "there is no terminal for the questions: "
        throw CommandError(.usage, "\(reason)give \(list)\(missing.isEmpty ? ", or --defaults" : "")")
    }

    /// Reads the value of an option, an answer on the terminal, or the default; a wrong answer is asked for again.
    func answer<Value>(
        _ option: String,
        given: String?,
        question: String,
        default standard: String,
        read: (_ text: String) throws -> Value
    ) throws -> Value {
        if let given {
            guard !given.isEmpty else { throw CommandError(.usage, "\(option) must not be empty") }
            return try read(given)
        }
        guard asks, let terminal = Terminal() else { return try read(standard) }
        while true {
            guard let line = terminal.readLine("\(question)\(standard.isEmpty ? "" : " [\(standard)]") ") else {
                terminal.show("\n")
                throw Self.noAnswer
            }
            do {
                return try read(line.isEmpty ? standard : line)
            } catch {
                terminal.show(CommandError(error).message + "\n")
            }
        }
    }

    /// Returns a secret that is typed without echo; nil if it is empty, or if there is no terminal.
    func secret(_ question: String) throws -> Secret? {
        guard asksForPasswords, let terminal = Terminal() else { return nil }
        guard let secret = terminal.readSecret("\(question) ") else { throw Self.noAnswer }
        return secret.isEmpty ? nil : secret
    }

    func show(_ text: String) { if let terminal = Terminal() { terminal.show(text + "\n") } }

    private static let noAnswer = CommandError(.failed, "the question has no answer; nothing was written")
}

extension InitAnswers {
    /// Asks for the properties of a realm whose users are at servers; returns the options that are missing if nothing can be
    /// asked.
    mutating func askForServers(
        _ options: GatehouseOptions.Init,
        _ questions: InitQuestions,
        _ kinds: [RealmKind]
    ) throws -> [String] {
        guard case .servers(var servers) = users else {
            if !options.property.isEmpty { throw CommandError(.usage, "--property needs --users ldap or sql") }
            if options.passwordFile != nil { throw CommandError(.usage, "--password-file needs --users ldap or sql") }
            return []
        }
        try servers.add(options.property)
        if let file = options.passwordFile { servers.password = .file(try Self.absolutePath(file)) }
        var earlier: ServerUsers?
        while true {
            let missing = try servers.ask(questions, earlier: earlier)
            guard missing.isEmpty else { return missing }
            users = .servers(servers)
            do {
                try UnwrittenConfiguration.check(self, kinds, status: .configuration)
                return []
            } catch {
                guard servers.wasAsked else { throw error }
                questions.show(CommandError(error).message)
                earlier = servers
                servers = servers.unasked
            }
        }
    }

    mutating func askForProxy(_ options: GatehouseOptions.Init, _ questions: InitQuestions) throws {
        proxy = try questions.answer(
            "--proxy",
            given: options.proxy,
            question: "Which proxy? (none, nginx, caddy, haproxy)",
            default: "none",
            read: Self.proxy
        )
        guard proxy != nil else {
            for (option, isGiven) in [
                ("--host", !options.host.isEmpty), ("--application", !options.application.isEmpty),
                ("--sign-in-host", options.signInHost != nil),
            ] where isGiven {
                throw CommandError(.usage, "\(option) needs --proxy nginx, caddy or haproxy")
            }
            return
        }
        let count = max(options.host.count, options.application.count)
        guard count < 2 || options.host.count == options.application.count else {
            throw CommandError(
                .usage,
                """
                the numbers of --host (\(options.host.count)) and --application (\(options.application.count)) are different: \
                give one --application for each --host, in the same order
                """
            )
        }
        let host = try questions.answer(
            "--host",
            given: options.host.first,
            question: "Which host name does the application have?",
            default: "app.example.com",
            read: Self.host
        )
        let address = try questions.answer(
            "--application",
            given: options.application.first,
            question: "Which address does the application have?",
            default: "127.0.0.1:3000",
            read: Self.address
        )
        applications = [ProxyFile.Application(host: host, address: address)]
        for (host, address) in zip(options.host, options.application).dropFirst() {
            applications.append(try .init(host: Self.host(host), address: Self.address(address)))
        }
        signInHost = try options.signInHost.map(Self.host)
        var hosts: Set<String> = []
        for host in applications.map(\.host) + [signInHost].compactMap(\.self) where !hosts.insert(host).inserted {
            throw CommandError(
                .usage,
                "\(host) is given twice: each application and the sign-in host have their own host"
            )
        }
    }

    mutating func askForUser(
        _ options: GatehouseOptions.Init,
        _ questions: InitQuestions,
        _ kinds: [RealmKind]
    ) async throws {
        let isNew = if case .new = users { true } else { false }
        if options.password.passwordStdin, !isNew || state != nil {
            throw CommandError(.usage, "--password-stdin needs --users new, --user NAME, and no --state")
        }
        var question = "The name of the first user? (empty for none)"
        var earlier: [Username] = []
        switch users {
        case .new:
            guard state == nil else {
                guard options.user != nil else { return }
                throw CommandError(.usage, "--user adds no user to the folder of --state: use gatehouse user add")
            }
            earlier = try await UnwrittenConfiguration.users(of: self, kinds)
        case .servers: question = "The name of a user to look up? (empty for none)"
        case .pam, .file:
            guard options.user != nil else { return }
            throw CommandError(.usage, "--user needs --users new, ldap or sql")
        }
        let answers = self
        user = try questions.answer("--user", given: options.user, question: question, default: "") {
            [earlier] text in
            guard !text.isEmpty else { return nil }
            let name = try isNew ? Username(newUser: text) : Username(argument: text)
            guard !earlier.contains(name) else { throw answers.existingUser(name) }
            return name
        }
        if options.password.passwordStdin, user == nil {
            throw CommandError(.usage, "--password-stdin needs --user NAME")
        }
    }
}
