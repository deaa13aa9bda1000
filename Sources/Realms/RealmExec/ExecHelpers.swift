// SPDX-License-Identifier: Apache-2.0

internal import HelperProcesses
internal import RealmKit
internal import Workers

final class ExecHelpers: Sendable {
    private let program: HelperProgram
    private let pool: HelperPool
    /// True if one process answers many requests, by lines.
    private let answersLines: Bool
    private static let name = "the helper program"

    init(_ program: HelperProgram, settings: HelperPoolSettings, answersLines: Bool, log: RealmLog?) {
        self.program = program
        self.answersLines = answersLines
        pool = HelperPool(settings, log: log)
    }

    /// Passes a login to the program, and returns its answer with a decision.
    ///
    /// The user is accepted only if the program has ended with status 0, or has completed its answer if it answers by
    /// lines.
    func answer(to request: ExecLoginRequest) async throws(HelperFault) -> ExecAnswer {
        let (program, lines) = (program, answersLines)
        let owner = JobOwner(source: ClientNetwork.source(request.peer), account: request.user.caseFolded)
        return try await pool.run(for: owner) { slot, call throws(HelperFault) in
            lines
                ? try Self.answerByLine(request, program: program, slot: slot, call: call)
                : try Self.answerOnce(request, program: program, slot: slot, call: call)
        }
    }

    // MARK: A process for each request

    private static func answerOnce(
        _ request: ExecLoginRequest,
        program: HelperProgram,
        slot: HelperSlot,
        call: HelperCall
    ) throws(HelperFault) -> ExecAnswer {
        var program = program
        program.arguments += request.arguments
        let secrets = request.secrets
        let process = try slot.process(program, secrets: secrets)
        try process.send(request.message, call: call)
        process.finishSending()
        var bytes: [UInt8] = []
        while true {
            let event = try process.wait(for: process.isChannelClosed ? .end : .reading, call: call)
            guard event != .woken else { continue }
            var count: Int
            // After the end, what the program has sent since the last look at its channel is read.
            repeat {
                count = bytes.count
                _ = process.receive(into: &bytes)
                guard bytes.count <= ExecAnswer.maximumBytes else { throw ExecAnswer.malformed("it is too long") }
            } while event == .ended && bytes.count > count
            if event == .ended { return try finish(bytes, withholding: secrets, exit: process.end()) }
        }
    }

    private static func finish(
        _ bytes: [UInt8],
        withholding secrets: [Secret],
        exit: HelperProcess.Exit
    ) throws(HelperFault) -> ExecAnswer {
        guard case .status(let status) = exit else { throw exit.fault(of: name) }
        var answer = ExecAnswer(withholding: secrets)
        for line in bytes.split(separator: UInt8(ascii: "\n")) { try answer.add(line) }
        if status != 0, answer.decision == nil { throw exit.fault(of: name) }
        try answer.finish()
        // A refusal counts with any status, as in BSD authentication.
        if status != 0, answer.decision == .accepted { throw exit.fault(of: name) }
        return answer
    }

    // MARK: A process for many requests

    private static func answerByLine(
        _ request: ExecLoginRequest,
        program: HelperProgram,
        slot: HelperSlot,
        call: HelperCall
    ) throws(HelperFault) -> ExecAnswer {
        let secrets = request.secrets
        let process = try slot.process(program, secrets: secrets)
        // Children of earlier requests may have the descriptor. They cannot guess a random number, and so cannot answer.
        let number = UInt64.random(in: .min ... .max)
        try process.send(request.line(number), call: call)
        let prefix = Array("\(number) ".utf8)
        var answer = ExecAnswer(withholding: secrets)
        var bytes: [UInt8] = []
        var total = 0
        while true {
            let count = bytes.count
            try process.receiveMore(into: &bytes, of: name, call: call)
            total += bytes.count - count
            guard total <= ExecAnswer.maximumBytes else { throw ExecAnswer.malformed("it is too long") }
            while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                let line = bytes[..<end]
                guard line.starts(with: prefix) else {
                    throw ExecAnswer.malformed("a line does not begin with the number of the request")
                }
                let rest = line.dropFirst(prefix.count)
                if rest.elementsEqual("done".utf8) {
                    guard end == bytes.endIndex - 1 else { throw ExecAnswer.malformed("it goes on after done") }
                    try answer.finish()
                    return answer
                }
                try answer.add(rest)
                bytes.removeSubrange(...end)
            }
        }
    }
}
