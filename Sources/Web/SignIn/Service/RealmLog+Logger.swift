// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import Logging
package import RealmKit

extension RealmLog {
    /// A realm log that writes to the log of a server, each message on one line.
    ///
    /// A message may contain names from outside, which must not look like lines of the log.
    ///
    /// - Parameter logger: The logger of the server.
    package init(_ logger: Logger) {
        self.init { level, message in logger.log(level: level.level, "\(LineText.line(message))") }
    }
}

extension RealmLog.Level {
    /// The same level in the log of the server.
    fileprivate var level: Logger.Level {
        switch self {
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
