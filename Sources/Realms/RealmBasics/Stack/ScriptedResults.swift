// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import Synchronization

/// The results that a function of a module returns, one for each call.
///
/// The last result repeats.
final class ScriptedResults: Sendable {
    enum Step: Sendable {
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

    private let steps: [Step]
    private let calls = Mutex(0)

    init(_ options: ModuleOptions, setting name: String) throws(BadModule) {
        var steps: [Step] = []
        for word in try options.string(name).split(separator: ",") {
            guard let step = Step(word) else {
                let known = LoginFailure.allCases.map(\.code).joined(separator: ", ")
                throw BadModule(
                    "has no result \(word); the results are auto, success, ignored, forged, never, a failure, and throw: with a failure; the failures are \(known)",
                    setting: name
                )
            }
            steps.append(step)
        }
        self.steps = steps
    }

    func next() -> Step {
        let call = calls.withLock { calls in
            defer { calls += 1 }
            return calls
        }
        return call < steps.count ? steps[call] : steps.last ?? .auto
    }
}
