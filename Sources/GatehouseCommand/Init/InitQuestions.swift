// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandSupport

/// The questions of `gatehouse init`, for the options that are missing.
struct InitQuestions {
    /// True if questions are asked; false if a missing option has its default.
    private let asks: Bool

    /// Checks that the missing options can be asked for, or have defaults.
    ///
    /// - Parameter options: The arguments.
    /// - Throws: ``CommandError`` with status `usage` if there is neither a terminal nor `--defaults`, and an option is
    ///   missing.
    init(_ options: GatehouseOptions.Init) throws(CommandError) {
        guard !options.defaults else {
            asks = false
            return
        }
        if case .some = Terminal() {
            asks = true
            return
        }
        asks = false
        var needed = [
            ("--protect", options.protect), ("--users", options.users), ("--proxy", options.proxy),
            ("--folder", options.folder),
        ]
        if let proxy = options.proxy, proxy != "none" {
            needed += [("--host", options.host), ("--application", options.application)]
        }
        let missing = needed.filter { $0.1 == nil }.map(\.0)
        guard missing.isEmpty else {
            let list = missing.joined(separator: ", ")
            throw CommandError(.usage, "there is no terminal for the questions: give \(list), or --defaults")
        }
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
                throw CommandError(.failed, "the question has no answer; nothing was written")
            }
            do throws(CommandError) {
                return try read(line.isEmpty ? standard : line)
            } catch {
                terminal.show(error.message + "\n")
            }
        }
    }
}
