// SPDX-License-Identifier: Apache-2.0

/// The messages between the server and its helper for PAM: their kinds and their limits.
///
/// A message on the socket has the length of its body in 4 bytes, least significant first, and the body: a byte for its
/// kind, the number of the request in 8 bytes, and its values. A text is its length in 4 bytes and its bytes.
///
/// The server chooses a random number for each request, and the helper repeats it in each of its messages. A process that
/// a module of an earlier request has left does not know the number, so it cannot answer a later request.
package enum PAMMessage {
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
    /// As the module has written it.
    package let text: [UInt8]

    package init(isShown: Bool, text: [UInt8]) { (self.isShown, self.text) = (isShown, text) }
}

/// Writes one message, with numbers of 4 bytes, and texts with their lengths.
package struct MessageWriter {
    /// The message with the length of its body; complete after ``finish()``.
    ///
    /// A writer of secrets wipes it.
    package var bytes: [UInt8]

    /// Begins a message; no copy is left in memory if its body is not longer than the capacity.
    package init(_ kind: PAMMessage.Kind, request: UInt64, capacity: Int = 256) {
        bytes = []
        bytes.reserveCapacity(capacity + 13)
        bytes += [0, 0, 0, 0, kind.rawValue]
        append(number: request)
    }

    package mutating func append(_ byte: UInt8) { bytes.append(byte) }

    package mutating func append(number: some FixedWidthInteger) {
        for index in 0..<number.bitWidth / 8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
    }

    package mutating func append(text: some Collection<UInt8>) {
        append(number: Int32(text.count))
        bytes.append(contentsOf: text)
    }

    package mutating func append(text: Span<UInt8>) {
        append(number: Int32(text.count))
        for index in text.indices { bytes.append(text[index]) }
    }

    package mutating func finish() {
        let count = bytes.count - 4
        for index in 0..<4 { bytes[index] = UInt8(truncatingIfNeeded: count >> (8 * index)) }
    }
}

/// Reads the body of one message; every value is nil if the body is too short or breaks a limit.
package struct MessageReader {
    private let body: ArraySlice<UInt8>
    private var position: Int

    /// Returns the length of a body from its first 4 bytes; nil if it is empty or longer than
    /// ``PAMMessage/maximumBody``.
    package static func length(_ header: ArraySlice<UInt8>) -> Int? {
        let count = header.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        return (1...PAMMessage.maximumBody).contains(count) ? count : nil
    }

    package init(_ body: ArraySlice<UInt8>) {
        self.body = body
        position = body.startIndex
    }

    package var isAtEnd: Bool { position == body.endIndex }
    package mutating func kind() -> PAMMessage.Kind? { byte().flatMap(PAMMessage.Kind.init) }

    /// Reads the number of the request, which follows the kind.
    package mutating func request() -> UInt64? { integer() }

    package mutating func byte() -> UInt8? {
        guard position < body.endIndex else { return nil }
        defer { position += 1 }
        return body[position]
    }

    package mutating func number() -> Int32? { integer() }

    private mutating func integer<Number: FixedWidthInteger>() -> Number? {
        let size = Number.bitWidth / 8
        guard body.endIndex - position >= size else { return nil }
        defer { position += size }
        return body[position..<(position + size)].reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
    }

    package mutating func text() -> ArraySlice<UInt8>? {
        guard let count = number().map(Int.init), (0...PAMMessage.maximumText).contains(count),
            body.endIndex - position >= count
        else { return nil }
        defer { position += count }
        return body[position..<(position + count)]
    }
}
