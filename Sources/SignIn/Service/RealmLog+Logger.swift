// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import Logging
package import RealmKit

extension RealmLog {
    /// A log of realms that is part of a server's log.
    ///
    /// - Parameter logger: The server's log.
    package init(_ logger: Logger) {
        self.init { level, message in logger.log(level: level.level, "\(message)") }
    }
}

extension RealmLog.Level {
    /// The level in the server's log.
    fileprivate var level: Logger.Level {
        switch self {
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
