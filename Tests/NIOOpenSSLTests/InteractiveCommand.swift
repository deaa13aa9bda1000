// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A running command whose next input depends on its output.
final class InteractiveCommand {
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

    /// Waits for a text in the output of the command since the last call.
    ///
    /// - Parameter text: The text.
    /// - Returns: True if the text was found; false if the command has ended or has written nothing for a minute.
    func wait(for text: String) -> Bool {
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
