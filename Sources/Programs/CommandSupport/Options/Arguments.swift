// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import GatehouseVersion
internal import Glibc
internal import HelperProcesses
internal import OpenSSLKit

/// The begin and the end of a command.
package enum CommandProcess {
    /// Prevents other processes of the user from reading the memory of this one, and returns its arguments.
    package static func arguments() -> [String] {
        ProcessMemory.protect()
        return DefinitionArgument.separated(Array(CommandLine.arguments.dropFirst()))
    }

    /// The text of `--version`.
    package static func version(of program: String) -> String {
        BuildVersion.line(program) + "\n" + OpenSSLVersion.loaded
    }

    /// Ends the process without the exit handlers of libraries, such as that of OpenSSL.
    ///
    /// They free what other threads of the process may still use. Output has no buffer that would be lost.
    package static func end(_ status: Int32) -> Never { _exit(status) }
}

/// The messages about rejected arguments in place of those of the argument parser, which repeats arguments that may be passwords.
package enum RejectedArgument {
    /// Returns the message for arguments that the parser has rejected with a message, which ends with the usage.
    package static func message(_ arguments: [String], parser message: String) -> String {
        password(arguments, message) ?? unexpected(message) ?? message
    }

    /// The message for `--password`, because every user of a machine can read arguments; nil for another argument.
    private static func password(_ arguments: [String], _ message: String) -> String? {
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

    /// The message for an argument too many, or for `-c`; nil for another mistake.
    ///
    /// If the command reads a password, the argument may be one, and is not repeated.
    private static func unexpected(_ message: String) -> String? {
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

/// The argument `-Dname=value`, as the JDK and other programs read it.
package enum DefinitionArgument {
    /// Returns the arguments with each `-Dname=value` before `--` as two arguments, the only form that the parser reads.
    package static func separated(_ arguments: [String]) -> [String] {
        let options = arguments.prefix { $0 != "--" }
        return options.flatMap { $0.hasPrefix("-D") && $0 != "-D" ? ["-D", String($0.dropFirst(2))] : [$0] }
            + arguments.dropFirst(options.count)
    }
}
