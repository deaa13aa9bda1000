// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import Testing

@testable import GatehouseCommand

@Suite struct LineWriterTests {
    @Test func `whoever writes does not wait for a reader, and what is lost is counted`() throws {
        let pipe = Pipe()
        let writer = LineWriter(pipe.fileHandleForWriting.fileDescriptor)
        let line = String(repeating: "x", count: 99_999)
        // More than a pipe and the queue hold together; nobody reads meanwhile.
        for _ in 0..<30 { writer.write(line) }
        writer.write("dropped, unless there is room again by now")
        // What waits is written while it is read; then the stream ends.
        Thread.detachNewThread {
            writer.flush()
            close(pipe.fileHandleForWriting.fileDescriptor)
        }
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let lines = text.split(separator: "\n").map(String.init)
        let kept = lines.filter { $0 == line }.count
        #expect(kept >= 10 && kept < 30)
        let lost = lines.compactMap { line in
            line.hasSuffix("lines were lost: nobody read this stream") ? Int(line.split(separator: " ")[1]) : nil
        }
        let last = lines.contains { $0.hasPrefix("dropped") } ? 1 : 0
        #expect(lost.reduce(0, +) == 31 - kept - last)
    }

    @Test func `lines come in the order in which they were said`() throws {
        let pipe = Pipe()
        let writer = LineWriter(pipe.fileHandleForWriting.fileDescriptor)
        for number in 0..<1000 { writer.write("\(number)") }
        writer.flush()
        let expected = (0..<1000).map { "\($0)\n" }.joined()
        #expect(String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self) == expected)
    }
}
