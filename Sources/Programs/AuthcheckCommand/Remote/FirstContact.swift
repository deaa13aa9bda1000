// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Dispatch
internal import OpenSSLKit
internal import RealmKit

/// The question whether an unknown key of a server is trusted.
enum FirstContact {
    /// The decision of the user.
    enum Decision {
        /// The key is trusted.
        case trusted
        /// The key is not trusted.
        case refused
        /// There is no terminal for the question.
        case noTerminal
    }

    /// The number of answers that are neither yes, no nor a fingerprint, before the key is refused.
    private static let attempts = 3

    /// Shows the fingerprint of a key on the terminal and asks whether it is trusted.
    ///
    /// - Parameters:
    ///   - key: The key that the server has presented.
    ///   - url: The URL of the server.
    ///   - cause: The reason why the certificate is not trusted.
    /// - Returns: The decision.
    static func ask(about key: Digest, of url: String, because cause: String) async -> Decision {
        // The read blocks its thread. On a thread of the Swift tasks it would hold up other tasks.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: askOnTerminal(about: key, of: url, because: cause))
            }
        }
    }

    private static func askOnTerminal(about key: Digest, of url: String, because cause: String) -> Decision {
        guard let terminal = Terminal() else { return .noTerminal }
        terminal.show(
            """
            The certificate of \(url) is not trusted: \(Printable.line(cause)).
            The SHA-256 fingerprint of its public key is
                \(key.pin)

            """
        )
        var prompt = "Do you trust this key? (yes, no, or the fingerprint): "
        for _ in 0..<attempts {
            guard let line = terminal.readLine(prompt) else { return .refused }
            let answer = line.lowercased()
            if answer == "yes" || Digest(pin: line) == key { return .trusted }
            // Another fingerprint is the answer of a user who expects another server.
            if answer == "no" || Digest(pin: line) != nil { return .refused }
            prompt = "Please type yes, no or the fingerprint: "
        }
        return .refused
    }
}
