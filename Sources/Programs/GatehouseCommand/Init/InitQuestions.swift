// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import RealmKit

/// A question of `gatehouse init`, with the option that answers it.
struct InitQuestion {
    let option: String
    let text: String
    /// The answer if the option is missing and nothing is asked, or if only Enter is typed.
    var defaultAnswer = ""

    static let path = InitQuestion(option: "--protect", text: "Which path is protected?", defaultAnswer: "/")
    static let users = InitQuestion(
        option: "--users",
        text: "Which users? (new, pam, ldap, sql, or the path of a file of users)",
        defaultAnswer: "new"
    )
    static let proxy = InitQuestion(
        option: "--proxy",
        text: "Which proxy? (none, nginx, caddy, haproxy)",
        defaultAnswer: "none"
    )
    static let host = InitQuestion(
        option: "--host",
        text: "Which host name does the application have?",
        defaultAnswer: "app.example.com"
    )
    static let application = InitQuestion(
        option: "--application",
        text: "Which address does the application have?",
        defaultAnswer: "127.0.0.1:3000"
    )
    static let folder = InitQuestion(option: "--folder", text: "In which folder?", defaultAnswer: ".")
    static let firstUser = InitQuestion(option: "--user", text: "The name of the first user? (empty for none)")
    static let lookedUpUser = InitQuestion(option: "--user", text: "The name of a user to look up? (empty for none)")
}

/// The options of `gatehouse init`, and questions on the terminal for those that are missing.
struct InitQuestions {
    let options: GatehouseOptions.Init
    let kinds: [RealmKind]
    /// True if passwords are asked for, also with `--defaults`.
    let asksForPasswords: Bool
    /// True if questions are asked; false if a missing option has its default.
    var asks: Bool { asksForPasswords && !options.defaults }

    init(_ options: GatehouseOptions.Init, _ kinds: [RealmKind]) {
        (self.options, self.kinds) = (options, kinds)
        if case .some = Terminal() { asksForPasswords = true } else { asksForPasswords = false }
    }

    /// Checks, if nothing can be asked, that no option is missing which has no default, and without `--defaults` no other.
    func requireAnswers(_ missing: [String], _ others: [String]) throws {
        guard !asks else { return }
        let list = (options.defaults ? missing : missing + others).joined(separator: ", ")
        guard !list.isEmpty else { return }
        let reason = options.defaults ? "" : "there is no terminal for the questions: "
        throw CommandError(.usage, "\(reason)give \(list)\(missing.isEmpty ? ", or --defaults" : "")")
    }

    /// Reads the value of an option, an answer on the terminal, or the default; a wrong answer is asked for again.
    func answer<Value>(
        _ question: InitQuestion,
        given: String? = nil,
        read: (_ text: String) throws -> Value
    ) throws -> Value {
        if let given {
            guard !given.isEmpty else { throw CommandError(.usage, "\(question.option) must not be empty") }
            return try read(given)
        }
        let defaultAnswer = question.defaultAnswer
        let prompt = question.text + (defaultAnswer.isEmpty ? " " : " [\(defaultAnswer)] ")
        guard asks, let terminal = Terminal() else { return try read(defaultAnswer) }
        while true {
            guard let line = terminal.readLine(prompt) else {
                terminal.show("\n")
                throw Self.noAnswer
            }
            do {
                return try read(line.isEmpty ? defaultAnswer : line)
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
