// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import NIOPosix

enum Tool {
    static let curl = "/usr/bin/curl"
    static let openssl = "/usr/bin/openssl"

    static func isThere(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Runs a command to its end, off the threads that tests share.
    static func run(_ path: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await NIOThreadPool.singleton.runIfActive {
            let dialogue = try Dialogue(path, arguments)
            dialogue.endInput()
            return dialogue.finish()
        }
    }
}

/// A running command whose next input depends on its output.
final class Dialogue {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var received = ""
    private var consumed = 0

    init(_ path: String, _ arguments: [String]) throws {
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
    }

    func send(_ text: String) {
        input.fileHandleForWriting.write(Data(text.utf8))
    }

    /// Waits for a text in the command's output since the last call; false if the command ends before, or writes
    /// nothing for a minute.
    func waitFor(_ text: String) -> Bool {
        while true {
            let news = received.dropFirst(consumed)
            if let found = news.range(of: text) {
                consumed += news.distance(from: news.startIndex, to: found.upperBound)
                return true
            }
            var state = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&state, 1, 60_000) == 1 else { return false }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { return false }
            received += String(decoding: data, as: UTF8.self)
        }
        return true
    }

    func endInput() {
        try? input.fileHandleForWriting.close()
    }

    func finish() -> (status: Int32, output: String) {
        endInput()
        received += String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, received)
    }
}
