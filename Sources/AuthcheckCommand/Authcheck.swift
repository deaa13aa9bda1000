// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions
internal import Glibc
internal import LentServices
internal import LoginConf
internal import RealmConfiguration
public import RealmKit
internal import Store
internal import TerminalIO
internal import Throttle

/// The command `authcheck`: asks a realm whether it would let somebody in.
public enum Authcheck {
    /// Runs the command with the process's arguments and ends the process.
    ///
    /// The exit status is 0 when the user is accepted, 1 when refused, 2 when the arguments are wrong, 3 when the
    /// configuration is, 4 when the realm could not decide.
    ///
    /// - Parameter kinds: The types of realms and modules that are linked in.
    public static func main(_ kinds: [RealmKind]) async -> Never {
        exit(await run(Array(CommandLine.arguments.dropFirst()), kinds).rawValue)
    }

    static func run(
        _ arguments: [String],
        _ kinds: [RealmKind],
        standardInput: Int32 = STDIN_FILENO
    ) async -> ExitStatus {
        let options: AuthcheckOptions
        do {
            options = try AuthcheckOptions.parse(arguments)
        } catch {
            let isHelp = AuthcheckOptions.exitCode(for: error) == .success
            let message = Printable.text(AuthcheckOptions.fullMessage(for: error))
            Output.write(message, to: isHelp ? STDOUT_FILENO : STDERR_FILENO)
            // A user may be called --help: only who asks for nothing but help is told that all is well.
            return isHelp && arguments.count == 1 ? .accepted : .usage
        }
        let username: Username
        do throws(BadUsername) {
            username = try Username(options.user)
        } catch {
            Output.write("authcheck: \(error)", to: STDERR_FILENO)
            return .usage
        }
        return await check(username, options, kinds, input: options.passwordStdin ? standardInput : nil)
    }

    private static func check(
        _ username: Username,
        _ options: AuthcheckOptions,
        _ kinds: [RealmKind],
        input: Int32?
    ) async -> ExitStatus {
        let configuration: Configuration
        do throws(ConfigurationErrors) {
            let log = RealmLog.once { message in
                if !options.quiet { Output.write("authcheck: \(Printable.line(message))", to: STDERR_FILENO) }
            }
            configuration = try options.source.load(kinds, ProgramServices(.look, log: log))
            if !options.quiet {
                for warning in configuration.warnings { Output.write(warning.rendered, to: STDERR_FILENO) }
            }
        } catch {
            Output.write(error.description, to: STDERR_FILENO)
            return .configuration
        }
        let request = LoginRequest(realm: options.realm, username: username, service: options.service)
        let conversation = TerminalConversation(username, input: input)
        do throws(RealmError) {
            let report = try await authenticator(configuration, options).login(request, asking: conversation)
            if !options.quiet {
                let text = options.json ? ReportJSON.text(report) : ReportText.text(report, trace: options.trace)
                Output.write(text, to: STDOUT_FILENO)
            }
            return ExitStatus(report)
        } catch {
            let nearest = NearestName.suggest(options.realm, among: configuration.realms.map(\.name))
            Output.write(
                "authcheck: \(Printable.line("\(error)"))" + (nearest.map { "\n    hint: did you mean \($0)?" } ?? ""),
                to: STDERR_FILENO
            )
            return .configuration
        }
    }
}

extension Authcheck {
    /// The way in, behind the locks that a server has recorded.
    private static func authenticator(
        _ configuration: Configuration,
        _ options: AuthcheckOptions
    ) async -> Authenticator {
        guard let source = configuration.services[StoreSource.self] else { return configuration.authenticator }
        do {
            let locks = try await RecordedLocks(try source.store(), now: WallClock.system.seconds)
            return configuration.authenticator.throttled(by: locks)
        } catch {
            if !options.quiet {
                Output.write("authcheck: whether the account is locked is not known: \(error)", to: STDERR_FILENO)
            }
            return configuration.authenticator
        }
    }
}

/// What the command's exit status says.
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
