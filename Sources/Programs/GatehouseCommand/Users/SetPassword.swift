// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import Glibc
internal import RealmKit

extension GatehouseOptions.User {
    struct SetPassword: Subcommand {
        static let configuration = CommandConfiguration(commandName: "set-password", abstract: "Set a user's password.")
        @OptionGroup var options: RealmOptions
        @OptionGroup var password: NewPasswordOptions
        @Flag(help: "The user cannot sign in until the password is changed.") var mustChange = false
        @Argument(help: "The user.") var user: String

        func perform(_ kinds: [RealmKind]) async throws {
            let administration = try UserAdministration(options, kinds: kinds)
            let record = try await administration.realm.record(user)
            var changes = UserChanges()
            changes.hash = try await administration.hash(try await password.read(for: user))
            if mustChange || record.mustChangePassword { changes.mustChangePassword = mustChange }
            try await administration.change(user, changes, done: "has a new password")
        }
    }
}

/// The arguments that select the source of a new password: two prompts on the terminal, or standard input.
///
/// A password cannot be an argument, because every user of a machine can read the arguments of processes.
struct NewPasswordOptions: ParsableArguments {
    @Flag(help: "Read the new password from the first line of standard input.") var passwordStdin = false

    /// Reads a new password for which `check` returns no reason against it.
    ///
    /// With a check, a password on the terminal that is not accepted, or that is not repeated, is asked for again.
    func read(
        for name: String,
        check: (@Sendable (Secret) -> String?)? = nil
    ) async throws -> Secret {
        let fromInput = passwordStdin
        return try await BlockingCall.run {
            guard fromInput else { return try Self.fromTerminal(name, check: check) }
            let secret = try Self.fromStandardInput()
            if let reason = check?(secret) { throw CommandError(.failed, "\(reason); nothing was written") }
            return secret
        }
    }

    private static func fromStandardInput() throws -> Secret {
        guard let secret = LineInput.readSecret(STDIN_FILENO) else {
            throw CommandError(
                .usage,
                "there is no password on standard input, or its line is longer than \(Terminal.maximumLine) bytes"
            )
        }
        return secret
    }

    private static func fromTerminal(
        _ name: String,
        check: ((Secret) -> String?)?
    ) throws -> Secret {
        guard let terminal = Terminal() else {
            throw CommandError(.usage, "there is no terminal for the prompt; use --password-stdin")
        }
        let noPassword = CommandError(
            .failed,
            "no password was given\(check == nil ? "" : "; nothing was written")"
        )
        while true {
            guard let first = terminal.readSecret("New password for \(Printable.line(name)): ") else {
                throw noPassword
            }
            if let reason = check?(first) {
                terminal.show(reason + "\n")
                continue
            }
            guard let second = terminal.readSecret("Once more: ") else { throw noPassword }
            if first.isEqual(to: second) { return first }
            guard check != nil else {
                throw CommandError(.failed, "the two passwords are not the same; nothing was changed")
            }
            terminal.show("the two passwords are not the same\n")
        }
    }
}
