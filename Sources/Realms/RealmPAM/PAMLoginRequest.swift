// SPDX-License-Identifier: Apache-2.0

internal import PAMMessages
internal import RealmKit

/// A login for the helper, or the change of an expired password, as the message that starts it.
struct PAMLoginRequest: Sendable {
    let task: PAMTask
    let service: String
    let user: Username
    /// The address of the client, PAM_RHOST; nil if the login did not come over a network.
    let host: String?
    /// The folder of the service files; nil for the system's.
    let folder: String?
    /// The number that all messages of this login have.
    let number = UInt64.random(in: .min ... .max)

    var message: Secret {
        var writer = MessageWriter(.authenticate, request: number)
        writer.append(task.rawValue)
        for text in [service, user.text, host ?? "", "gatehouse", folder ?? ""] { writer.append(text: text.utf8) }
        return writer.takeMessage()
    }

    func answers(_ secrets: [Secret?]) -> Secret {
        let capacity = secrets.reduce(8) { $0 + 5 + ($1?.count ?? 0) }
        var writer = MessageWriter(.answers, request: number, capacity: capacity)
        for secret in secrets {
            writer.append(secret == nil ? 0 : 1)
            if let secret { secret.withBytes { writer.append(text: $0) } } else { writer.append(text: [UInt8]()) }
        }
        return writer.takeMessage()
    }
}

/// A look-up of a user of the system, as the message to the helper.
struct PAMLookupRequest: Sendable {
    let user: Username
    /// The number that all messages of this look-up have.
    let number = UInt64.random(in: .min ... .max)

    var message: Secret {
        var writer = MessageWriter(.findUser, request: number)
        writer.append(text: user.text.utf8)
        return writer.takeMessage()
    }
}

extension MessageWriter {
    /// Completes the message, and wipes the writer's memory.
    fileprivate mutating func takeMessage() -> Secret {
        finish()
        let message = Secret(bytes)
        for index in bytes.indices { bytes[index] = 0 }
        return message
    }
}
