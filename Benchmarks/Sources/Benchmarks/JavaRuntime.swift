// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The benchmark of the JDK's login contexts and parser: a Java program that is compiled and run.
struct JavaRuntime {
    let version: String
    private let folder: URL

    /// Returns nil if no JDK is installed.
    init?() {
        guard let version = Self.run("java", ["-version"])?.split(separator: "\"").dropFirst().first else { return nil }
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)")
        self.version = String(version)
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Java/LoginBenchmark.java").standardized.path
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(Measurements.sampleText.utf8).write(to: folder.appendingPathComponent("login.conf"))
        } catch {
            return nil
        }
        guard Self.run("javac", ["-d", folder.path, source]) != nil else { return nil }
    }

    func remove() {
        do {
            try FileManager.default.removeItem(at: folder)
        } catch {
            FileHandle.standardError.write(Data("\(folder.path) could not be removed\n".utf8))
        }
    }

    struct Failed: Error {}

    func measure() throws -> [(String, Double)] {
        let arguments = ["-cp", folder.path, "LoginBenchmark", folder.appendingPathComponent("login.conf").path]
        guard let output = Self.run("java", arguments) else { throw Failed() }
        return output.split(separator: "\n").compactMap { line in
            let parts = line.split(separator: "=")
            guard parts.count == 2, let value = Double(parts[1]) else { return nil }
            return (String(parts[0]), value)
        }
    }

    private static func run(_ program: String, _ arguments: [String]) -> String? {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardOutput = pipe
        process.standardError = pipe
        do {
            try process.run()
        } catch {
            return nil
        }
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? output : nil
    }
}
