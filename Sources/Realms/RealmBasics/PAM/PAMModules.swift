// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Files
internal import Glibc
package import RealmKit
internal import Synchronization

/// Modules of PAM that need no libpam, for the files of PAM.
///
/// docs/pam.md has what differs from those of Linux-PAM.
package enum PAMModules {
    /// All modules.
    package static let kinds: [ModuleKind] =
        [
            fixed("pam_permit") { _ in .success },
            fixed("pam_deny") { _ in .failure(.wrongCredentials) },
            fixed("pam_warn") { _ in .ignored },
            fixed("pam_faildelay") { _ in .ignored },
            // The throttle locks before the stack, so no account that is locked reaches the module.
            fixed("pam_faillock") { arguments throws(BadModule) in
                let actions = ["preauth", "authfail", "authsucc"].filter(arguments.list.contains)
                guard arguments.isAccount || actions.count == 1 else {
                    throw BadModule("takes one of preauth, authfail and authsucc")
                }
                return actions == ["authfail"] ? .ignored : .success
            },
        ] + [
            ModuleKind(PAMNologin.self), ModuleKind(PAMSucceedIf.self), ModuleKind(PAMListfile.self),
            ModuleKind(PAMTime.self),
        ]

    private static func fixed(
        _ name: String,
        _ outcome: @escaping @Sendable (PAMArguments) throws(BadModule) -> Outcome
    ) -> ModuleKind {
        ModuleKind(names: [name], options: PAMArguments.options) {
            (_: any Realm, options: ModuleOptions) throws(BadModule) -> any LoginModule in
            PAMFixedModule(name: name, onlyOutcome: try outcome(PAMArguments(options)))
        }
    }
}

/// A module that always has the same outcome, and establishes no user.
private struct PAMFixedModule: ConstantLoginModule {
    let name: String
    let onlyOutcome: Outcome

    init(name: String, onlyOutcome: Outcome) { (self.name, self.onlyOutcome) = (name, onlyOutcome) }

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) { throw BadModule("is made by its name only") }

    func authenticateUser(_ attempt: LoginAttempt) throws(LoginFault) -> Verdict {
        if let failure = onlyOutcome.failure { return .failed(failure) }
        if onlyOutcome == .success { return attempt.commit(only: []) }
        attempt.note("\(name): user \(attempt.username), client \(attempt.peer ?? "unknown")")
        return .ignored
    }
}

/// Reads the files of a module on a thread of its own, for a bounded number of logins while a file system stalls.
final class ModuleFileReader: Sendable {
    /// The maximum number of logins that wait for a read.
    static let maximumWaiting = 64

    private let module: String
    private let queue: DispatchQueue
    private let waiting = Mutex(0)

    init(_ module: String) { (self.module, queue) = (module, DispatchQueue(label: "\(module): reader")) }

    /// Returns the content of a file of at most 1 MiB.
    static func contents(of path: String) throws(FileFault) -> [UInt8] {
        try Result { () throws(UnreadableFile) in
            try FileContents(path, as: .users, limit: 1 << 20, mayGrow: true).bytes
        }.mapError { FileFault(path, unreadable: $0) }.get()
    }

    /// The number of logins that wait.
    var waitingCount: Int { waiting.withLock { $0 } }

    /// Runs a read, which may block; throws if too many logins wait.
    func run<Value: Sendable>(_ read: @escaping @Sendable () -> Value) async throws(LoginFault) -> Value {
        let isAdmitted = waiting.withLock { count in
            guard count < Self.maximumWaiting else { return false }
            count += 1
            return true
        }
        guard isAdmitted else { throw LoginFault(.overloaded, log: "\(module): too many logins wait for its file") }
        let value = await queue.run(read)
        waiting.withLock { $0 -= 1 }
        return value
    }
}

/// Refuses all users while a file exists.
private struct PAMNologin: LoginModule {
    static let moduleNames = ["pam_nologin"]
    static let options = PAMArguments.options

    private let files: [String]
    private let succeeds: Bool
    private let reader = ModuleFileReader("pam_nologin")

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        let values = try PAMArguments(options).values(["file"], flags: ["successok"])
        guard values["file"]?.hasPrefix("/") ?? true else { throw BadModule("needs file= with the whole path") }
        files = values["file"].map { [$0] } ?? ["/var/run/nologin", "/etc/nologin"]
        succeeds = values["successok"] != nil
    }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        let errors = try await reader.run { [files] in
            files.map { unsafe access($0, F_OK) == 0 ? nil : SystemError.last }
        }
        for (file, error) in zip(files, errors) {
            guard let error else { return .failed(.wrongCredentials) }
            guard [ENOENT, ENOTDIR].contains(error.number) else {
                throw .internalError("pam_nologin: \(file): \(error)")
            }
        }
        return succeeds ? attempt.commit(only: []) : .ignored
    }
}

/// Accepts a user who, or whose name, is in a file, or all others.
private struct PAMListfile: LoginModule {
    static let moduleNames = ["pam_listfile"]
    static let options = PAMArguments.options

    private let realm: any Realm
    private let item: String
    private let file: String
    private let allows: Bool
    private let succeedsOnError: Bool
    private let reader = ModuleFileReader("pam_listfile")

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        let values = try PAMArguments(options).values(["item", "sense", "file", "onerr"], flags: ["quiet"])
        guard let item = values["item"], ["user", "group", "rhost"].contains(item) else {
            throw BadModule("needs item=user, item=group or item=rhost")
        }
        guard let sense = values["sense"], ["allow", "deny"].contains(sense) else {
            throw BadModule("needs sense=allow or sense=deny")
        }
        guard let file = values["file"], file.hasPrefix("/") else {
            throw BadModule("needs file= with the whole path")
        }
        guard let onError = values["onerr"], ["fail", "succeed"].contains(onError) else {
            throw BadModule("needs onerr=fail or onerr=succeed")
        }
        (self.realm, self.item, self.file) = (realm, item, file)
        (allows, succeedsOnError) = (sense == "allow", onError == "succeed")
    }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        let content = try await reader.run { [file] in
            Result { () throws(FileFault) in try ModuleFileReader.contents(of: file) }
        }
        do throws(FileFault) {
            let found = try await isListed(attempt, in: content.get())
            return found == allows ? attempt.commit(only: []) : .failed(.wrongCredentials)
        } catch {
            guard succeedsOnError else { throw .internalError("pam_listfile: \(error)") }
            return attempt.commit(only: [])
        }
    }

    private func isListed(_ attempt: LoginAttempt, in content: [UInt8]) async throws(FileFault) -> Bool {
        var names: [String] = []
        switch item {
        case "user": names = [attempt.establishedName.text]
        case "rhost": names = attempt.peer.map { [$0] } ?? []
        default:
            do throws(RealmError) {
                names = try await realm.groupNames(of: attempt.establishedName)
            } catch {
                guard error.code == .noSuchUser else { throw FileFault("\(error)") }
            }
        }
        guard !names.isEmpty || item == "group" else { throw FileFault("the client has no address") }
        return content.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }).contains {
            line in
            names.contains { $0.utf8.elementsEqual(line) }
        }
    }
}
