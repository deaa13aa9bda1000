// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
public import RealmKit
internal import Workers

/// Checks and hashes passwords for login modules on the threads of a ``HashingPool``.
///
/// A check takes the same work for every user of a realm. A program provides the service to its realms in
/// ``RealmServices``.
public final class PasswordService: Sendable {
    /// The algorithm and cost with which new passwords are hashed.
    public let policy: HashPolicy
    /// The pool that computes hashes.
    public let pool: HashingPool
    private let mac: HMACKey
    /// The decoy that is checked in a realm without hashes, of the cost of a new hash.
    private let decoy: PasswordHash

    /// Creates a service.
    ///
    /// - Throws: ``HashFault`` with code `failed` if no random bytes can be generated, or a hash of the policy takes
    ///   more memory than the pool may use.
    public init(policy: HashPolicy, pool: HashingPool) throws(HashFault) {
        decoy = try policy.decoy()
        let memory = decoy.cost.memory
        guard memory <= pool.settings.memory else {
            throw HashFault(
                .failed,
                "one hash takes \(memory >> 10) KiB, and the limit for all hashes is \(pool.settings.memory >> 10) KiB"
            )
        }
        do throws(OpenSSLError) {
            var key = try RandomBytes.make(32)
            defer { for index in key.indices { key[index] = 0 } }
            mac = try HMACKey(key.span)
        } catch {
            throw HashFault(.failed, "cannot create the key that identifies equal checks: \(error)")
        }
        self.policy = policy
        self.pool = pool
    }

    /// Returns the limit that a check exceeds, so that users with such a hash cannot sign in; nil if there is none.
    public func limitFault(_ cost: HashCost) -> String? {
        guard cost.memory <= pool.settings.memory else {
            return "a check of \(cost) takes more memory than the limit for all checks"
        }
        guard cost.time > longestCheck else { return nil }
        let time = Self.text(cost.time)
        return "a check of \(cost) takes about \(time), more than longest-check (\(Self.text(longestCheck)))"
    }

    /// The limit of the pool, or the time of the policy if that is longer.
    package var longestCheck: Duration { max(pool.settings.longestCheck, decoy.cost.time) }

    /// Checks a password.
    ///
    /// One check is computed for each cost in `hashPerCost`, at most eight and at most twice the longest check, even if
    /// `stored` is nil. The time therefore does not reveal whether the user exists or how the password is stored.
    /// Logins with an identical check at the same time share one computation. If all checks are single digests, they
    /// are computed at once, on the thread of the login.
    ///
    /// - Parameters:
    ///   - password: The password that the client has sent.
    ///   - stored: The stored password of the user; nil if the user does not exist or may not sign in.
    ///   - hashPerCost: One hash or decoy for each cost in the realm. If it is empty, a decoy of the policy is checked.
    ///   - attempt: The login, whose peer is the source of the request; its report gets a note with the times.
    /// - Returns: True if `password` is the stored password. Always false if `stored` is nil or the password is empty.
    /// - Throws: ``LoginFault``: `overloaded` if the queue is full, the check has waited too long, or there is no thread
    ///   for it; `unavailable` if the login was cancelled or the library fails; `unusableCredential` if the format
    ///   would ignore a part of the password.
    public func check(
        _ password: Secret,
        against stored: StoredPassword?,
        hashPerCost: [PasswordHash],
        for attempt: LoginAttempt
    ) async throws(LoginFault) -> Bool {
        let own = stored.flatMap { limitFault($0.hash.cost) == nil ? $0 : nil }
        let plan = plan(own, hashPerCost: hashPerCost)
        let hashed: TimedHashingResult
        if plan.isNegligible {
            hashed = pool.runAtOnce { plan.compute(password) }
        } else {
            let key = key(password, stored: stored, plan: plan, attempt: attempt)
            let source = ClientNetwork.source(attempt.peer)
            hashed = try await run(memory: plan.memory, source: source, key: key) { plan.compute(password) }
        }
        attempt.note(Self.note(plan, hashed: hashed, statistics: pool.statistics))
        switch hashed.result {
        case .checked(let matches): return matches && !password.isEmpty
        case .failed(let fault): throw Self.fault(fault)
        case .hashed: throw .internalError("the result of a password check is a hash")
        }
    }

    /// Queues a new password and hashes it by the policy; returns the text to store.
    ///
    /// - Throws: ``LoginFault``, as in ``check(_:against:hashPerCost:for:)``.
    public func hash(_ password: Secret) async throws(LoginFault) -> String {
        let policy = policy
        let hashed = try await run(memory: decoy.cost.memory, source: "new hashes", key: nil) {
            do throws(HashFault) {
                return .hashed(try policy.hash(password))
            } catch {
                return .failed(error)
            }
        }
        switch hashed.result {
        case .hashed(let text): return text
        case .failed(let fault): throw Self.fault(fault)
        case .checked: throw .internalError("the result of a hash computation is a check")
        }
    }

    private static let waiting = " after waiting "

