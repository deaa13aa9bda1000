// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import RealmConfiguration
internal import RealmKit

/// The answers to the questions of `gatehouse init`, checked.
struct InitAnswers {
    enum Users {
        /// Users in the store.
        case new
        case pam
        case file(String)
        case servers(ServerUsers)
    }

    /// The path that is protected.
    var path = InitQuestion.path.defaultAnswer
    private(set) var users = Users.new
    private(set) var proxy: ProxyFile.Proxy?
    private(set) var applications: [ProxyFile.Application] = []
    /// The host at which users sign in for all applications; nil if each has its own sign-in page.
    private(set) var signInHost: String?
    var folder = InitQuestion.folder.defaultAnswer
    /// The state folder of a server that runs as another user, as an absolute path; nil for a folder of the files.
    var state: String?
    /// The first user, or the user to look up if the users are at servers; nil for none.
    private(set) var user: Username?

    func file(_ name: String) -> String { folder == "/" ? "/\(name)" : "\(folder)/\(name)" }

    var configurationFile: String { file("realms.conf") }

    var stateFolder: String { state ?? file("var") }

    init() {}

    /// Checks the options, and asks for those that are missing; the loader accepts a configuration with the answers.
    init(_ questions: InitQuestions) async throws {
        let options = questions.options
        try questions.answer(.path, given: options.protect) { text in
            path = try Self.path(text)
            try check(questions.kinds, status: .usage)
        }
        try questions.answer(.users, given: options.users) { text in
            users = try Self.users(text)
            if case .servers = users { return }
            try check(questions.kinds, status: .configuration)
        }
        let missing = try askForServers(questions)
        try askForProxy(questions)
        state = try options.state.map(Self.state)
        try questions.requireAnswers(missing, options.missing(hasProxy: proxy != nil))
        try questions.answer(.folder, given: options.folder) { text in
            folder = try Self.folder(text)
            try checkFolder()
        }
        try await askForUser(questions)
    }

    /// Checks that no file of the configuration exists, and that the state folder can be used.
    private func checkFolder() throws {
        let paths = files.map(\.path)
        try Result { () throws(NewFiles.Fault) in try NewFiles.check(paths) }.mapError(advice).get()
        guard state == nil, NewFiles.exists(stateFolder), !NewFiles.isFolder(stateFolder) else { return }
        throw CommandError(.failed, "\(stateFolder) is not a folder; nothing was written")
    }

    func advice(_ fault: NewFiles.Fault) -> CommandError {
        let elsewhere = "or name another folder"
        let text =
            switch fault {
            case .exists(configurationFile):
                """
                \(configurationFile) exists already; nothing was written: add users with gatehouse user add NAME --config \
                \(ShellWord.quoted(configurationFile)), applications with gatehouse init --add, \(elsewhere)
                """
            case .exists(let path): "\(path) exists already; nothing was written: move it away, \(elsewhere)"
            case .other(let text): "\(text); nothing was written"
            }
        return CommandError(.failed, text)
    }
}

extension InitAnswers {
    /// Asks for the properties of a realm whose users are at servers; returns the options that are missing if nothing can be
    /// asked.
    private mutating func askForServers(_ questions: InitQuestions) throws -> [String] {
        let options = questions.options
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
                try check(questions.kinds, status: .configuration)
                return []
            } catch {
                guard servers.wasAsked else { throw error }
                questions.show(CommandError(error).message)
                earlier = servers
                servers = servers.unasked
            }
        }
    }

    /// Asks for the proxy, and for a first application behind it; a name that is given replaces that of the options.
    mutating func askForProxy(_ questions: InitQuestions, given name: String? = nil) throws {
        let options = questions.options
        let (hosts, addresses) = (options.host, options.application)
        proxy = try questions.answer(.proxy, given: name ?? options.proxy, read: Self.proxy)
        guard proxy != nil else {
            let needless = [
                ("--host", !hosts.isEmpty), ("--application", !addresses.isEmpty),
                ("--sign-in-host", options.signInHost != nil),
            ].first { $0.1 }
            guard let needless else { return }
            throw CommandError(.usage, "\(needless.0) needs --proxy nginx, caddy or haproxy")
        }
        guard max(hosts.count, addresses.count) < 2 || hosts.count == addresses.count else {
            throw CommandError(
                .usage,
                """
                the numbers of --host (\(hosts.count)) and --application (\(addresses.count)) are different: give one \
                --application for each --host, in the same order
                """
            )
        }
        let host = try questions.answer(.host, given: hosts.first, read: Self.host)
        let address = try questions.answer(.application, given: addresses.first, read: Self.address)
        applications = [ProxyFile.Application(host: host, address: address)]
        for (host, address) in zip(hosts, addresses).dropFirst() {
            applications.append(try .init(host: Self.host(host), address: Self.address(address)))
        }
        signInHost = try options.signInHost.map(Self.host)
        var known: Set<String> = []
        for host in applications.map(\.host) + [signInHost].compactMap(\.self) where !known.insert(host).inserted {
            throw CommandError(
                .usage,
                "\(host) is given twice: each application and the sign-in host have their own host"
            )
        }
    }

    private mutating func askForUser(_ questions: InitQuestions) async throws {
        let options = questions.options
        let isNew = if case .new = users { true } else { false }
        let readsPassword = options.password.passwordStdin
        if readsPassword, !isNew || state != nil {
            throw CommandError(.usage, "--password-stdin needs --users new, --user NAME, and no --state")
        }
        var earlier: [Username] = []
        switch users {
        case .new:
            guard state == nil else {
                guard options.user != nil else { return }
                throw CommandError(.usage, "--user adds no user to the folder of --state: use gatehouse user add")
            }
            earlier = try await existingUsers(questions.kinds)
        case .servers: break
        case .pam, .file:
            guard options.user != nil else { return }
            throw CommandError(.usage, "--user needs --users new, ldap or sql")
        }
        user = try questions.answer(isNew ? .firstUser : .lookedUpUser, given: options.user) { text in
            guard !text.isEmpty else { return nil }
            let name = try isNew ? Username(newUser: text) : Username(argument: text)
            guard !earlier.contains(name) else { throw existingUser(name) }
            return name
        }
        if readsPassword, user == nil { throw CommandError(.usage, "--password-stdin needs --user NAME") }
    }

    /// The error for a first user who is in the state folder already.
    private func existingUser(_ name: Username) -> CommandError {
        let user = Printable.line(name.text)
        return CommandError(
            .failed,
            """
            \(user) is a user already, in \(stateFolder) of an earlier configuration; nothing was written: use another name, or \
            no name and then gatehouse user set-password \(ShellWord.quoted(user)) --config \
            \(ShellWord.quoted(configurationFile))
            """
        )
    }
}
