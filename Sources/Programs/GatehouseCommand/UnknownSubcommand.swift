// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import LoginConf

/// A word that names no subcommand, such as `users` in `gatehouse users list` or `-Dx=y` in `gatehouse -Dx=y check`.
struct UnknownSubcommand {
    private let word: String
    /// The names of the commands before the word.
    private let path: [String]
    private let known: [String]

    /// Finds the first unknown subcommand in the arguments.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command.
    ///   - root: The command. The result is nil if all subcommands are known, or if help is asked for.
    init?(_ arguments: [String], of root: any ParsableCommand.Type) {
        var command = root
        var path = [root._commandName]
        for argument in arguments {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !Self.isHelp(argument), !(path.count == 1 && argument == "help") else {
                return nil
            }
            guard let next = subcommands.first(where: { $0._commandName == argument }) else {
                word = argument
                self.path = path
                known = subcommands.map { $0._commandName }
                return
            }
            path.append(argument)
            command = next
        }
        return nil
    }

    private static func isHelp(_ argument: String) -> Bool {
        ["-h", "--help", "-help", "--help-hidden", "--version", "--experimental-dump-help"].contains(argument)
            || argument.hasPrefix("--generate-completion-script") || argument.hasPrefix("---completion")
    }

    /// What to write instead of subcommands that other programs have.
    private static let advice: [String: String] = {
        let meant = [
            "gatehouse user delete": "gatehouse user remove", "gatehouse user del": "gatehouse user remove",
            "gatehouse user rm": "gatehouse user remove", "gatehouse user create": "gatehouse user add",
            "gatehouse user new": "gatehouse user add", "gatehouse user passwd": "gatehouse user set-password",
            "gatehouse user password": "gatehouse user set-password", "gatehouse user lock": "gatehouse user disable",
            "gatehouse passwd": "gatehouse user set-password", "gatehouse password": "gatehouse user set-password",
            "gatehouse useradd": "gatehouse user add", "gatehouse adduser": "gatehouse user add",
            "gatehouse userdel": "gatehouse user remove", "gatehouse deluser": "gatehouse user remove",
            "gatehouse status": "gatehouse health", "gatehouse ping": "gatehouse health",
            "gatehouse start": "gatehouse serve", "gatehouse run": "gatehouse serve",
            "gatehouse test": "gatehouse check", "gatehouse configtest": "gatehouse check",
            "gatehouse logs": "gatehouse log", "gatehouse unlock": "gatehouse user unlock",
        ].mapValues { "Did you mean '\($0)'?" }
        return meant.merging([
            "gatehouse reload": "A running server reloads its configuration at SIGHUP: 'systemctl reload gatehouse'.",
            "gatehouse stop": "A running server stops at SIGTERM: 'systemctl stop gatehouse'.",
            "gatehouse restart": "Use 'systemctl restart gatehouse'.",
        ]) { first, _ in first }
    }()

    /// The message for standard error.
    var message: String {
        let command = path.joined(separator: " ")
        guard !word.hasPrefix("-") else {
            return """
                Error: \(command) needs a subcommand before '\(word)'.
                Subcommands: \(known.joined(separator: ", "))
                  See '\(command) --help' for more information.
                """
        }
        guard word != "help" else {
            let rest = path.dropFirst().joined(separator: " ")
            return "Error: write '\(path[0]) help \(rest)' or '\(command) --help'."
        }
        let nearest =
            Self.advice["\(command) \(word)"].map { " \($0)" }
            ?? NearestName.suggest(word, among: known).map { " Did you mean '\(command) \($0)'?" } ?? ""
        return """
            Error: \(command) has no subcommand '\(word)'.\(nearest)
            Subcommands: \(known.joined(separator: ", "))
              See '\(command) --help' for more information.
            """
    }
}