    private static func text(_ time: Duration) -> String {
        let tenths = Int((time / .milliseconds(100)).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }

    private func run(
        memory: Int,
        source: String,
        key: Digest?,
        work: @escaping @Sendable () -> HashingResult
    ) async throws(LoginFault) -> TimedHashingResult {
        do throws(FairSlots.Refusal) {
            return try await pool.run(memory: memory, source: source, key: key, work: work)
        } catch {
            switch error {
            case .full: throw .overloaded("the machine is busy: too many password checks are waiting")
            case .timedOut:
                throw .overloaded("the machine is busy: the password check has waited too long for its turn")
            case .noThread: throw .overloaded("no thread for password checks could be started")
            case .cancelled: throw .unavailable("the password check was cancelled")
            }
        }
    }

    private func plan(_ own: StoredPassword?, hashPerCost: [PasswordHash]) -> CheckPlan {
        let affordable = hashPerCost.filter { limitFault($0.cost) == nil }
        return CheckPlan(
            own: own?.hash,
            hashPerCost: affordable.isEmpty && own == nil ? [decoy] : affordable,
            longestCheck: longestCheck
        )
    }

    /// Returns the key of a check, which is the same for identical checks.
    ///
    /// Every field is preceded by its length, so the input of the HMAC differs for different checks (CVE-2026-71326).
    /// The stored text is a field, so a login after a change of the password never shares a check of the old one.
    private func key(_ password: Secret, stored: StoredPassword?, plan: CheckPlan, attempt: LoginAttempt) -> Digest? {
        do throws(OpenSSLError) {
            return try mac.tag { message in
                message.append(field: attempt.realm.utf8Span.span)
                message.append(field: attempt.username.text.utf8Span.span)
                message.append(stored == nil ? 0 : 1)
                message.append(field: (stored?.text ?? "").utf8Span.span)
                message.append(field: plan.description.utf8Span.span)
                password.withBytes { message.append(field: $0) }
            }
        } catch {
            // A check without a key is not shared.
            return nil
        }
    }

    private static func fault(_ fault: HashFault) -> LoginFault {
        switch fault.code {
        case .unusable: LoginFault(.unusableCredential, log: fault.description)
        case .failed: .unavailable(fault.description)
        }
    }

    private static func note(_ plan: CheckPlan, hashed: TimedHashingResult, statistics: HashingStatistics) -> String {
        "\(plan): \(MonotonicTime.text(hashed.runTime))\(waiting)\(MonotonicTime.text(hashed.waitTime)); "
            + "\(statistics.running) running, \(statistics.waiting) waiting, \(statistics.coalesced) coalesced, "
            + "\(statistics.refused + statistics.timedOut) refused"
    }

    /// Returns the costs of the checks of a login from the note in its report; nil for another note.
    package static func costs(inNote text: String) -> String? {
        guard text.firstRange(of: waiting) != nil, let end = text.firstRange(of: ": ") else { return nil }
        return String(text[..<end.lowerBound])
    }
}

/// The checks that one login computes, in the same order for every user: one for each cost in the realm, of very many
/// costs the dearest ones.
///
/// The work is the same for all users, so response times do not reveal which users exist. A fixed response time would
/// not hide this, because on a busy machine some checks take longer than any fixed time.
struct CheckPlan: Sendable, CustomStringConvertible {
    /// At most one of them is a check of the user's own hash, at ``own``.
    private let checks: [PasswordHash]
    private let own: Int?
    /// The memory of the largest check, in bytes: the checks are computed one after the other.
    let memory: Int

    init(own: PasswordHash?, hashPerCost: [PasswordHash], longestCheck: Duration = .seconds(2)) {
        let costs = Set(HashCost.checked(of: hashPerCost.map(\.cost), longestCheck: longestCheck))
        var checks = hashPerCost.filter { costs.contains($0.cost) }
        if let own {
            var index = checks.firstIndex { $0.cost == own.cost }
            if index == nil, checks.count < hashPerCost.count || checks.count >= HashCost.maximumChecks {
                // In the place of the next dearer check, so that the login takes no more time than others.
                index = checks.indices.filter { checks[$0].cost.time >= own.cost.time }
                    .min { checks[$0].cost.time < checks[$1].cost.time }
            }
            if let index { checks[index] = own } else { checks.append(own) }
            self.own = index ?? checks.count - 1
        } else {
            self.own = nil
        }
        self.checks = checks
        memory = checks.map(\.cost.memory).max() ?? 0
    }

    /// True if the checks take less time than passing them to another thread.
    var isNegligible: Bool { checks.count <= 8 && checks.allSatisfy(\.cost.isNegligible) }

    var description: String { checks.map(\.cost.description).joined(separator: ", ") }

    /// Computes all checks; an empty password never matches, but takes the same time by a check of a fixed one.
    func compute(_ password: Secret) -> HashingResult {
        let isEmpty = password.isEmpty
        let password = isEmpty ? Secret(utf8: "empty") : password
        let own = isEmpty ? nil : own
        var result = HashingResult.checked(false)
        for (index, check) in checks.enumerated() {
            do throws(HashFault) {
                let matches = try check.matches(password)
                // The result of another user's hash or of a decoy is ignored. It is computed only for its time.
                if index == own { result = .checked(matches) }
            } catch {
                switch error.code {
                // If the library cannot compute one of the hashes, the login fails, even if the hash is not the user's
                // own. Otherwise the response would reveal the cost of the user's own hash.
                case .failed: return .failed(error)
                case .unusable: if index == own { result = .failed(error) }
                }
            }
        }
        return result
    }
}
