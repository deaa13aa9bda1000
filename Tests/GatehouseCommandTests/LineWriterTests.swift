// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import GatehouseCommand

@Suite struct LineWriterTests {
    @Test func `a writer does not wait for its reader, and lost lines are counted`() throws {
        let pipe = Pipe()
        let writer = LineWriter(pipe.fileHandleForWriting.fileDescriptor)
        let line = String(repeating: "x", count: 99_999)
        // This is more than the pipe and the queue can hold. The pipe is not read before all lines are written.
        for _ in 0..<30 { writer.write(line) }
        writer.write("dropped, unless lines have been written by now")
        var (kept, lost, last) = (0, 0, 0)
        let reader = LineReader(pipe)
        while kept + lost + last < 31, let next = reader.next() {
            if next == line {
                kept += 1
            } else if next.hasSuffix("lines were lost: this stream was not read") {
                lost += Int(next.split(separator: " ")[1]) ?? 0
            } else {
                #expect(next.hasPrefix("dropped"))
                last += 1
            }
        }
        #expect(kept >= 10 && kept < 30)
        #expect(kept + lost + last == 31)
    }

    @Test func `the count of lost lines is written as soon as the stream is read again`() throws {
        let pipe = Pipe()
        let writer = LineWriter(pipe.fileHandleForWriting.fileDescriptor)
        writer.write(String(repeating: "x", count: LineWriter.maximumWaiting - 10))
        // The first bytes have arrived. Until the line is written, the queue has no space for another line.
        var text = pipe.fileHandleForReading.availableData
        for _ in 0..<5 { writer.write("dropped\(String(repeating: "!", count: 20))") }
        let last = Data("gatehouse: 5 lines were lost: this stream was not read\n".utf8)
        let reader = LineReader(pipe)
        while text.suffix(last.count) != last, let more = reader.available() { text += more }
        #expect(text.count == LineWriter.maximumWaiting - 9 + last.count)
    }

    @Test func `lines of many threads are written whole, whatever their length`() async throws {
        let pipe = Pipe()
        let writer = LineWriter(pipe.fileHandleForWriting.fileDescriptor)
        let expected = (0..<8).flatMap { thread in
            (0..<50).map { "\(thread) \($0) \(String(repeating: "x", count: ($0 * 37) % 2000))" }
        }
        let reading = Task.detached {
            let reader = LineReader(pipe)
            var lines: [String] = []
            while lines.count < 400, let line = reader.next() { lines.append(line) }
            return lines
        }
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask { for line in expected[thread * 50..<thread * 50 + 50] { writer.write(line) } }
            }
        }
        let lines = await reading.value
        #expect(lines.sorted() == expected.sorted())
        for thread in 0..<8 {
            let own = lines.filter { $0.hasPrefix("\(thread) ") }
            #expect(own == Array(expected[thread * 50..<thread * 50 + 50]))
        }
    }

    @Test func `lines are written in order`() throws {
        let pipe = Pipe()
        let writer = LineWriter(pipe.fileHandleForWriting.fileDescriptor)
        for number in 0..<1000 {
            writer.write("\(number)")
            // The memory of written lines is used again.
            if number % 100 == 0 { writer.flush() }
        }
        writer.flush()
        let reader = LineReader(pipe)
        var lines: [String] = []
        while lines.count < 1000, let line = reader.next() { lines.append(line) }
        #expect(lines == (0..<1000).map { "\($0)" })
    }
}

/// Reads the output of a pipe.
///
/// It stops when no byte arrives for a minute.
private final class LineReader {
    private let handle: FileHandle
    private var rest = Data()

    init(_ pipe: Pipe) { handle = pipe.fileHandleForReading }

    /// Returns the available bytes; nil if no byte arrives.
    func available() -> Data? {
        var state = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&state, 1, 60_000) == 1 else { return nil }
        let data = handle.availableData
        return data.isEmpty ? nil : data
    }

    /// Returns the next line; nil if no line arrives.
    func next() -> String? {
        while true {
            if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                defer { rest = Data(rest[rest.index(after: end)...]) }
                return String(decoding: rest[..<end], as: UTF8.self)
            }
            guard let more = available() else { return nil }
            rest += more
        }
    }
}
