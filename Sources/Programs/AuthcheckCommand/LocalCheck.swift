// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Glibc
internal import LoginConf
internal import Prover
internal import RealmConfiguration
internal import RealmKit

/// `authcheck` without `--server`: a realm of the configuration checks the user.
struct LocalCheck {
    let options: AuthcheckOptions
    /// The descriptor for `--password-stdin`.
    let standardInput: Int32

    func run(_ kinds: [RealmKind], state: ProgramState) async -> ExitStatus {
        let username: Username?
        let configuration: Configuration
        let certificate: CertificateFile?
        do {
            username = try options.user.map { try Username($0) }
            let services = ProgramServices(state, access: .existingOnly, log: .once { warn($0) })
            configuration = try options.source.load(kinds, services: services)
            if !options.quiet, let line = options.source.line(aboutWarningsOf: configuration) {
                Output.write(line, to: STDERR_FILENO)
            }
            certificate = try options.certificate.map { try CertificateFile($0, settings: configuration.server) }
        } catch let error as BadUsername {
            Output.write("authcheck: \(error)", to: STDERR_FILENO)
            return .usage
        } catch let error as CertificateFile.Fault {
            Output.write(Printable.text("authcheck: \(error.text)"), to: STDERR_FILENO)
            return error.status
        } catch {
            Output.write(DiagnosticColors.standardError("\(error)"), to: STDERR_FILENO)
            return .configuration
        }
        do {
            let result =
                if let answers = options.answers, let username {
                    try login(username, answers: answers, in: configuration)
                } else {
                    try await login(username, certificate, in: configuration)
                }
            if !options.quiet { Output.write(result.text(options), to: STDOUT_FILENO) }
            return result.status
        } catch let error as ModuleAnswers.Fault {
            Output.write(Printable.line("authcheck: \(error.text)"), to: STDERR_FILENO)
            return .usage
        } catch {
            let nearest = NearestName.suggest(options.realm ?? "", among: configuration.realms.map(\.name))
            let hint = nearest.map { "\n    hint: did you mean \($0)?" } ?? ""
            Output.write("authcheck: \(Printable.line("\(error)"))\(hint)", to: STDERR_FILENO)
            return .configuration
        }
    }

    private func warn(_ text: String) {
        if !options.quiet { Output.write("authcheck: \(Printable.line(text))", to: STDERR_FILENO) }
    }

    private func login(
        _ given: Username?,
        _ certificate: CertificateFile?,
        in configuration: Configuration
    ) async throws(RealmError) -> CheckResult {
        let authenticator = await authenticator(of: configuration)
        let realm = try authenticator.realm(options.realm ?? "")
        let username: Username
        do throws(LoginFault) {
            if let certificate {
                for warning in try certificate.check(for: realm, rules: configuration.rules) {
                    warn("warning: \(warning)")
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

    /// The login with given answers of the modules of a realm.
    private func login(_ username: Username, answers: String, in configuration: Configuration) throws -> CheckResult {
        let realm = try configuration.authenticator.realm(options.realm ?? "")
        let answers = try ModuleAnswers(answers, for: realm.stack)
        if !answers.unknownNames.isEmpty {
            let (unknown, known) = (answers.unknownNames, ModuleAnswers.names(in: realm.stack))
            warn(
                "warning: realm \(realm.name) has no module \(unknown.joined(separator: ", ")); "
                    + "its modules are \(known.joined(separator: ", "))"
            )
        }
        let request = LoginRequest(realm: realm.name, username: username, service: options.service)
        return .answers(answers.login(request))
    }

    /// The authenticator of a configuration, which rejects accounts that a server has locked.
    private func authenticator(of configuration: Configuration) async -> Authenticator {
        guard let lockouts = configuration.services[RecordedLockouts.self] else { return configuration.authenticator }
        do {
            return configuration.authenticator.throttled(by: try await lockouts.throttle(WallClock.system.seconds))
        } catch {
            warn("cannot check whether the account is locked: \(error)")
            return configuration.authenticator
        }
    }
}
