// SPDX-License-Identifier: Apache-2.0

/// The argument `--password`.
///
/// The commands reject it, because every user of a machine can read arguments.
package enum PasswordArgument {
    /// Returns the message for a rejected `--password`.
    ///
    /// - Parameters:
    ///   - arguments: The arguments of the command. Arguments after `--` are not options.
    ///   - message: The message of the argument parser, with the usage of the command.
    /// - Returns: The message to print instead; nil if the parser's message is about another argument.
    package static func message(_ arguments: [String], insteadOf message: String) -> String? {
        let isGiven = arguments.prefix { $0 != "--" }.contains { $0 == "--password" || $0.hasPrefix("--password=") }
        guard isGiven, message.contains("Unknown option '--password'"), message.contains("--password-stdin") else {
            return nil
        }
        let lines = message.split(separator: "\n", maxSplits: 1).dropFirst()
        let error = """
            Error: --password is refused, because every user of this machine can read arguments. \
            Type the password at the prompt, or use --password-stdin to read it from standard input.
            """
        return ([error[...]] + lines).joined(separator: "\n")
    }
}
