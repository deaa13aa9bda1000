// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit
internal import Synchronization

/// Where people talk: the last messages, and who listens.
public final class Room: Sendable {
    /// How many messages are kept.
    public static let historyLength = 50
    /// The longest message, in bytes of UTF-8.
    public static let maximumBytes = 2000
    /// How many messages somebody may send at once, and after how many seconds there is one more.
    public static let burst = 5.0, pause = 2.0

    /// What came of a message.
    enum Outcome: Equatable {
        /// Everybody has it.
        case posted(Message)
        /// Its author has to wait for so many seconds.
        case tooSoon(Int)
        /// It is empty, too long or holds control characters.
        case unusable
    }

    private struct Author: Hashable {
        let realm: String
        let username: Username
    }

    private struct State {
        var messages: [Message] = []
        var lastNumber = 0
        var listeners: [Int: AsyncStream<Event>.Continuation] = [:]
        var lastListener = 0
        /// What each author may still send, as of a moment.
        var allowances: [Author: (left: Double, moment: Double)] = [:]
    }

    private let now: @Sendable () -> Double
    private let state = Mutex(State())

    /// An empty room.
    ///
    /// - Parameter now: The seconds since 1970.
    public init(now: @escaping @Sendable () -> Double) {
        self.now = now
    }

    /// How many listen.
    var listeners: Int { state.withLock { $0.listeners.count } }

    /// Tells everybody something.
    func post(_ text: String, by user: SignedInUser) -> Outcome {
        let text = Self.trimmed(text)
        guard !text.isEmpty, text.utf8.count <= Self.maximumBytes, !text.unicodeScalars.contains(where: Self.isControl)
        else { return .unusable }
        let now = now()
        return state.withLock { state in
            let wait = Self.wait(Author(realm: user.realm, username: user.username), now, &state)
            guard wait == 0 else { return .tooSoon(wait) }
            state.lastNumber += 1
            let message = Message(number: state.lastNumber, author: user.username.text, text: text, time: Int(now))
            state.messages.append(message)
            if state.messages.count > Self.historyLength { state.messages.removeFirst() }
            for listener in state.listeners.values { listener.yield(.message(message)) }
            return .posted(message)
        }
    }

    /// Listens, from the message after one that is known, or from the oldest that is kept.
    func listen(after number: Int?) -> Listening {
        // Who reads too slowly loses the oldest, and no memory is theirs to fill.
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(100))
        let id = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            // Numbers of a server that ran before are of no use.
            let known = number.flatMap { $0 <= state.lastNumber ? $0 : nil } ?? 0
            for message in state.messages where message.number > known { continuation.yield(.message(message)) }
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
        }
        return Listening(events: events, continuation: continuation)
    }

    /// How long an author has to wait; takes one off the allowance if that is not at all.
    private static func wait(_ author: Author, _ now: Double, _ state: inout State) -> Int {
        func left(_ allowance: (left: Double, moment: Double)) -> Double {
            min(burst, allowance.left + max(0, now - allowance.moment) / pause)
        }
        // Who may send as much as ever need not be remembered.
        if state.allowances.count > 1000 { state.allowances = state.allowances.filter { left($0.value) < burst } }
        let before = state.allowances[author].map(left) ?? burst
        guard before >= 1 else { return Int(((1 - before) * pause).rounded(.up)) }
        state.allowances[author] = (before - 1, now)
        return 0
    }

    private static func trimmed(_ text: String) -> String {
        var text = Substring(text)
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }

    private static func isControl(_ character: Unicode.Scalar) -> Bool {
        character.properties.generalCategory == .control
    }
}

/// What somebody has said.
struct Message: Codable, Sendable, Equatable {
    let number: Int
    let author: String
    let text: String
    /// Seconds since 1970.
    let time: Int
}

/// What a listener is told.
enum Event: Sendable, Equatable {
    case message(Message)
    /// Nothing; so that it is noticed when nobody listens any more.
    case beat
}

/// Somebody who listens.
struct Listening: Sendable {
    /// What happens, from now on.
    let events: AsyncStream<Event>
    fileprivate let continuation: AsyncStream<Event>.Continuation

    /// Shows that there is somebody.
    func beat() { continuation.yield(.beat) }

    /// Ends the events.
    func end() { continuation.finish() }
}
