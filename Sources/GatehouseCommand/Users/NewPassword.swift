// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import Dispatch
internal import Glibc
internal import RealmKit
internal import TerminalIO

/// Where a new password comes from: the terminal, asked for twice, or standard input.
///
/// There is no way to give one in the arguments: everybody on a machine can read them.
struct NewPasswordOptions: ParsableArguments {
    @Flag(name: .long, help: "Read the new password from the first line of standard input.")
    var passwordStdin = false

    /// The new password.
    ///
    /// - Parameter name: Whose password it is to be, for the prompt.
    func read(for name: String) async throws(ActionFault) -> Secret {
        let fromInput = passwordStdin
        // Reading blocks, so it does not belong on the threads that tasks share.
        let read: Result<Secret, ActionFault> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                do throws(ActionFault) {
                    let secret = fromInput ? try Self.fromStandardInput() : try Self.fromTerminal(name)
                    continuation.resume(returning: .success(secret))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try read.get()
    }

    private static func fromStandardInput() throws(ActionFault) -> Secret {
        guard let secret = LineInput.readSecret(STDIN_FILENO) else {
            throw ActionFault(.usage, "there is no password on standard input, or it is longer than a line may be")
        }
        return secret
    }

    private static func fromTerminal(_ name: String) throws(ActionFault) -> Secret {
        guard let terminal = Terminal() else {
            throw ActionFault(.usage, "there is no terminal to ask on; use --password-stdin")
        }
        let prompt = "New password for \(Printable.line(name)): "
        guard let first = terminal.readSecret(prompt), let second = terminal.readSecret("Once more: ") else {
            throw ActionFault(.failed, "no password was given")
        }
        guard first.isEqual(to: second) else {
            throw ActionFault(.failed, "the two are not the same; nothing is changed")
        }
        return first
    }
}
