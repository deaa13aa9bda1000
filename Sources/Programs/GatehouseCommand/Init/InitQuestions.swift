// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import RealmKit

/// The questions of `gatehouse init`, for the options that are missing.
struct InitQuestions {
    /// True if questions are asked; false if a missing option has its default.
    let asks: Bool
    /// True if passwords are asked for, also with `--defaults`.
    let asksForPasswords: Bool
    private let hasDefaults: Bool

    /// - Parameter options: The arguments.
    init(_ options: GatehouseOptions.Init) {
        hasDefaults = options.defaults
        guard case .some = Terminal() else {
            (asks, asksForPasswords) = (false, false)
            return
        }
        (asks, asksForPasswords) = (!options.defaults, true)
    }

    /// Checks that no option is missing if nothing can be asked.
    ///
    /// - Parameters:
    ///   - missing: The missing options that have no default.
    ///   - others: The missing options whose default is used with `--defaults` only.
    /// - Throws: ``CommandError`` with status `usage`, and with the missing options.
    func requireAnswers(_ missing: [String], _ others: [String]) throws(CommandError) {
        guard !asks else { return }
        let list = (hasDefaults ? missing : missing + others).joined(separator: ", ")
        guard !list.isEmpty else { return }
        let reason = hasDefaults ? "" : "there is no terminal for the questions: "
        throw CommandError(.usage, "\(reason)give \(list)\(missing.isEmpty ? ", or --defaults" : "")")
    }

    /// Returns the value of an option, of an answer on the terminal, or of the default.
    ///
    /// A wrong answer on the terminal is asked for again, with the reason.
    ///
    /// - Parameters:
    ///   - option: The name of the option.
    ///   - given: The argument; nil if it is missing.
    ///   - question: The question for a missing argument.
    ///   - standard: The default.
    ///   - read: Reads and checks the text.
    /// - Returns: The result of `read`.
    /// - Throws: ``CommandError`` of `read`, or if the input of the terminal ends.
    func answer<Value>(
        _ option: String,
        given: String?,
        question: String,
        default standard: String,
        read: (_ text: String) throws(CommandError) -> Value
    ) throws(CommandError) -> Value {
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
            do throws(CommandError) {
                return try read(line.isEmpty ? standard : line)
            } catch {
                terminal.show(error.message + "\n")
            }
        }
    }

    /// Returns a secret that is typed without echo; nil if it is empty, or if there is no terminal.
    ///
    /// - Throws: ``CommandError`` if the input of the terminal ends.
    func secret(_ question: String) throws(CommandError) -> Secret? {
        guard asksForPasswords, let terminal = Terminal() else { return nil }
        guard let secret = terminal.readSecret("\(question) ") else { throw Self.noAnswer }
        return secret.isEmpty ? nil : secret
    }

    /// Shows the reason why questions are asked again.
    func show(_ text: String) { if let terminal = Terminal() { terminal.show(text + "\n") } }

    private static let noAnswer = CommandError(.failed, "the question has no answer; nothing was written")
}
