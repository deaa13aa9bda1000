// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
public import RealmKit

/// What a module with stored passwords asks: whether this is the password, off its own thread and at a cost that tells
/// nothing.
///
/// The program lends it to realms as one of their ``RealmServices``.
public final class PasswordService: Sendable {
    /// How new passwords are hashed.
    public let policy: HashPolicy
    /// Where hashes are computed.
    public let slots: HashingSlots
    private let mac: HMACKey
    /// What is checked where a realm has no hashes; it costs what a new one does.
    private let decoy: any PasswordHash

    /// A service.
    ///
    /// - Parameters:
    ///   - policy: How new passwords are hashed.
    ///   - slots: Where hashes are computed.
    /// - Throws: ``HashFault`` of code `failed` when there is no randomness, or the policy's own hashes would take more
    ///   memory than the slots have.
    public init(policy: HashPolicy, slots: HashingSlots) throws(HashFault) {
        decoy = try policy.decoy()
        let memory = decoy.cost.memory
        guard memory <= slots.settings.memory else {
            throw HashFault(
                .failed,
                "one hash takes \(memory >> 10) KiB and all may take \(slots.settings.memory >> 10)"
            )
        }
        do throws(OpenSSLError) {
            var key = try RandomBytes.make(32)
            defer { for index in key.indices { key[index] = 0 } }
            mac = try HMACKey(key.span)
        } catch {
            throw HashFault(.failed, "no key for telling checks apart: \(error)")
        }
        self.policy = policy
        self.slots = slots
    }

    /// Whether checks of that cost can be made here; a stored password for which they cannot is as good as broken.
    ///
    /// - Parameter cost: The cost.
    /// - Returns: False if a check takes more memory than all checks together may.
    public func affords(_ cost: HashCost) -> Bool { cost.memory <= slots.settings.memory }

    /// Whether a password is the one that is stored.
    ///
    /// Whatever `stored` is, one check of every cost in `costs` is computed, so that the time says nothing about who there
    /// is and how their password is kept. Identical questions that are on their way are answered together.
    ///
    /// - Parameters:
    ///   - password: What was presented.
    ///   - stored: What is stored of the user; nil if there is no such user, or none that may sign in.
    ///   - costs: One hash or decoy of every cost that users of the realm have; a decoy of the policy's is
    ///     checked if there are none.
    ///   - attempt: The login at hand: whose turn it is, and where the numbers are noted.
    /// - Returns: Whether it is; never true without a `stored`, and never for an empty password.
    /// - Throws: ``LoginFault``: `unavailable` when too many are waiting or waited too long, or the library failed, `unusableCredential` for a
    ///   password the format cannot take.
    public func check(
        _ password: Secret,
        against stored: StoredPassword?,
        costs: [any PasswordHash],
        _ attempt: LoginAttempt
    ) async throws(LoginFault) -> Bool {
        let own = stored.flatMap { affords($0.hash.cost) ? $0 : nil }
        let plan = plan(own, costs)
        let key = key(password, stored, plan, attempt)
        let source = Self.source(attempt.peer)
        let hashed = try await run(memory: plan.memory, source: source, key: key) { plan.compute(password) }
        attempt.note(Self.note(plan, hashed, slots.numbers))
        switch hashed.result {
        case .checked(let matches): return matches && !password.isEmpty
        case .failed(let fault): throw Self.fault(fault)
        case .hashed: throw .internalError("a password check ended in a hash")
        }
    }

    /// Hashes a new password by the policy, in its turn.
    ///
    /// - Parameter password: The new password.
    /// - Returns: The text to store.
    /// - Throws: ``LoginFault``: as from ``check(_:against:costs:_:)``.
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
        case .checked: throw .internalError("a new hash ended in a check")
        }
    }

    private func run(
        memory: Int,
        source: String,
        key: Digest?,
        _ work: @escaping @Sendable () -> HashingResult
    ) async throws(LoginFault) -> Hashed {
        do throws(HashingRefusal) {
            return try await slots.run(memory: memory, source: source, key: key, work)
        } catch {
            throw .unavailable(error.description)
        }
    }

    private func plan(_ own: StoredPassword?, _ costs: [any PasswordHash]) -> CheckPlan {
        let affordable = costs.filter { affords($0.cost) }
        return CheckPlan(own: own?.hash, costs: affordable.isEmpty && own == nil ? [decoy] : affordable)
    }

    /// Stands for one question.
    ///
    /// Every field is preceded by its length, so that no two questions are the same bytes (CVE-2026-71326). The stored text
    /// is one of them: who changes a password is not answered by a check of the old one.
    private func key(
        _ password: Secret,
        _ stored: StoredPassword?,
        _ plan: CheckPlan,
        _ attempt: LoginAttempt
    ) -> Digest? {
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
            // Without a key it is computed for itself.
            return nil
        }
    }

    /// The source whose turn it is: an address, of IPv6 a network of 48 bits, as one customer has all addresses in it.
    static func source(_ peer: String?) -> String {
        guard let source = peer.map({ Source($0) }) else { return "here" }
        return (source.description.contains(":") ? source.neighbourhood : source).description
    }

    private static func fault(_ fault: HashFault) -> LoginFault {
        switch fault.code {
        case .unusable: LoginFault(.unusableCredential, log: fault.description)
        case .failed: .unavailable(fault.description)
        }
    }

    private static func note(_ plan: CheckPlan, _ hashed: Hashed, _ numbers: HashingNumbers) -> String {
        "\(plan): \(milliseconds(hashed.took)) after waiting \(milliseconds(hashed.waited)); "
            + "\(numbers.running) running, \(numbers.waiting) waiting, \(numbers.coalesced) coalesced, "
            + "\(numbers.refused + numbers.late) refused"
    }

    private static func milliseconds(_ time: UInt64) -> String {
        "\(time / 1_000_000).\((time / 100_000) % 10) ms"
    }
}
