// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import SeededRandom
import TestTools
import Testing

@testable import GatehouseCommand

/// Tests with randomly damaged files of other products.
@Suite struct DamagedUserFileTests {
    typealias Read = @Sendable (_ bytes: [UInt8], _ name: String) throws(BadUserFile) -> ImportedUsers

    private static let tomcat: Read = TomcatUsers(algorithms: []).read
    private static let files: [(read: Read, text: String)] = [
        (AutheliaUsers.read, AutheliaTests.file), (KeycloakUsers.read, KeycloakTests.file),
        (TomcatUsers(algorithms: [.sha256, .clear]).read, TomcatTests.file), (JettyUsers.read, PropertiesTests.jetty),
        (WildFlyUsers(roles: nil).read, PropertiesTests.wildfly),
    ]
    private static let pieces =
        [
            ":", ": ", "\n", "\n  ", "\r\n", " ", "\t", "'", "\"", "#", " #", "- ", "[", "]", "{", "}", "&", "*a", "!x",
            "|", ">", "<", "/", "<a>", "</a>", "<!--", "-->", "&amp;", "&#38;", "\\", "\\u0041", "\\n", "ann", "null",
            "---", "...", "users:", "\u{85}", "\u{FEFF}", "\u{2028}", "\u{e9}", "e\u{301}", ",", "0", "=",
        ].map { Array($0.utf8) } + [[0], [0xFF], [0xC3], [0x01]]

    static func damaged(_ text: String, _ random: inout Random) -> [UInt8] {
        var bytes = Array(text.utf8)
        for _ in 0...random.below(4) {
            let index = random.below(bytes.count + 1)
            let end = min(bytes.count, index + random.below(20))
            switch random.below(6) {
            case 0: if index < bytes.count { bytes[index] ^= 1 << UInt8(random.below(8)) }
            case 1, 2: bytes.insert(contentsOf: random.pick(pieces), at: index)
            case 3: bytes.removeSubrange(index..<end)
            case 4: bytes.insert(contentsOf: Array(bytes[index..<end]), at: random.below(bytes.count + 1))
            default: bytes.replaceSubrange(index..<end, with: random.pick(pieces))
            }
        }
        return bytes
    }

    @Test(arguments: 0..<5)
    func `a damaged file is read or rejected with its place, in bounded time`(number: Int) throws {
        let (read, text) = Self.files[number]
        var random = Random(seed: 5 + UInt64(number))
        var (accepted, rejected) = (0, 0)
        let time = ProcessorTime.measureThread {
            for round in 0..<3000 {
                let bytes = Self.damaged(text, &random)
                do throws(BadUserFile) {
                    let users = try read(bytes, "f")
                    accepted += 1
                    let names = users.users.map(\.record.name)
                    #expect(Set(names).count == names.count, "round \(round)")
                    for user in users.users { #expect(user.place.hasPrefix("f:"), "round \(round)") }
                } catch {
                    rejected += 1
                    let hasPlace = error.description.hasPrefix("f:")
                    #expect(hasPlace, "round \(round): \(error)")
                }
            }
        }
        #expect(accepted > 100 && rejected > 100, "\(accepted) accepted, \(rejected) rejected")
        // A file takes about a millisecond in a debug build.
        #expect(time < 60e9)
    }

    private static let malformed: [(read: Read, text: String)] = [
        (AutheliaUsers.read, String(repeating: "a:\n", count: 30_000)),
        (AutheliaUsers.read, String(repeating: "[", count: 30_000)),
        (AutheliaUsers.read, "a: " + String(repeating: "'", count: 30_000)),
        (KeycloakUsers.read, String(repeating: "[", count: 30_000)),
        (KeycloakUsers.read, String(repeating: "{\"users\":", count: 20_000)),
        (tomcat, "<tomcat-users " + String(repeating: "a='' ", count: 20_000)),
        (tomcat, "<tomcat-users>" + String(repeating: "\n<user/>", count: 20_000)),
        (tomcat, "<tomcat-users>" + String(repeating: "<!--", count: 30_000)),
        (JettyUsers.read, String(repeating: "\\\n", count: 30_000) + "\\u"),
        (JettyUsers.read, String(repeating: "\\u0041", count: 20_000) + "\\u"),
    ]

    @Test(arguments: malformed.indices)
    func `a long malformed file takes time proportional to its length`(number: Int) {
        let (read, text) = Self.malformed[number]
        let time = ProcessorTime.measureThread {
            #expect(throws: BadUserFile.self) { try read(Array(text.utf8), "f") }
        }
        // It takes less than a tenth of a second in a debug build, and time proportional to the square of the length would be
        // many seconds.
        #expect(time < 3e9)
    }

    /// Compares the reader of XML with Python's library, Expat.
    @Test(.enabled(if: Expat.isInstalled, "python3 is not installed"))
    func `an XML file that is accepted means the same to Expat`() throws {
        var random = Random(seed: 79)
        var ours: [String] = []
        var files: [[UInt8]] = []
        while ours.count < 400 {
            let bytes = Self.damaged(TomcatTests.file, &random)
            guard let tags = XMLReader.canonical(bytes) else { continue }
            ours.append(tags)
            files.append(bytes)
        }
        let theirs = try Expat.read(files)
        #expect(ours.count == theirs.count)
        for (index, (our, their)) in zip(ours, theirs).enumerated() where our != their {
            Issue.record("file \(index): \(our) and \(their): \(String(decoding: files[index], as: UTF8.self))")
        }
    }
}

extension XMLReader {
    /// The start tags as text, in the form of the Python program; nil for a file that is rejected.
    static func canonical(_ bytes: [UInt8]) -> String? {
        func quoted(_ text: String) -> String {
            "'" + Array(text.utf8).map { String($0, radix: 16) }.joined(separator: ".") + "'"
        }
        var tags: [String] = []
        do throws(Fault) {
            try read(bytes) { tag throws(Fault) in
                let attributes = tag.attributes.map { quoted($0.name) + ":" + quoted($0.value) }.joined(separator: ",")
                tags.append("\(tag.depth)\(quoted(tag.name)){\(attributes)}")
            }
        } catch { return nil }
        return tags.joined(separator: ",")
    }
}

/// The reader of XML in Python.
enum Expat {
    private static let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("readers.py").path

    static var isInstalled: Bool { (try? run(["-c", "import xml.parsers.expat"]))?.status == 0 }

    /// Returns one line for each file.
    static func read(_ files: [[UInt8]]) throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("imports-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for (number, file) in files.enumerated() {
            try Data(file).write(to: folder.appendingPathComponent("\(number)"))
        }
        let (status, output) = try run([program, folder.path])
        #expect(status == 0)
        return output.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    private static func run(_ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        try process.run()
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
