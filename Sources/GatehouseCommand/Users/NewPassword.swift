// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandSupport
internal import Dispatch
internal import Glibc
internal import RealmKit

/// The arguments that select the source of a new password: two prompts on the terminal, or standard input.
///
/// A password cannot be an argument, because every user of a machine can read the arguments of processes.
struct NewPasswordOptions: ParsableArguments {
    @Flag(name: .long, help: "Read the new password from the first line of standard input.")
    var passwordStdin = false

    /// Reads the new password.
    ///
    /// - Parameter name: The name of the user, for the prompt.
    /// - Returns: The password. The caller checks it against the settings.
    /// - Throws: ``CommandError`` when there is no password or no terminal, or when the two passwords differ.
    func read(for name: String) async throws(CommandError) -> Secret {
        let fromInput = passwordStdin
        // The read blocks its thread. On a thread of the Swift tasks it would hold up other tasks.
        let read: Result<Secret, CommandError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                do throws(CommandError) {
                    let secret = fromInput ? try Self.fromStandardInput() : try Self.fromTerminal(name)
                    continuation.resume(returning: .success(secret))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try read.get()
    }

    private static func fromStandardInput() throws(CommandError) -> Secret {
        guard let secret = LineInput.readSecret(STDIN_FILENO) else {
            throw CommandError(
                .usage,
                "there is no password on standard input, or its line is longer than \(Terminal.maximumLine) bytes"
            )
        }
        return secret
    }

    private static func fromTerminal(_ name: String) throws(CommandError) -> Secret {
        guard let terminal = Terminal() else {
            throw CommandError(.usage, "there is no terminal for the prompt; use --password-stdin")
        }
        let prompt = "New password for \(Printable.line(name)): "
        guard let first = terminal.readSecret(prompt), let second = terminal.readSecret("Once more: ") else {
            throw CommandError(.failed, "no password was given")
        }
        guard first.isEqual(to: second) else {
            throw CommandError(.failed, "the two passwords are not the same; nothing was changed")
        }
        return first
    }
}
