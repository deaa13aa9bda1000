// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The events of a test in their order.
final class Events: Sendable {
    private let events = Mutex<[String]>([])

    var list: [String] { events.withLock { $0 } }

    func add(_ event: String) { events.withLock { $0.append(event) } }
}
