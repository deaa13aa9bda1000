// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import HelperProcesses
internal import PAMMessages
internal import RealmKit
internal import Workers

/// Runs logins and look-ups in helper processes, which call libpam.
final class PAMHelpers: Sendable {
    private let program: HelperProgram
    private let pool: HelperPool

    init(_ program: HelperProgram, settings: HelperPoolSettings, log: RealmLog?) {
        self.program = program
        pool = HelperPool(settings, log: log)
    }

    /// Runs a login in a helper, and then finishes its dialog; lines of the modules' output that contain the password,
    /// or a later answer, are not logged.
    func authenticate(_ request: PAMLoginRequest, dialog: PAMDialog, secret: Secret) async {
        let program = program
        do throws(HelperFault) {
            let owner = JobOwner(source: ClientNetwork.source(request.host), account: request.user.caseFolded)
            let (result, texts) = try await pool.run(for: owner) { slot, call throws(HelperFault) in
                try dialog.conduct(request, process: try slot.process(program, secrets: [secret]), call: call)
            }
            dialog.finish(.success(result), texts: texts)
        } catch {
            dialog.finish(.failure(error))
        }
    }

    /// Returns the user as the system knows it; nil if the system has no such user.
    func find(_ user: Username) async throws(HelperFault) -> PAMUser? {
        let program = program
        let owner = JobOwner(source: ClientNetwork.source(nil), account: user.caseFolded)
        let reply = try await pool.run(for: owner) { slot, call throws(HelperFault) -> PAMReply in
            let process = try slot.process(program)
            let request = PAMLookupRequest(user: user)
            try process.send(request.message, call: call)
            var channel = PAMChannel(process, request: request.number, call: call)
            let reply = try channel.receive()
            try channel.finish()
            switch reply {
            case .user, .userUnavailable: return reply
            case .prompts, .text, .result: throw PAMDialog.wrongKind
            }
        }
        guard case .user(let found) = reply else {
            throw HelperFault(.unavailable, "the system cannot look up a user or the user's groups now")
        }
        return found
    }

    /// The places of the helper program, relative to the folder of the running program, the first one preferred.
    static let places = [
        "gatehouse-pam-helper", "../libexec/gatehouse-pam-helper", "../libexec/gatehouse/gatehouse-pam-helper",
    ]

    /// Returns the path of the helper program that is installed with the running program; nil if there is none.
    static func installedPath() -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        let own = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let slash = own.utf8.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return places.lazy.map { own[...slash] + $0 }.first { unsafe access($0, X_OK) == 0 }
    }
}
