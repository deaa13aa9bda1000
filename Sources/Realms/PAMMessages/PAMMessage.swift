// SPDX-License-Identifier: Apache-2.0

/// The messages between the server and its helper for PAM: their kinds and their limits.
///
/// A message on the socket has the length of its body in 4 bytes, least significant first, and the body: a byte for its
/// kind, the number of the request in 8 bytes, and its values. A text is its length in 4 bytes and its bytes.
///
/// The server chooses a random number for each request, and the helper repeats it in each of its messages. A process that
/// a module of an earlier request has left does not know the number, so it cannot answer a later request.
package enum PAMMessage {
    /// The kinds of messages.
    package enum Kind: UInt8, Sendable {
        /// Server to helper: the ``PAMTask``; service, user, address of the client, terminal, folder of the configuration.
        case authenticate = 1
        /// Server to helper: an answer for each prompt.
        case answers = 2
        /// Server to helper: the name of a user of the system.
        case findUser = 3
        /// Helper to server: the ``PAMStage``, and prompts that need answers.
        case prompts = 16
        /// Helper to server: a text for the user, which needs no answer.
        case text = 17
        /// Helper to server: the ``PAMStage``, the code of PAM with its text, the user's name, full name
        /// and groups.
        case result = 18
        /// Helper to server: the ``UserAnswer``, the user's full name and groups.
        case user = 19
    }

    /// The maximum length of a body, in bytes.
    package static let maximumBody = 65536
    /// The maximum length of a text, in bytes.
    package static let maximumText = 8192
    /// The maximum number of prompts in one message (PAM_MAX_NUM_MSG).
    package static let maximumPrompts = 32
    /// The maximum number of messages with prompts, and of texts, in one login.
    package static let maximumRounds = 32
    /// The maximum number of groups.
    package static let maximumGroups = 1024
    /// The descriptor of the socket in the helper.
    package static let descriptor: Int32 = 3
}

/// The work of the helper for one user.
package enum PAMTask: UInt8, Sendable {
    /// pam_authenticate and pam_acct_mgmt.
    case authenticate = 0
    /// pam_authenticate alone: the login is refused whatever its result, because the account is locked.
    case authenticateLocked = 1
    /// pam_chauthtok, for a user whose password has been checked and has expired.
    case changePassword = 2
}

/// The function of PAM that is running.
package enum PAMStage: UInt8, Sendable {
    /// pam_start and its items.
    case start = 0
    /// pam_authenticate.
    case authenticate = 1
    /// pam_acct_mgmt.
    case account = 2
    /// pam_chauthtok, for an expired password.
    case changePassword = 3
}

/// The result of a look-up of a user of the system.
package enum UserAnswer: UInt8, Sendable {
    /// The system has no such user.
    case unknownUser = 0
    /// The full name and the groups follow.
    case known = 1
    /// The system cannot look up the user or a group now.
    case unavailable = 2
}

/// A prompt of a PAM module.
package struct PAMPrompt: Sendable {
    /// True if the input is shown, PAM_PROMPT_ECHO_ON.
    package let isShown: Bool
    /// The text, as the module has written it.
    package let text: [UInt8]

    /// Creates a prompt.
    ///
    /// - Parameters:
    ///   - isShown: True if the input is shown.
    ///   - text: The text.
    package init(isShown: Bool, text: [UInt8]) {
        self.isShown = isShown
        self.text = text
    }
}
