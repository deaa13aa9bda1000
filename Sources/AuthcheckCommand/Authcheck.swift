// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandSupport
internal import Glibc
public import HostServices
internal import LoginConf
internal import RealmConfiguration
public import RealmKit

/// The command `authcheck`: tests whether a realm accepts a user.
public enum Authcheck {
    /// Runs the command with the process's arguments and ends the process.
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
    ///   - state: The services of the state folder. With `.store` of StoreServices, realms can read users in the store,
    ///     and the command checks the locks that a server has stored.
    ///   - remote: The HTTPS client for `--server`; nil if the program cannot ask servers. AuthcheckRemote has one.
    public static func main(
        _ kinds: [RealmKind],
        state: ProgramState = .none,
        remote: RemoteTransport? = nil
    ) async -> Never {
        let arguments = Array(CommandLine.arguments.dropFirst())
        exit(await run(arguments, kinds: kinds, state: state, remote: remote).rawValue)
    }

    static func run(
        _ arguments: [String],
        kinds: [RealmKind],
        state: ProgramState = .none,
        remote: RemoteTransport? = nil,
        standardInput: Int32 = STDIN_FILENO
    ) async -> ExitStatus {
        let options: AuthcheckOptions
        do {
            options = try AuthcheckOptions.parse(arguments)
        } catch {
            let isHelp = AuthcheckOptions.exitCode(for: error) == .success
            let full = AuthcheckOptions.fullMessage(for: error)
            let message = Printable.text(PasswordArgument.message(arguments, insteadOf: full) ?? full)
            Output.write(message, to: isHelp ? STDOUT_FILENO : STDERR_FILENO)
            // In a script, status 0 may grant access, and a user may have the name --help. Therefore --help returns 0
            // only if it is the single argument.
            return isHelp && arguments.count == 1 ? .accepted : .usage
        }
        if let server = options.remote.server {
            guard let remote else {
                Output.write("authcheck: this program is built without a client for --server", to: STDERR_FILENO)
                return .usage
            }
            guard let url = ServerURL(server) else {
                let message = "authcheck: --server takes a URL such as https://auth.example.com:8443, not \(server)"
                Output.write(Printable.line(message), to: STDERR_FILENO)
                return .usage
            }
            var check = RemoteCheck(options, url: url, transport: remote, standardInput: standardInput)
            return await check.run()
        }
        let username: Username
        do throws(BadUsername) {
            username = try Username(options.user ?? "")
        } catch {
            Output.write("authcheck: \(error)", to: STDERR_FILENO)
            return .usage
        }
        let conversation = TerminalConversation(username, input: options.passwordStdin ? standardInput : nil)
        return await check(username, options: options, kinds: kinds, state: state, conversation: conversation)
    }

    private static func check(
        _ username: Username,
        options: AuthcheckOptions,
        kinds: [RealmKind],
        state: ProgramState,
        conversation: TerminalConversation
    ) async -> ExitStatus {
        let configuration: Configuration
        do throws(ConfigurationErrors) {
            let log = RealmLog.once { message in
                if !options.quiet { Output.write("authcheck: \(Printable.line(message))", to: STDERR_FILENO) }
            }
            let services = ProgramServices(state, access: .existingOnly, log: log)
            configuration = try options.source.load(kinds, services: services)
            if !options.quiet {
                for warning in configuration.warnings { Output.write(warning.rendered, to: STDERR_FILENO) }
            }
        } catch {
            Output.write(error.description, to: STDERR_FILENO)
            return .configuration
        }
        let realm = options.realm ?? ""
        let request = LoginRequest(realm: realm, username: username, service: options.service)
        do throws(RealmError) {
            let authenticator = await authenticator(of: configuration, isQuiet: options.quiet)
            let report = try await authenticator.login(request, asking: conversation)
            if !options.quiet {
                let text = options.json ? ReportJSON.text(report) : ReportText.text(report, trace: options.trace)
                Output.write(text, to: STDOUT_FILENO)
            }
            return ExitStatus(report)
        } catch {
            let nearest = NearestName.suggest(realm, among: configuration.realms.map(\.name))
            Output.write(
                "authcheck: \(Printable.line("\(error)"))" + (nearest.map { "\n    hint: did you mean \($0)?" } ?? ""),
                to: STDERR_FILENO
            )
            return .configuration
        }
    }
}

extension Authcheck {
    /// Returns the authenticator of a configuration.
    ///
    /// It rejects accounts that a server has locked.
    private static func authenticator(of configuration: Configuration, isQuiet: Bool) async -> Authenticator {
        guard let lockouts = configuration.services[RecordedLockouts.self] else { return configuration.authenticator }
        do {
            return configuration.authenticator.throttled(by: try await lockouts.throttle(WallClock.system.seconds))
        } catch {
            if !isQuiet {
                Output.write("authcheck: cannot check whether the account is locked: \(error)", to: STDERR_FILENO)
            }
            return configuration.authenticator
        }
    }
}

/// The exit status of the command.
enum ExitStatus: Int32 {
    case accepted = 0
    case refused = 1
    case usage = 2
    case configuration = 3
    case undecided = 4

    init(_ report: LoginReport) {
        switch report.refusal?.failure {
        case nil: self = .accepted
        case .unavailable, .internalError: self = .undecided
        case .wrongCredentials, .unknownUser, .missingCredential, .unusableCredential, .locked, .disabled,
            .accountExpired, .credentialExpired, .permissionDenied:
            self = .refused
        }
    }
}
