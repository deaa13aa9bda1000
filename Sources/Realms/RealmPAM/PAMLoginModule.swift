// SPDX-License-Identifier: Apache-2.0

internal import HelperProcesses
internal import PAMMessages
package import RealmKit

/// Authenticates the users of a ``PAMRealm``: pam_authenticate, pam_acct_mgmt, and pam_chauthtok for an expired password.
///
/// The password answers the first prompt whose input is hidden. Further prompts are shown to the user; HTTP Basic has no
/// answer to them. The user's groups and full name are those of the system. The options are those of `FirstPass`.
package struct PAMLoginModule: PasswordLoginModule {
    /// With the names of GlassFish's module, oldest first.
    package static let moduleNames = [
        "PAMLoginModule", "com.sun.enterprise.security.auth.login.PamLoginModule",
        "com.sun.enterprise.security.ee.auth.login.PamLoginModule",
        "com.sun.enterprise.security.ee.authentication.glassfish.pam.PamLoginModule",
    ]

    package let firstPass: FirstPass
    private let realm: PAMRealm
    private let userKey: SharedState.Key
    private let passwordKey: SharedState.Key

    package init(realm: PAMRealm, options: ModuleOptions) throws(BadModule) {
        firstPass = try FirstPass(options)
        self.realm = realm
        userKey = SharedState.Key("gatehouse.pam.\(options.realmName).user")
        passwordKey = SharedState.Key("gatehouse.pam.\(options.realmName).password")
    }

    /// Succeeds if PAM accepts the user and the account, or if only the password has expired and may be changed.
    package func authenticate(_ attempt: LoginAttempt, password: Secret) async throws(LoginFault) -> Verdict {
        guard !password.isEmpty else { return .failed(.wrongCredentials) }
        guard PAMAnswers.isUsable(password) else { return .failed(.unusableCredential) }
        return try await realm.outages.watching { () async throws(LoginFault) in
            let task = attempt.isLocked ? PAMTask.authenticateLocked : .authenticate
            let (result, isUnanswered) = try await run(task, for: attempt.username, attempt, password: password)
            let mustChange = result.stage == .account && result.code == PAMReturnCode.newTokenRequired.rawValue
            guard result.isSuccess || mustChange && realm.mayChangePassword else {
                return .failed(try failure(result, isUnanswered: isUnanswered, attempt: attempt))
            }
            let user = try username(result)
            if mustChange {
                attempt.updateShared { shared in
                    shared[userKey] = .text(user.text)
                    shared[passwordKey] = .secret(password)
                }
            }
            return attempt.commit(as: user, groups: result.systemUser.groups, attributes: result.systemUser.attributes)
        }
    }

    /// Changes a password that has expired.
    ///
    /// This is done in the commit phase, which runs only if the stack accepts the login, and in a transaction of its own, as
    /// passwd(1) does it.
    package func commit(_ attempt: LoginAttempt) async throws(LoginFault) -> Completion {
        firstPass.cleanUp(attempt)
        guard attempt.succeeded else { return .ignored }
        // Another module of this realm in the stack must not ask again.
        let (userText, oldPassword) = attempt.updateShared { shared in
            defer { (shared[userKey], shared[passwordKey]) = (nil, nil) }
            return (shared.text(userKey), shared.secret(passwordKey))
        }
        guard let name = userText, let password = oldPassword else { return .done }
        return try await realm.outages.watching { () async throws(LoginFault) in
            let user = try Result { () throws(BadUsername) in try Username(name) }
                .mapError { LoginFault.internalError("\($0)") }.get()
            let (result, isUnanswered) = try await run(.changePassword, for: user, attempt, password: password)
            guard result.isSuccess else {
                let failure = try failure(result, isUnanswered: isUnanswered, attempt: attempt)
                throw LoginFault(failure, log: result.log)
            }
            return .done
        }
    }

    private func run(
        _ task: PAMTask,
        for user: Username,
        _ attempt: LoginAttempt,
        password: Secret
    ) async throws(LoginFault) -> (PAMResult, isUnanswered: Bool) {
        let (service, folder) = (realm.service, realm.folder)
        let request = PAMLoginRequest(task: task, service: service, user: user, host: attempt.peer, folder: folder)
        let dialog = PAMDialog(promptTimeout: realm.promptTimeout)
        let helpers = realm.helpers
        let answers = PAMAnswers(password)
        // The group ends when the helper and the conversation have ended: a fault of one of them cancels the other.
        let outcome = await withTaskGroup(of: Void.self) { group -> Result<PAMResult, HelperFault> in
            defer { group.cancelAll() }
            group.addImmediateTask { await helpers.authenticate(request, dialog: dialog, secret: password) }
            for await event in dialog.events {
                switch event {
                case .finished(let result, let texts):
                    if case .success = result { for text in texts { attempt.note(text) } }
                    return result
                case .prompts(let stage, let prompts, let texts, let call):
                    group.addImmediateTask {
                        do throws(LoginFault) {
                            let given = try await answers.answer(prompts, stage: stage, texts: texts, attempt: attempt)
                            dialog.answer(given, call: call)
                        } catch {
                            dialog.fail(error)
                        }
                    }
                }
            }
            return .failure(HelperFault(.cancelled, "the login was cancelled"))
        }
        return (try outcome.mapError { fault($0, dialog: dialog) }.get(), answers.isUnanswered)
    }

    /// Returns the fault of a login without a result of PAM.
    ///
    /// If the user has not answered in time, or has left, the conversation decides: after a password, a user who leaves
    /// must count as a failed login.
    private func fault(_ fault: HelperFault, dialog: PAMDialog) -> LoginFault {
        let ofHelper = fault.loginFault()
        guard let ofUser = dialog.lastFault, fault.code == .cancelled || fault.code == .timedOut else {
            return ofHelper
        }
        return fault.code == .timedOut && ofUser.kind == .unavailable ? ofHelper : ofUser
    }

    private func username(_ result: PAMResult) throws(LoginFault) -> Username {
        guard let text = result.user else {
            throw .unavailable("PAM has changed the user's name to one that is not UTF-8")
        }
        return try Result { () throws(BadUsername) in try Username(text) }
            .mapError { LoginFault.unavailable("PAM has changed the user's name, and \($0)") }.get()
    }

    private func failure(
        _ result: PAMResult,
        isUnanswered: Bool,
        attempt: LoginAttempt
    ) throws(LoginFault) -> LoginFailure {
        attempt.note(result.log)
        if result.stage == .changePassword, let refusal = result.refusal { return refusal }
        if isUnanswered { throw LoginFault(.missingCredential, log: "a prompt of PAM has no answer; \(result.log)") }
        guard let refusal = result.refusal else { throw .unavailable(result.log) }
        return refusal
    }
}

extension PAMLoginModule: NonblockingLoginModule {}
