// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import ArgumentParser
internal import CommandSupport
internal import Glibc
internal import LoginConf
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
        exit(await run(CommandStart.arguments(), kinds: kinds, state: state, remote: remote).rawValue)
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
            let password = isHelp ? nil : PasswordArgument.message(arguments, insteadOf: full)
            let unexpected = isHelp ? nil : UnexpectedArgument.message(insteadOf: full)
            let message = Printable.text(password ?? unexpected ?? full)
            Output.write(message, to: isHelp ? STDOUT_FILENO : STDERR_FILENO)
            // In a script, status 0 may grant access, and a user may have the name --help. Therefore --help returns 0
            // only if it is the single argument.
            return isHelp && arguments.count == 1 ? .accepted : .usage
        }
        guard options.remote.server == nil else {
            if let remote { return await remote.run(options, standardInput) }
            Output.write("authcheck: this program is built without a client for --server", to: STDERR_FILENO)
            return .usage
        }
        var username: Username?
        do throws(BadUsername) {
            username = try options.user.map { (user) throws(BadUsername) in try Username(user) }
        } catch {
            Output.write("authcheck: \(error)", to: STDERR_FILENO)
            return .usage
        }
        return await check(username, options: options, kinds: kinds, state: state, standardInput: standardInput)
    }

    private static func check(
        _ username: Username?,
        options: AuthcheckOptions,
        kinds: [RealmKind],
        state: ProgramState,
        standardInput: Int32
    ) async -> ExitStatus {
        let configuration: Configuration
        let certificate: CertificateFile?
        do {
            let log = RealmLog.once { message in
                if !options.quiet { Output.write("authcheck: \(Printable.line(message))", to: STDERR_FILENO) }
            }
            let services = ProgramServices(state, access: .existingOnly, log: log)
            configuration = try options.source.load(kinds, services: services)
            if !options.quiet, let line = options.source.line(aboutWarningsOf: configuration) {
                Output.write(line, to: STDERR_FILENO)
            }
            certificate = try options.certificate.map { try CertificateFile($0, settings: configuration.server) }
        } catch let error as CertificateFile.Fault {
            Output.write(Printable.text("authcheck: \(error.text)"), to: STDERR_FILENO)
            return error.status
        } catch {
            Output.write(DiagnosticColors.standardError("\(error)"), to: STDERR_FILENO)
            return .configuration
        }
        let realm = options.realm ?? ""
        do throws(RealmError) {
            let authenticator = await authenticator(of: configuration, isQuiet: options.quiet)
            let result = try await login(
                username,
                certificate: certificate,
                in: authenticator.realm(realm),
                of: authenticator,
                rules: configuration.rules,
                options: options,
                standardInput: standardInput
            )
            if !options.quiet { Output.write(result.text(options), to: STDOUT_FILENO) }
            return result.status
        } catch {
            let nearest = NearestName.suggest(realm, among: configuration.realms.map(\.name))
            Output.write(
                "authcheck: \(Printable.line("\(error)"))" + (nearest.map { "\n    hint: did you mean \($0)?" } ?? ""),
                to: STDERR_FILENO
            )
            return .configuration
        }
    }

    private static func login(
        _ given: Username?,
        certificate: CertificateFile?,
        in realm: BoundRealm,
        of authenticator: Authenticator,
        rules: [ProtectRule],
        options: AuthcheckOptions,
        standardInput: Int32
    ) async throws(RealmError) -> CheckResult {
        let username: Username
        do throws(LoginFault) {
            if let certificate {
                let warnings = try certificate.check(for: realm, rules: rules)
                if !options.quiet {
                    for warning in warnings {
                        Output.write("authcheck: warning: \(Printable.line(warning))", to: STDERR_FILENO)
                    }
                }
                username = try await certificate.username(given, in: realm)
            } else if let given {
                username = given
            } else {
                throw LoginFault(.missingCredential, log: "neither a user nor a certificate was given")
            }
        } catch {
            return .rejectedCertificate(error, realm: realm.name)
        }
        let conversation = TerminalConversation(
            username,
            certificate: certificate?.der,
            input: options.passwordStdin ? standardInput : nil
        )
        let request = LoginRequest(realm: realm.name, username: username, service: options.service)
        let report = try await authenticator.login(request, asking: conversation)
        // Without this check, the name alone would be accepted, and the certificate would have no part in it.
        if certificate != nil, report.identity != nil, !conversation.hasSentCertificate {
            let fault = LoginFault(.missingCredential, log: "no module of the login has used the certificate")
            return .rejectedCertificate(fault, realm: realm.name)
        }
        return .login(report)
    }

    /// The authenticator of a configuration, which rejects accounts that a server has locked.
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
