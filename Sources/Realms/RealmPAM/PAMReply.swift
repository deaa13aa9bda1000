// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HelperProcesses
internal import PAMMessages
internal import RealmKit

enum PAMReply: Sendable {
    case prompts(PAMStage, [PAMPrompt])
    case text(String)
    case result(PAMResult)
    /// A user of the system; nil if the system has no such user.
    case user(PAMUser?)
    /// The system cannot look up a user, or the user's groups, now.
    case userUnavailable

    /// Reads the body of a message, which must have the number of the request.
    init(_ body: ArraySlice<UInt8>, request: UInt64) throws(HelperFault) {
        var reader = MessageReader(body)
        guard let kind = reader.kind(), let number = reader.request() else { throw Self.notValid }
        guard number == request else {
            throw HelperFault(.malformed, "the helper for PAM has sent a message of another request")
        }
        guard let reply = Self.read(kind, &reader), reader.isAtEnd else { throw Self.notValid }
        self = reply
    }

    private static let notValid = HelperFault(.malformed, "the helper for PAM has sent a message that is not valid")

    private static func read(_ kind: PAMMessage.Kind, _ reader: inout MessageReader) -> PAMReply? {
        switch kind {
        case .prompts:
            guard let stage = reader.byte().flatMap(PAMStage.init) else { return nil }
            var prompts: [PAMPrompt] = []
            while !reader.isAtEnd {
                guard let isShown = reader.byte(), let text = reader.text(), prompts.count < PAMMessage.maximumPrompts
                else { return nil }
                prompts.append(PAMPrompt(isShown: isShown == 1, text: Array(text)))
            }
            return prompts.isEmpty ? nil : .prompts(stage, prompts)
        case .text: return reader.text().map { .text(HelperText.escaped($0)) }
        case .result:
            guard let stage = reader.byte().flatMap(PAMStage.init), let code = reader.number(),
                let text = reader.text(), let user = reader.text(), let systemUser = PAMUser(&reader)
            else { return nil }
            return .result(
                PAMResult(
                    stage: stage,
                    code: code,
                    text: HelperText.escaped(text),
                    user: String(validating: user, as: UTF8.self),
                    systemUser: systemUser
                )
            )
        case .user:
            guard let answer = reader.byte(), let user = PAMUser(&reader) else { return nil }
            switch UserAnswer(rawValue: answer) {
            case .unknownUser: return .user(nil)
            case .known: return .user(user)
            case .unavailable: return .userUnavailable
            case nil: return nil
            }
        case .authenticate, .answers, .findUser: return nil
        }
    }
}

/// The end of a login by PAM.
struct PAMResult: Sendable {
    let stage: PAMStage
    /// The code of Linux-PAM.
    let code: Int32
    let text: String
    /// The user's name, which modules may have changed; nil if it is not UTF-8.
    let user: String?
    /// The groups and attributes of the system's user of this name; empty if there is none.
    let systemUser: PAMUser
    var isSuccess: Bool { code == PAMReturnCode.success.rawValue }

    /// The reason of a refusal; nil if the login could not be decided.
    ///
    /// Codes that Linux-PAM does not define never come from libpam: it replaces them by PERM_DENIED.
    var refusal: LoginFailure? {
        guard let code = PAMReturnCode(rawValue: code) else { return nil }
        if stage == .changePassword { return code.isOutage ? nil : .credentialExpired }
        return code.refusal
    }

    var log: String {
        let function =
            switch stage {
            case .start: "pam_start"
            case .authenticate: "pam_authenticate"
            case .account: "pam_acct_mgmt"
            case .changePassword: "pam_chauthtok"
            }
        return "\(function): \(text) (\(code))"
    }
}

/// The codes of Linux-PAM that can end a login (`security/_pam_types.h`).
enum PAMReturnCode: Int32, Sendable, CaseIterable {
    case success = 0, openError, symbolError, serviceError, systemError, bufferError, permissionDenied
    case authenticationError, credentialsInsufficient, authenticationInformationUnavailable, userUnknown, maximumTries
    case newTokenRequired, accountExpired, sessionError, credentialsUnavailable, credentialsExpired, credentialsError
    case noModuleData, conversationError, tokenError, tokenRecoveryError, tokenLockBusy, tokenDisableAging, tryAgain
    case ignore, abort, tokenExpired, moduleUnknown, badItem, conversationAgain, incomplete

    /// The reason of a refusal; nil if the code means that the login could not be decided.
    var refusal: LoginFailure? {
        switch self {
        case .authenticationError: .wrongCredentials
        case .userUnknown: .unknownUser
        case .maximumTries: .locked
        case .accountExpired: .accountExpired
        case .permissionDenied: .permissionDenied
        case .newTokenRequired, .credentialsExpired, .tokenExpired: .credentialExpired
        case .credentialsUnavailable: .missingCredential
        case .credentialsError: .unusableCredential
        case .success, .openError, .symbolError, .serviceError, .systemError, .bufferError, .credentialsInsufficient,
            .authenticationInformationUnavailable, .sessionError, .noModuleData, .conversationError, .tokenError,
            .tokenRecoveryError, .tokenLockBusy, .tokenDisableAging, .tryAgain, .ignore, .abort, .moduleUnknown,
            .badItem, .conversationAgain, .incomplete:
            nil
        }
    }

    /// True if the code means a defect or an outage also while a password is changed.
    var isOutage: Bool {
        switch self {
        case .openError, .symbolError, .serviceError, .systemError, .bufferError, .authenticationInformationUnavailable,
            .abort, .moduleUnknown, .badItem:
            true
        default: false
        }
    }
}

/// The groups and attributes of a user of the system.
struct PAMUser: Sendable {
    let groups: [String]
    /// The full name as `displayName`; empty if the system has none.
    let attributes: [UserAttribute]

    /// Reads the full name and the groups from the end of a message; nil if it is not valid.
    ///
    /// A group whose name is not valid grants nothing and is left out, and so is a full name that cannot be an
    /// attribute.
    init?(_ reader: inout MessageReader) {
        guard let fullName = reader.text() else { return nil }
        var groups: [String] = []
        while !reader.isAtEnd {
            guard let bytes = reader.text(), groups.count < PAMMessage.maximumGroups else { return nil }
            guard let name = String(validating: bytes, as: UTF8.self), !name.utf8.isEmpty,
                !name.containsControlCharacter
            else { continue }
            groups.append(name)
        }
        self.groups = groups
        let name = String(validating: fullName, as: UTF8.self).flatMap {
            try? UserAttribute(name: UserAttribute.displayName, values: [$0])
        }
        attributes = name.map { [$0] } ?? []
    }
}
