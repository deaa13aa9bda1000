// SPDX-License-Identifier: Apache-2.0

internal import RealmBasics
internal import RealmConfiguration
internal import RealmKit

/// Replays a recorded JAAS case: calls a `LoginContext` whose modules return the outcomes of the case.
enum StackReplay {
    struct Case: Decodable, Sendable {
        let id: String
        let subject: String?
        let modules: [Module]
        let calls: [String]?
    }

    struct Module: Decodable, Sendable {
        let flag: String
        let login, commit, abort, logout: Outcomes?
        let `init`: String?
    }

    /// The outcomes of successive calls; the last outcome is repeated.
    struct Outcomes: Decodable, Sendable {
        let words: [String]

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            do {
                words = [try container.decode(String.self)]
            } catch {
                words = try container.decode([String].self)
            }
        }
    }

    struct Answer: Encodable {
        let id: String
        let calls: [Call]
    }

    struct Call: Encodable {
        let call: String
        var result = "ok"
        var exception: String?
        var module: Int?
        var phase: String?
        var subject: [String]?
        var trace: [String] = []

        enum CodingKeys: String, CodingKey {
            case call, result, exception, module, phase, subject, trace
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(call, forKey: .call)
            try container.encode(result, forKey: .result)
            try container.encodeIfPresent(exception, forKey: .exception)
            try container.encodeIfPresent(module, forKey: .module)
            try container.encodeIfPresent(phase, forKey: .phase)
            // A missing subject is written as null, as in the recorded answers.
            try container.encode(subject, forKey: .subject)
            try container.encode(trace, forKey: .trace)
        }
    }

    /// The start of the log text of a module that could not be created.
    static let notCreatedPrefix = "cannot be created: "

    struct MalformedCase: Error {
        let reason: String
    }

    static func answer(_ test: Case) async throws -> Answer {
        let stack = LoginStack(
            name: test.id,
            try test.modules.enumerated().map { try entry(at: $0, $1) },
            clock: SystemClock()
        )
        let context = LoginContext(stack, subject: test.subject == nil ? nil : Subject())
        var calls: [Call] = []
        for name in test.calls ?? ["login"] {
            var call = Call(call: name)
            switch name {
            case "login":
                let request = LoginRequest(realm: "replay", username: try Username("u"))
                let report = await context.login(request, asking: PreparedConversation.silent)
                call.record(report.refusal, steps: report.steps, of: test)
            case "logout":
                if let report = await context.logout() {
                    call.record(report.refusal, steps: report.steps, of: test)
                } else {
                    call.result = "error"
                    call.exception = "LoginException"
                }
            default: throw MalformedCase(reason: "unknown call \(name)")
            }
            call.subject = context.subject.map { $0.users }
            calls.append(call)
        }
        return Answer(id: test.id, calls: calls)
    }

    private static func entry(at index: Int, _ module: Module) throws -> LoginStack.Entry {
        guard let flag = ControlFlag(rawValue: module.flag) else {
            throw MalformedCase(reason: "unknown flag \(module.flag)")
        }
        if let fault = module.`init`, fault != "ok" {
            // In Gatehouse a module that cannot be created is an error in the configuration. The replay still creates a
            // stack with this module.
            return .broken("m\(index)", flag, fault: .internalError(notCreatedPrefix + fault))
        }
        var options: [String: PropertyValue] = ["principal": .string("m\(index)")]
        let outcomes = ["login": module.login, "commit": module.commit, "abort": module.abort, "logout": module.logout]
        for case (let name, let outcomes?) in outcomes {
            options[name] = .string(try outcomes.words.map(script).joined(separator: ","))
        }
        let scripted = try ScriptedLoginModule(
            realm: try StackRealm(
                RealmProperties(["jaas-context": .string("x")], schema: StackRealm.properties, realmName: "x")
            ),
            options: try ModuleOptions(options, schema: ScriptedLoginModule.options, realmName: "x")
        )
        return LoginStack.Entry(scripted, flag, name: "m\(index)")
    }

    private static func script(_ word: String) throws -> String {
        guard word.hasPrefix("throw:") else { return word }
        let name = String(word.dropFirst(6))
        return "throw:\(JavaException.failure(name).code)"
    }
}

extension StackReplay.Call {
    mutating func record(_ refusal: Refusal?, steps: [LoginStep], of test: StackReplay.Case) {
        // A module that could not be created has not been called.
        trace = steps.filter { !$0.isBroken }.map { step in
            let call = "\(step.index).\(step.phase.name)"
            if let failure = step.outcome.failure { return "\(call)!\(JavaException.name(failure))" }
            return "\(call)=\(step.outcome == .success)"
        }
        guard let refusal else { return }
        result = "error"
        exception = JavaException.name(refusal.failure)
        // The JDK does not report which module threw a SecurityException.
        if case .module(let index, let phase, .internalError) = refusal, test.modules[index].throwsSecurity(phase) {
            return
        }
        if case .module(let index, let phase, _) = refusal {
            module = index
            self.phase = phase.name
        }
    }
}

extension StackReplay.Module {
    func throwsSecurity(_ phase: LoginPhase) -> Bool {
        let outcomes =
            switch phase {
            case .login: login
            case .commit: commit
            case .abort: abort
            case .logout: logout
            }
        return outcomes?.words.contains("throw:SecurityException") ?? false
    }
}

extension LoginStep {
    /// True if the module could not be created, so that it was not called.
    var isBroken: Bool { fault?.log.hasPrefix(StackReplay.notCreatedPrefix) ?? false }
}

/// The exceptions of JAAS for login failures.
enum JavaException {
    static func failure(_ name: String) -> LoginFailure {
        LoginFailure.allCases.first { self.name($0) == name && !$0.isTemporary && $0 != .internalError }
            ?? .internalError
    }

    static func name(_ failure: LoginFailure) -> String {
        switch failure {
        case .wrongCredentials: "FailedLoginException"
        case .unknownUser: "AccountNotFoundException"
        case .missingCredential: "CredentialNotFoundException"
        case .unusableCredential: "CredentialException"
        case .locked: "AccountLockedException"
        case .disabled: "AccountException"
        case .accountExpired: "AccountExpiredException"
        case .credentialExpired: "CredentialExpiredException"
        // The JDK wraps all other exceptions in a LoginException.
        case .permissionDenied, .unavailable, .overloaded, .internalError: "LoginException"
        }
    }
}
