// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The effect of an outage on a refused login: one of its modules was down.
///
/// Such a login may have two reasons to be refused. The response and the failure counters must not depend on the
/// outcomes of the other modules, which would reveal whether the password was right and whether the user exists. The
/// effect is therefore determined from all evaluations that are possible while the same modules are down, whatever the
/// outcomes of the others.
public struct Outage: Sendable, Hashable {
    /// True if every possible refusal meets an unavailable module, so that the response may be 503.
    public let mayBeShown: Bool
    /// True if no possible evaluation succeeds.
    ///
    /// The refusal then reveals nothing about the password, and does not count as a failed guess.
    public let excludesSuccess: Bool
}

extension Outage {
    /// Determines the effect of outages; nil if there was none, or if a possible refusal does not meet it.
    ///
    /// - Parameters:
    ///   - stack: The stack that was evaluated.
    ///   - path: The steps of the evaluation.
    ///   - refusal: Its result.
    ///   - roundsThatShared: The rounds in which a module has read the shared state. Whether such a module is down may
    ///     depend on the findings of the others, so it is not counted as down.
    init?(of stack: LoginStack, path: borrowing LoginPath, refusal: Refusal, roundsThatShared: () -> [Int]) {
        // In the commit phase the credentials have been accepted: the response reveals nothing more about them.
        if case .module(_, .commit, let failure) = refusal {
            guard Outcome.failure(failure).isOutage else { return nil }
            self.init(mayBeShown: failure == .unavailable, excludesSuccess: true)
            return
        }
        guard path.givenUpAt != nil || (0..<path.reachedCount).contains(where: { path[$0].outcome.isOutage }) else {
            return nil
        }
        var down: [Int: Outcome] = [:]
        for round in 0..<path.reachedCount where path[round].outcome.isOutage {
            if !roundsThatShared().contains(round) { down[Int(path[round].entry)] = path[round].outcome }
        }
        if down.isEmpty, path.givenUpAt == nil { return nil }
        var walks = PossibleWalks(entries: stack.entries, down: down, givenUpAt: path.givenUpAt)
        walks.explore()
        guard walks.isComplete, walks.allRefusalsMeetOutage else { return nil }
        self.init(mayBeShown: walks.allRefusalsMeetUnavailable, excludesSuccess: !walks.canGrant)
    }
}

extension Outcome {
    /// True if the module could not decide, so that nothing is known about the credentials.
    fileprivate var isOutage: Bool { self == .failure(.unavailable) || self == .failure(.internalError) }
}

/// All evaluations of a stack in which some modules have the given outcomes, and the others any outcome.
private struct PossibleWalks {
    let entries: ContiguousArray<LinkedEntry>
    /// The outcomes of the modules that are down, by entry.
    let down: [Int: Outcome]
    /// The entry at which the login was cancelled: no evaluation gets further.
    let givenUpAt: Int?

    /// True if all evaluations were explored; a stack with many jumps and sub-stacks may have too many.
    private(set) var isComplete = true
    private(set) var canGrant = false
    /// True if each refusal meets an unavailable or broken module that contributes to it.
    private(set) var allRefusalsMeetOutage = true
    /// True if each refusal meets an unavailable module that contributes to it.
    private(set) var allRefusalsMeetUnavailable = true

    private static let most = 5000

    /// The impression of the outcomes so far; see ``StackWalk``.
    private enum Mark: UInt8, Hashable {
        case undecided
        case good
        /// A failure that a table counts as a success; the login is refused at the end.
        case goodByFailure
        case bad
    }

    /// The failures met on the way to a place.
    private struct Met: OptionSet, Hashable {
        let rawValue: UInt8
        static let down = Met(rawValue: 1)
        static let broken = Met(rawValue: 2)
        static let countedDown = Met(rawValue: 4)
        static let countedBroken = Met(rawValue: 8)
    }

    /// A place in an evaluation; two evaluations that reach the same place continue in the same way.
    private struct Place: Hashable {
        var position = 0
        var level = 0
        var mark = Mark.undecided
        var saved: [Mark] = []
        var met: Met = []
    }

    init(entries: ContiguousArray<LinkedEntry>, down: [Int: Outcome], givenUpAt: Int?) {
        self.entries = entries
        self.down = down
        self.givenUpAt = givenUpAt
    }

    mutating func explore() {
        var open = [Place()]
        var seen: Set<Place> = []
        while var place = open.popLast() {
            guard seen.insert(place).inserted else { continue }
            guard seen.count <= Self.most else {
                isComplete = false
                return
            }
            guard place.position < entries.count else {
                end(place)
                continue
            }
            let entry = entries[place.position]
            if entry.level > place.level {
                while place.saved.count < entry.level { place.saved.append(place.mark) }
                place.saved[entry.level - 1] = place.mark
            }
            place.level = entry.level
            if givenUpAt == place.position {
                place.mark = .bad
                place.met.insert(.countedDown)
                end(place)
            } else if case .marker = entry.entry.kind {
                place.position += 1
                open.append(place)
            } else if let outcome = down[place.position] {
                open.append(next(place, outcome: outcome, isDown: true))
            } else {
                for outcome in Self.outcomes { open.append(next(place, outcome: outcome, isDown: false)) }
            }
        }
    }

    private static let outcomes = [Outcome.success, .ignored] + LoginFailure.allCases.map { Outcome.failure($0) }

    private mutating func end(_ place: Place) {
        guard place.mark != .good else {
            canGrant = true
            return
        }
        // A failure that was skipped decides only if no other outcome counts.
        let counts = place.mark == .bad
        let isDown = place.met.contains(.countedDown) || (!counts && place.met.contains(.down))
        let isBroken = place.met.contains(.countedBroken) || (!counts && place.met.contains(.broken))
        if !isDown { allRefusalsMeetUnavailable = false }
        if !isDown, !isBroken { allRefusalsMeetOutage = false }
    }

    private func next(_ from: Place, outcome: Outcome, isDown: Bool) -> Place {
        var place = from
        let action = entries[place.position].table[outcome]
        place.position += 1
        if isDown { place.met.insert(outcome.failure == .unavailable ? .down : .broken) }
        switch action {
        case .ok, .done:
            if place.mark == .undecided || place.mark == .good {
                place.mark = outcome == .success ? .good : .goodByFailure
            }
            if action == .done, place.mark != .bad { leave(&place) }
        case .bad, .die:
            place.mark = .bad
            if isDown { place.met.insert(outcome.failure == .unavailable ? .countedDown : .countedBroken) }
            if action == .die { leave(&place) }
        case .ignore: break
        case .reset:
            place.mark = place.level == 0 || place.saved.count < place.level ? .undecided : place.saved[place.level - 1]
        case .jump(let count):
            for _ in 0..<count {
                guard skipOne(&place) else {
                    place.mark = .bad
                    break
                }
            }
        }
        return place
    }

    private func leave(_ place: inout Place) {
        while place.position < entries.count, entries[place.position].level >= place.level { place.position += 1 }
    }

    private func skipOne(_ place: inout Place) -> Bool {
        guard place.position < entries.count, entries[place.position].level >= place.level else { return false }
        place.position += 1
        while place.position < entries.count, entries[place.position].level > place.level { place.position += 1 }
        return true
    }
}
