// SPDX-License-Identifier: Apache-2.0

@testable import conformance

/// A model of the JDK's `LoginContext`, with options for the intended deviations of this project.
///
/// It is written from the documentation of the JDK and shares no code with the engine. Without deviations it gives the
/// recorded answers of the JDK. With both deviations it gives the answers of the engine. So the two deviations explain
/// all differences.
struct JDKLoginContextModel {
    /// The intended deviations from the JDK.
    struct Deviations: OptionSet {
        let rawValue: Int

        /// The engine calls commit, abort and logout only for modules whose login was called, and a rejected login leaves
        /// no principal in the subject.
        static let onlyReached = Deviations(rawValue: 1)
        /// A module that cannot be created or that throws an `Error` is a failed module, and its control flag applies.
        static let faultsAreFailures = Deviations(rawValue: 2)
    }

    private struct Thrown: Error {
        var exception: String
        var module: Int?
        var phase: String?
    }

    private let test: StackReplay.Case
    private let deviations: Deviations
    private var done: [String: Int] = [:]
    private var initialized: Set<Int> = []
    private var lastLogin: [Int: Bool] = [:]
    private var principals: [String] = []
    private var reached: [Int] = []
    private var hasSubject: Bool
    private var isAuthenticated = false
    private var hasLoggedIn = false
    private var trace: [String] = []

    init(_ test: StackReplay.Case, _ deviations: Deviations) {
        self.test = test
        self.deviations = deviations
        hasSubject = test.subject != nil
    }

    mutating func run() -> [CallSummary] {
        (test.calls ?? ["login"]).map { name in
            trace = []
            var summary = CallSummary(name)
            do throws(Thrown) {
                if name == "login" { try login() } else { try logout() }
            } catch {
                summary.exception = error.exception
                summary.module = error.module
                summary.phase = error.phase
            }
            summary.subject = isAuthenticated || test.subject != nil ? principals : nil
            summary.calls = trace
            return summary
        }
    }

    // MARK: The context

    private mutating func login() throws(Thrown) {
        isAuthenticated = false
        hasSubject = true
        hasLoggedIn = true
        reached = []
        if deviations.contains(.onlyReached) { principals = [] }
        do throws(Thrown) {
            try phase("login", all)
            try phase("commit", called)
            isAuthenticated = true
        } catch {
            do throws(Thrown) { try phase("abort", called) } catch {}
            if deviations.contains(.onlyReached) { principals = [] }
            throw error
        }
    }

    private mutating func logout() throws(Thrown) {
        // Without a login no module has been called, even if a subject was given.
        guard hasSubject, hasLoggedIn || !deviations.contains(.onlyReached) else {
            throw Thrown(exception: "LoginException")
        }
        try phase("logout", called)
    }

    private var all: [Int] { Array(test.modules.indices) }
    private var called: [Int] { deviations.contains(.onlyReached) ? reached : all }

    private mutating func phase(_ name: String, _ modules: [Int]) throws(Thrown) {
        var required: Thrown?
        var optional: Thrown?
        var success = false
        let decides = name == "login" || name == "commit"
        for index in modules {
            if name == "login" { reached.append(index) }
            let flag = test.modules[index].flag
            do throws(Thrown) {
                guard try call(index, name) else { continue }
                if flag == "sufficient", required == nil, decides { return }
                success = true
            } catch {
                if flag == "requisite", decides { throw required ?? error }
                if flag == "required" || flag == "requisite" {
                    required = required ?? error
                } else {
                    optional = optional ?? error
                }
            }
        }
        if let required { throw required }
        if !success, let optional { throw optional }
        if !success { throw Thrown(exception: "LoginException") }
    }

    // MARK: The modules

    private mutating func call(_ index: Int, _ phase: String) throws(Thrown) -> Bool {
        try initialize(index, phase)
        trace.append("\(index).\(phase)")
        let word = word(index, phase)
        if word.hasPrefix("throw:") {
            if phase == "login" { lastLogin[index] = false }
            throw thrown(String(word.dropFirst(6)), index, phase)
        }
        let isTrue: Bool
        switch (word, phase) {
        case ("auto", "login"), ("auto", "logout"): isTrue = true
        case ("auto", _): isTrue = lastLogin[index] ?? false
        default: isTrue = word == "true"
        }
        if phase == "login" { lastLogin[index] = isTrue }
        if phase == "commit", isTrue, !principals.contains("m\(index)") { principals.append("m\(index)") }
        if phase == "abort" || phase == "logout" { principals.removeAll { $0 == "m\(index)" } }
        return isTrue
    }

    private mutating func initialize(_ index: Int, _ phase: String) throws(Thrown) {
        guard let fault = test.modules[index].`init`, fault != "ok" else { return }
        if deviations.contains(.faultsAreFailures) {
            throw Thrown(exception: "LoginException", module: index, phase: phase)
        }
        guard fault.hasPrefix("throw:") else { throw Thrown(exception: "LoginException") }
        // The JDK keeps the instance and does not initialize it again.
        guard initialized.insert(index).inserted else { return }
        throw thrown(String(fault.dropFirst(6)), index, "initialize")
    }

    private func thrown(_ name: String, _ index: Int, _ phase: String) -> Thrown {
        let isLogin =
            name.hasSuffix("Exception") && !["RuntimeException", "SecurityException", "IOException"].contains(name)
        // The JDK does not report which module threw a SecurityException.
        let isHidden = name == "SecurityException"
        return Thrown(
            exception: isLogin ? name : "LoginException",
            module: isHidden ? nil : index,
            phase: isHidden ? nil : phase
        )
    }

    private mutating func word(_ index: Int, _ phase: String) -> String {
        let module = test.modules[index]
        let outcomes =
            switch phase {
            case "login": module.login
            case "commit": module.commit
            case "abort": module.abort
            default: module.logout
            }
        let number = done["\(index).\(phase)", default: 0]
        done["\(index).\(phase)"] = number + 1
        guard let words = outcomes?.words, let last = words.last else { return "auto" }
        return number < words.count ? words[number] : last
    }
}
