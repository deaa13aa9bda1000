// SPDX-License-Identifier: Apache-2.0

package import Bytes

/// Selects entries of a log.
package struct LogFilter: Sendable {
    /// The name of the user, compared byte by byte; nil for all entries.
    package var user: UTF8Text?
    /// The address of the client; nil for all addresses.
    package var address: UTF8Text?
    /// The time of the first entries; nil for no limit.
    package var since: LogTime?
    /// The time before which the entries must be; nil for no limit.
    package var until: LogTime?
    /// True if only failures are selected.
    package var onlyFailures = false

    package init() {}

    /// Returns whether an entry is selected.
    package func includes(_ entry: LogEntry) -> Bool {
        if let since, entry.time < since { return false }
        if let until, entry.time >= until { return false }
        if let user, entry.user != user { return false }
        if let address, entry.address != address { return false }
        return !onlyFailures || entry.isFailure
    }
}
