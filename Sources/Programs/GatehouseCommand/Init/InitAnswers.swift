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
    var path = "/"
    var users = Users.new
    var proxy: ProxyFile.Proxy?
    var applications: [ProxyFile.Application] = []
    /// The host at which users sign in for all applications; nil if each has its own sign-in page.
    var signInHost: String?
    var folder = "."
    /// The state folder of a server that runs as another user, as an absolute path; nil for a folder of the files.
    var state: String?
    /// The first user, or the user to look up if the users are at servers; nil for none.
    var user: Username?

    func file(_ name: String) -> String { folder == "/" ? "/\(name)" : "\(folder)/\(name)" }

    var configurationFile: String { file("realms.conf") }

    var stateFolder: String { state ?? file("var") }
}

extension InitAnswers {
    /// Checks the options, and asks for those that are missing; the loader accepts a configuration with the answers.
    static func asked(
        _ options: GatehouseOptions.Init,
        _ questions: InitQuestions,
        _ kinds: [RealmKind]
    ) async throws -> InitAnswers {
        var answers = InitAnswers()
        try questions.answer(
            "--protect",
            given: options.protect,
            question: "Which path is protected?",
            default: answers.path
        ) { text in
            answers.path = try Self.path(text)
            try UnwrittenConfiguration.check(answers, kinds, status: .usage)
        }
        try questions.answer(
            "--users",
            given: options.users,
            question: "Which users? (new, pam, ldap, sql, or the path of a file of users)",
            default: "new"
        ) { text in
            answers.users = try Self.users(text)
            if case .servers = answers.users { return }
            try UnwrittenConfiguration.check(answers, kinds, status: .configuration)
        }
        let missing = try answers.askForServers(options, questions, kinds)
        try answers.askForProxy(options, questions)
        answers.state = try options.state.map(Self.state)
        try questions.requireAnswers(missing, options.missing(hasProxy: answers.proxy != nil))
        try questions.answer(
            "--folder",
            given: options.folder,
            question: "In which folder?",
            default: answers.folder
        ) { text in
            answers.folder = try Self.folder(text)
            try answers.checkFolder()
        }
        try await answers.askForUser(options, questions, kinds)
        return answers
    }

    /// Checks that no file of the configuration exists, and that the state folder can be used.
    func checkFolder() throws {
        let paths = InitFiles(answers: self).all.map(\.path)
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

    /// The error for a first user who is in the state folder already.
    func existingUser(_ name: Username) -> CommandError {
        let user = Printable.line(name.text)
        let configuration = ShellWord.quoted(configurationFile)
        return CommandError(
            .failed,
            """
            \(user) is a user already, in \(stateFolder) of an earlier configuration; nothing was written: use another name, or \
            no name and then gatehouse user set-password \(ShellWord.quoted(user)) --config \(configuration)
            """
        )
    }
}
