// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import Synchronization

/// The chat room: the last messages, and the listeners.
public final class Room: Sendable {
    /// The number of messages that are kept.
    public static let historyLength = 50
    /// The longest message, in bytes of UTF-8.
    public static let maximumBytes = 2000
    /// The number of messages that a user may send at once, and the seconds after which the user may send one more.
    public static let burst = 5.0, pause = 2.0

    /// The result of posting a message.
    enum Outcome: Equatable {
        /// The message was sent to all listeners.
        case posted(Message)
        /// The author must wait for this number of seconds.
        case tooSoon(Int)
        /// The message is empty, too long or contains control characters.
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
        /// The number of messages that each author may still send, and the time at which that was computed.
        var allowances: [Author: (left: Double, moment: Double)] = [:]
    }

    private let now: @Sendable () -> Double
    private let state = Mutex(State())

    /// Creates an empty room.
    ///
    /// - Parameter now: The clock, in seconds since 1970.
    public init(now: @escaping @Sendable () -> Double) {
        self.now = now
    }

    /// The number of listeners.
    var listeners: Int { state.withLock { $0.listeners.count } }

    /// Sends a message to all listeners.
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

    /// Returns a listener for the kept messages after a number, and for all new messages.
    ///
    /// Without a number, it receives all kept messages.
    func listen(after number: Int?) -> Listening {
        // The buffer is limited, so that a listener that reads too slowly cannot use up the memory. It loses the oldest
        // messages.
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(100))
        let id = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            // The client may send a number from a previous run of the server. Such a number is ignored if it is too high.
            let known = number.flatMap { $0 <= state.lastNumber ? $0 : nil } ?? 0
            for message in state.messages where message.number > known { continuation.yield(.message(message)) }
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: id) }
        }
        return Listening(events: events, continuation: continuation)
    }

    /// Returns the seconds that an author must wait.
    ///
    /// If it returns 0, it subtracts one message from the allowance of the author.
    private static func wait(_ author: Author, _ now: Double, _ state: inout State) -> Int {
        func left(_ allowance: (left: Double, moment: Double)) -> Double {
            min(burst, allowance.left + max(0, now - allowance.moment) / pause)
        }
        // An author with the full allowance needs no entry.
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

/// A message of a user.
struct Message: Codable, Sendable, Equatable {
    let number: Int
    let author: String
    let text: String
    /// Seconds since 1970.
    let time: Int
}

/// An event that a listener receives.
enum Event: Sendable, Equatable {
    case message(Message)
    /// An event without contents, which shows whether the client is still connected: if not, the write fails.
    case beat
}

/// A listener.
struct Listening: Sendable {
    /// The kept messages, followed by new messages.
    let events: AsyncStream<Event>
    fileprivate let continuation: AsyncStream<Event>.Continuation

    /// Sends an event without contents.
    func beat() { continuation.yield(.beat) }

    /// Ends the events.
    func end() { continuation.finish() }
}
