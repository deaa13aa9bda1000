// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit
internal import Synchronization

/// The results of successive calls of a module function; the last one repeats.
final class Script: Sendable {
    enum Answer: Sendable {
        case auto
        case success
        case ignored
        case failure(LoginFailure)
        case fault(LoginFailure)
        case forged
        case never

        init?(_ word: Substring) {
            switch word {
            case "auto": self = .auto
            case "success", "true": self = .success
            case "ignored", "false": self = .ignored
            case "forged": self = .forged
            case "never": self = .never
            default:
                let isFault = word.hasPrefix("throw:")
                guard let failure = LoginFailure(code: String(isFault ? word.dropFirst(6) : word)) else { return nil }
                self = isFault ? .fault(failure) : .failure(failure)
            }
        }
    }

    private let answers: [Answer]
    private let calls = Mutex(0)

    init(_ options: ModuleOptions, setting name: String) throws(BadModule) {
        var answers: [Answer] = []
        for word in try options.string(name).split(separator: ",") {
            guard let answer = Answer(word) else {
                let known = LoginFailure.allCases.map(\.code).joined(separator: ", ")
                throw BadModule(
                    "has no result \(word); the results are auto, success, ignored, forged, never and, alone or after throw:, \(known)",
                    setting: name
                )
            }
            answers.append(answer)
        }
        self.answers = answers
    }

    func next() -> Answer {
        let call = calls.withLock { calls in
            defer { calls += 1 }
            return calls
        }
        return call < answers.count ? answers[call] : answers.last ?? .auto
    }
}
