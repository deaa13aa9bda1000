// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Glibc
package import RealmKit
internal import Synchronization

/// A conversation whose answers are typed on the terminal or read from standard input.
package final class TerminalConversation: Conversation {
    private let username: Username
    /// The client certificate in DER.
    private let certificate: [UInt8]?
    /// The descriptor to read lines from; nil to prompt on the terminal.
    private let input: Int32?
    private let lines = Mutex<[Secret]>([])
    private let certificateRequested = Mutex(false)

    var hasSentCertificate: Bool { certificate != nil && certificateRequested.withLock { $0 } }

    package init(_ username: Username, certificate: [UInt8]? = nil, input: Int32?) {
        self.username = username
        self.certificate = certificate
        self.input = input
    }

    package func answer(_ callbacks: [Callback]) async throws(LoginFault) -> [Answer] {
        var answers: [Answer] = []
        for callback in callbacks {
            switch callback {
            case .name: answers.append(.name(username.text))
            case .password(let prompt): answers.append(try await secret(prompt, line: 0))
            case .oneTimeCode(let prompt): answers.append(try await secret(prompt, line: 1))
            case .certificate:
                certificateRequested.withLock { $0 = true }
                answers.append(certificate.map(Answer.certificate) ?? .none)
            case .message(let text):
                Output.write(Printable.text(text), to: STDERR_FILENO)
                answers.append(.none)
            }
        }
        return answers
    }

    private func secret(_ prompt: String, line: Int) async throws(LoginFault) -> Answer {
        guard let interrupt = InputInterrupt() else { throw .unavailable("there are too many open files") }
        let read: Result<Secret?, LoginFault> = await withTaskCancellationHandler {
            await BlockingCall.run { [self] in
                input.map { .success(readLine(number: line, from: $0, until: interrupt)) }
                    ?? fromTerminal(prompt, until: interrupt)
            }
        } onCancel: {
            interrupt.interrupt()
        }
        // A line that was complete before the interrupt may have come too late for the module.
        guard !interrupt.isInterrupted else { throw .unavailable("the login has ended before the answer") }
        return try read.get().map(Answer.secret) ?? .none
    }

    private func fromTerminal(_ prompt: String, until interrupt: InputInterrupt) -> Result<Secret?, LoginFault> {
        guard let terminal = Terminal() else {
            return .failure(.unavailable("there is no terminal for the prompt; use --password-stdin"))
        }
        return .success(terminal.readSecret("\(prompt) for \(username): ", until: interrupt))
    }

    /// Returns a line of the input by its number.
    ///
    /// Lines are read only when they are needed: the program that writes them may wait for output of this command before
    /// it writes the next line.
    private func readLine(number line: Int, from input: Int32, until interrupt: InputInterrupt) -> Secret? {
        lines.withLock { lines in
            while lines.count <= line, let next = LineInput.readSecret(input, until: interrupt) { lines.append(next) }
            return line < lines.count ? lines[line] : nil
        }
    }
}
