// SPDX-License-Identifier: Apache-2.0

public import RealmKit
internal import Synchronization

/// A log that keeps its lines for a test.
///
/// It may be used from any thread.
public final class RecordingLog: Sendable {
    private let kept = Mutex<[(level: RealmLog.Level, text: String)]>([])

    /// Creates an empty log.
    public init() {}

    /// The log to give to a realm.
    public var log: RealmLog { RealmLog { [self] level, text in kept.withLock { $0.append((level, text)) } } }

    /// The texts so far, in order.
    public var lines: [String] { kept.withLock { $0.map(\.text) } }

    /// The texts so far that are warnings or errors, in order.
    public var problems: [String] { kept.withLock { $0.filter { $0.level != .notice }.map(\.text) } }
}
