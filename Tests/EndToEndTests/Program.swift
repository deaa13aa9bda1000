// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation

/// What a program that has ended said.
struct Finished: Sendable {
    let status: Int32
    let output: String
    let errors: String
}

/// The programs that were built beside these tests, and those of the system that they need.
enum Program {
    /// The folder the tests were built into.
    static let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()

    static func built(_ name: String) -> URL { folder.appendingPathComponent(name) }

    static func system(_ name: String) -> URL? {
        ["/usr/bin", "/bin", "/usr/local/bin"].map { URL(fileURLWithPath: $0).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    static var hasCurl: Bool { system("curl") != nil }

    static func run(
        _ program: URL,
        _ arguments: [String],
        input: String = "",
        in folder: URL? = nil
    ) async throws -> Finished {
        let process = Process()
        let files = try TemporaryFolder()
        let output = try files.write("", to: "output")
        let errors = try files.write("", to: "errors")
        let inputFile = try files.write(input, to: "input")
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        let status = await withCheckedContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                process.terminationHandler = nil
                continuation.resume(returning: -1)
            }
        }
        return Finished(
            status: status,
            output: String(decoding: try Data(contentsOf: output), as: UTF8.self),
            errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self)
        )
    }
}

/// A folder that goes when nobody holds it any more.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        do {
            try FileManager.default.removeItem(at: url)
        } catch {
            // A folder that is left behind harms no test.
        }
    }

    @discardableResult
    func write(_ text: String, to name: String) throws -> URL {
        let file = url.appendingPathComponent(name)
        try Data(text.utf8).write(to: file)
        return file
    }
}
