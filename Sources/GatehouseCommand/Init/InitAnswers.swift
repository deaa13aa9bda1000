// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import ProxyFiles
internal import RealmConfiguration
internal import RealmKit

/// The answers to the questions of `gatehouse init`, checked.
struct InitAnswers {
    /// The source of the users.
    enum Users: Equatable {
        /// Users in the store.
        case new
        /// The users of the system.
        case pam
        /// A file of users.
        case file(String)
    }

    /// The path that is protected.
    var path = "/"
    var users = Users.new
    /// Nil without a proxy.
    var proxy: ProxyFile.Proxy?
    /// The host name of the application behind the proxy.
    var host = "app.example.com"
    /// The address of the application behind the proxy.
    var application = "127.0.0.1:3000"
    var folder = "."
    /// The state folder of a server that runs as another user, as an absolute path; nil for a folder of the files.
    var state: String?
    /// The first user; nil for none.
    var user: Username?

    /// Returns the path of a file of the folder.
    func file(_ name: String) -> String { folder == "/" ? "/\(name)" : "\(folder)/\(name)" }

    /// The path of the configuration.
    var configurationFile: String { file("realms.conf") }

    /// The path of the state folder.
    var stateFolder: String { state ?? file("var") }
}

extension InitAnswers {
    /// Checks the options, and asks for those that are missing.
    ///
    /// - Parameters:
    ///   - options: The arguments.
    ///   - questions: The questions on the terminal.
    ///   - kinds: The types of realms and modules that the program contains.
    /// - Returns: The answers. The loader has accepted a configuration with them.
    /// - Throws: ``CommandError`` if an option cannot be used.
    static func asked(
        _ options: GatehouseOptions.Init,
        _ questions: InitQuestions,
        _ kinds: [RealmKind]
    ) async throws(CommandError) -> InitAnswers {
        var answers = InitAnswers()
        answers = try questions.answer(
            "--protect",
            given: options.protect,
            question: "Which path is protected?",
            default: answers.path
        ) { (text) throws(CommandError) in
            var next = answers
            next.path = try Self.path(text)
            try UnwrittenConfiguration.check(next, kinds, status: .usage)
            return next
        }
        answers = try questions.answer(
            "--users",
            given: options.users,
            question: "Which users? (new, pam, or the path of a file of users)",
            default: "new"
        ) { (text) throws(CommandError) in
            var next = answers
            next.users = try Self.users(text)
            try UnwrittenConfiguration.check(next, kinds, status: .configuration)
            return next
        }
        try answers.askForProxy(options, questions)
        answers.state = try options.state.map(Self.state)
        answers = try questions.answer(
            "--folder",
            given: options.folder,
            question: "In which folder?",
            default: answers.folder
        ) { (text) throws(CommandError) in
            var next = answers
            next.folder = try Self.folder(text)
            try next.checkFolder()
            return next
        }
        try await answers.askForUser(options, questions, kinds)
        return answers
    }

    private mutating func askForProxy(
        _ options: GatehouseOptions.Init,
        _ questions: InitQuestions
    ) throws(CommandError) {
        proxy = try questions.answer(
            "--proxy",
            given: options.proxy,
            question: "Which proxy? (none, nginx, caddy, haproxy)",
            default: "none",
            read: Self.proxy
        )
        guard let proxy else {
            for (option, value) in [("--host", options.host), ("--application", options.application)]
            where value != nil {
                throw CommandError(.usage, "\(option) needs --proxy nginx, caddy or haproxy")
            }
            return
        }
        host = try questions.answer(
            "--host",
            given: options.host,
            question: "Which host name does the application have?",
            default: host
        ) { (text) throws(CommandError) in try Self.host(text, behind: proxy) }
        application = try questions.answer(
            "--application",
            given: options.application,
            question: "Which address does the application have?",
            default: application,
            read: Self.address
        )
    }

    private mutating func askForUser(
        _ options: GatehouseOptions.Init,
        _ questions: InitQuestions,
        _ kinds: [RealmKind]
    ) async throws(CommandError) {
        guard users == .new else {
            if options.user != nil { throw CommandError(.usage, "--user needs --users new") }
            if options.password.passwordStdin { throw CommandError(.usage, "--password-stdin needs --user NAME") }
            return
        }
        guard state == nil else {
            guard options.user == nil else {
                throw CommandError(.usage, "--user adds no user to the folder of --state: use gatehouse user add")
            }
            if options.password.passwordStdin { throw CommandError(.usage, "--password-stdin needs --user NAME") }
            return
        }
        let earlier = try await UnwrittenConfiguration.users(of: self, kinds)
        let answers = self
        user = try questions.answer(
            "--user",
            given: options.user,
            question: "The name of the first user? (empty for none)",
            default: ""
        ) { (text) throws(CommandError) in
            guard !text.isEmpty else { return nil }
            let name = try Username(newUser: text)
            guard !earlier.contains(name) else { throw answers.existingUser(name) }
            return name
        }
        if options.password.passwordStdin, user == nil {
            throw CommandError(.usage, "--password-stdin needs --user NAME")
        }
    }
}
