// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HelperProcesses
internal import PAMMessages
internal import RealmKit
internal import Synchronization
internal import Workers

/// The dialog of one login between the thread that talks with the helper and the task that talks with the user.
final class PAMDialog: Sendable {
    enum Event: Sendable {
        /// Prompts for the user, which need ``answer(_:call:)`` or ``fail(_:)``.
        case prompts(PAMStage, [PAMPrompt], texts: [String], HelperCall)
        case finished(Result<PAMResult, HelperFault>, texts: [String])
    }

    let events: AsyncStream<Event>
    private let sink: AsyncStream<Event>.Continuation
    private let answers = Mutex<[Secret?]?>(nil)
    private let conversationFault = Mutex<LoginFault?>(nil)
    private let promptTimeout: Duration

    init(promptTimeout: Duration) {
        (events, sink) = AsyncStream.makeStream()
        self.promptTimeout = promptTimeout
    }

    /// Passes the user's answers to the thread; nil for a prompt without an answer.
    func answer(_ secrets: [Secret?], call: HelperCall) {
        answers.withLock { $0 = secrets }
        call.wakeUp()
    }

    /// Ends the dialog, because the user has not answered.
    func fail(_ fault: LoginFault) {
        conversationFault.withLock { $0 = fault }
        finish(.failure(HelperFault(.cancelled, fault.log)))
    }

    /// The fault of the conversation with the user; nil if there is none.
    var lastFault: LoginFault? { conversationFault.withLock { $0 } }

    func finish(_ result: Result<PAMResult, HelperFault>, texts: [String] = []) {
        sink.yield(.finished(result, texts: texts))
        sink.finish()
    }

    // MARK: On the thread

    /// Runs a login in a helper, and passes its prompts to the task.
    func conduct(
        _ request: PAMLoginRequest,
        process: HelperProcess,
        call: HelperCall
    ) throws(HelperFault) -> (PAMResult, texts: [String]) {
        var channel = PAMChannel(process, request: request.number, call: call)
        try process.send(request.message, call: call)
        var texts: [String] = []
        var (rounds, textCount) = (0, 0)
        while true {
            switch try channel.receive() {
            case .text(let text):
                textCount += 1
                guard textCount <= PAMMessage.maximumRounds else { throw Self.tooMuch }
                texts.append(text)
            case .prompts(let stage, let prompts):
                rounds += 1
                guard rounds <= PAMMessage.maximumRounds else { throw Self.tooMuch }
                sink.yield(.prompts(stage, prompts, texts: texts, call))
                texts = []
                let secrets = try waitForUser(process, call: call)
                for case .some(let secret) in secrets { process.withhold(secret) }
                try process.send(request.answers(secrets), call: call)
            case .result(let result):
                try channel.finish()
                return (result, texts)
            case .user, .userUnavailable: throw Self.wrongKind
            }
        }
    }

    /// Waits for the answers of the user; this time does not count for the helper.
    private func waitForUser(_ process: HelperProcess, call: HelperCall) throws(HelperFault) -> [Secret?] {
        let now = MonotonicTime.now
        let left = Self.timeLeft(until: call.deadline, at: now)
        call.deadline = now &+ promptTimeout.nanoseconds
        while true {
            let secrets = answers.withLock { answers in
                defer { answers = nil }
                return answers
            }
            if let secrets {
                call.deadline = MonotonicTime.now &+ left
                return secrets
            }
            if try process.wait(for: .end, call: call) == .ended { throw process.end().fault(of: PAMChannel.name) }
        }
    }

    /// Returns the nanoseconds to a deadline, 0 if it has passed; with a second reading of the time it could be
    /// negative.
    static func timeLeft(until deadline: UInt64, at now: UInt64) -> UInt64 { deadline > now ? deadline - now : 0 }
    private static let tooMuch = HelperFault(.malformed, "the helper for PAM asks too much")
    static let wrongKind = HelperFault(.malformed, "the helper for PAM has sent a message of another kind")
}

/// The messages of a helper; one with the number of another request is malformed.
struct PAMChannel {
    private let process: HelperProcess
    private let request: UInt64
    private let call: HelperCall
    private var bytes: [UInt8] = []
    static let name = "the helper for PAM"

    init(_ process: HelperProcess, request: UInt64, call: HelperCall) {
        (self.process, self.request, self.call) = (process, request, call)
    }

    mutating func receive() throws(HelperFault) -> PAMReply {
        while true {
            if bytes.count >= 4 {
                guard let length = MessageReader.length(bytes[...]) else {
                    throw HelperFault(.malformed, "the helper for PAM has sent a message that is too long")
                }
                if bytes.count >= length + 4 {
                    defer { bytes.removeSubrange(..<(length + 4)) }
                    return try PAMReply(bytes[4..<(length + 4)], request: request)
                }
            }
            try process.receiveMore(into: &bytes, of: Self.name, call: call)
        }
    }

    /// Checks that nothing follows the last message of a request.
    func finish() throws(HelperFault) {
        guard bytes.isEmpty else {
            throw HelperFault(.malformed, "the helper for PAM has sent more after its last message")
        }
    }
}
