// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOPosix

/// Runs programs of the operating system.
enum Tool {
    static let curl = "/usr/bin/curl"
    static let openssl = "/usr/bin/openssl"

    static func isInstalled(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Runs a command to its end, on a thread that tests do not share.
    static func run(_ path: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await NIOThreadPool.singleton.runIfActive {
            let command = try InteractiveCommand(path, arguments)
            command.endInput()
            return command.finish()
        }
    }
}
