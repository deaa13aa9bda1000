// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import Glibc
internal import RealmConfiguration
public import RealmKit

/// The command `authcheck`: tests whether a realm accepts a user.
public enum Authcheck {
    /// Runs the command with the process's arguments and ends the process.
    ///
    /// Other processes of the user cannot read the memory of this one.
    ///
    /// The exit status:
    ///
    /// - 0: the realm has accepted the user.
    /// - 1: the realm has refused the user.
    /// - 2: the arguments are wrong.
    /// - 3: the configuration is wrong.
    /// - 4: the realm could not decide, or a server could not be asked.
    ///
    /// - Parameters:
    ///   - kinds: The types of realms and modules that the program contains.
    ///   - state: The services of the state folder. With `.store` of Store, realms can read users in the store,
    ///     and the command checks the locks that a server has stored.
    ///   - remote: The check for `--server`; nil if the program cannot ask servers. AuthcheckRemote has `.https`.
    public static func main(
        _ kinds: [RealmKind],
        state: ProgramState = .none,
        remote: RemoteAuthcheck? = nil
    ) async -> Never {
        let status = await run(CommandProcess.arguments(), kinds: kinds, state: state, remote: remote)
        CommandProcess.end(status.rawValue)
    }

    static func run(
        _ arguments: [String],
        kinds: [RealmKind],
        state: ProgramState = .none,
        remote: RemoteAuthcheck? = nil,
        standardInput: Int32 = STDIN_FILENO
    ) async -> ExitStatus {
        let options: AuthcheckOptions
        do {
            options = try AuthcheckOptions.parse(arguments)
        } catch {
            let isHelp = AuthcheckOptions.exitCode(for: error) == .success
            let full = AuthcheckOptions.fullMessage(for: error)
            let message = isHelp ? full : RejectedArgument.message(arguments, parser: full)
            Output.write(Printable.text(message), to: isHelp ? STDOUT_FILENO : STDERR_FILENO)
            // In a script, status 0 may grant access, and a user may have the name --help. Therefore --help returns 0
            // only if it is the single argument.
            return isHelp && arguments.count == 1 ? .accepted : .usage
        }
        guard options.remote.server == nil else {
            if let remote { return await remote.run(options, standardInput) }
            Output.write("authcheck: this program is built without a client for --server", to: STDERR_FILENO)
            return .usage
        }
        return await LocalCheck(options: options, standardInput: standardInput).run(kinds, state: state)
    }
}

/// The check of credentials by a server, for `--server`.
///
/// It is passed to ``Authcheck/main(_:state:remote:)``, so that a program without it links no HTTPS client.
public struct RemoteAuthcheck: Sendable {
    let run: @Sendable (_ options: AuthcheckOptions, _ standardInput: Int32) async -> ExitStatus

    package init(_ run: @escaping @Sendable (_ options: AuthcheckOptions, _ standardInput: Int32) async -> ExitStatus) {
        self.run = run
    }
}

package enum ExitStatus: Int32 {
    case accepted = 0
    case refused = 1
    case usage = 2
    case configuration = 3
    case undecided = 4

    package init(_ failure: LoginFailure) {
        switch failure {
        case .unavailable, .overloaded, .internalError: self = .undecided
        case .wrongCredentials, .unknownUser, .missingCredential, .unusableCredential, .locked, .disabled,
            .accountExpired, .credentialExpired, .permissionDenied:
            self = .refused
        }
    }
}
