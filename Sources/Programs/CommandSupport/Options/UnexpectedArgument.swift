// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// An argument that a command does not take.
package enum UnexpectedArgument {
    /// Returns the message for an argument too many, or for `-c` instead of `--config`.
    ///
    /// If the command reads a password, the argument may be one, and is not repeated.
    ///
    /// - Parameter message: The message of the argument parser, with the usage of the command.
    /// - Returns: The message to print instead; nil if the parser's message is about something else.
    package static func message(insteadOf message: String) -> String? {
        // The argument may contain any bytes; the usage comes after it.
        guard let usage = lastUsage(in: message) else { return nil }
        let rest = String(message[usage...])
        if message.utf8.starts(with: "Error: Unknown option '-c'\n".utf8), rest.contains("--config") {
            return "Error: Unknown option '-c'. Did you mean '--config'?" + rest
        }
        guard isAboutUnexpectedArgument(message) else { return nil }
        guard !rest.contains("--password-stdin") else {
            return """
                Error: There are too many arguments. They are not repeated here, because one of them may be a password, and every \
                user of this machine can read arguments. Type the password at the prompt, or use --password-stdin to read it \
                from standard input.
                """ + rest
        }
        let single = "Error: Unexpected argument '".utf8
        // A usage without `<name>` outside brackets is that of a command without arguments of its own.
        guard message.utf8.starts(with: single), rest.contains("[--config <file>]"), !rest.contains("] <"),
            !rest.contains(" [<")
        else { return nil }
        let argument = message[..<usage].utf8.dropFirst(single.count).dropLast()
        return "\(message[..<usage]). To name the configuration, write '--config \(Substring(argument))'." + rest
    }

    /// Returns the place of the line that begins the usage.
    private static func lastUsage(in message: String) -> String.Index? {
        let bytes = message.utf8
        let pattern = Array("\nUsage: ".utf8)
        return bytes.indices.last { bytes[$0...].starts(with: pattern) }
    }

    private static func isAboutUnexpectedArgument(_ message: String) -> Bool {
        let bytes = message.utf8
        if bytes.starts(with: "Error: Unexpected argument '".utf8) { return true }
        let prefix = "Error: ".utf8
        guard bytes.starts(with: prefix) else { return false }
        let rest = bytes.dropFirst(prefix.count)
        let digits = rest.prefix(while: ASCII.isDigit)
        return !digits.isEmpty && rest.dropFirst(digits.count).starts(with: " unexpected arguments: '".utf8)
    }
}
