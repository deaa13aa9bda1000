// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The messages about mistakes that people make in configurations and commands.
///
/// The folder `Mistakes` has the cases. In a file, `## TITLE` begins a case, and `--- NAME` a file of the case. `$ COMMAND` is
/// a command, with words separated by single blanks. The lines after it that begin with `|` are its standard error, and
/// `= STATUS` is its exit status.
@Suite struct MistakeMessagesTests {
    struct Mistake: Sendable, CustomTestStringConvertible {
        struct Command: Sendable {
            let words: [String]
            var errors: [String] = []
            var status: Int32?
        }

        let title: String
        var files: [(name: String, lines: [String])] = []
        var commands: [Command] = []

        var testDescription: String { title }
    }

    static let mistakes: [Mistake] = {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Mistakes")
        return ["rules", "realms", "files", "commands"].flatMap { name in
            read((try? String(contentsOf: folder.appendingPathComponent("\(name).txt"), encoding: .utf8)) ?? "")
        }
    }()

    private static func read(_ text: String) -> [Mistake] {
        var mistakes: [Mistake] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("## ") {
                mistakes.append(Mistake(title: String(line.dropFirst(3))))
                continue
            }
            guard !mistakes.isEmpty else { continue }
            let last = mistakes.count - 1
            if line.hasPrefix("--- ") {
                mistakes[last].files.append((String(line.dropFirst(4)), []))
            } else if line.hasPrefix("$ ") {
                let words = line.dropFirst(2).split(separator: " ", omittingEmptySubsequences: false)
                mistakes[last].commands.append(Mistake.Command(words: words.map(String.init)))
            } else if let command = mistakes[last].commands.indices.last {
                if line.hasPrefix("| ") { mistakes[last].commands[command].errors.append(String(line.dropFirst(2))) }
                if line == "|" { mistakes[last].commands[command].errors.append("") }
                if line.hasPrefix("= ") { mistakes[last].commands[command].status = Int32(line.dropFirst(2)) }
            } else if let file = mistakes[last].files.indices.last {
                mistakes[last].files[file].lines.append(String(line))
            }
        }
        return mistakes
    }

    @Test func `there are at least ninety mistakes, each with a command and a status`() {
        #expect(Self.mistakes.count >= 90)
        for mistake in Self.mistakes {
            #expect(!mistake.commands.isEmpty, "\(mistake.title)")
            for command in mistake.commands { #expect(command.status != nil, "\(mistake.title)") }
        }
    }

    @Test(arguments: mistakes) func `a mistake has its message, its place and its hint`(mistake: Mistake) async throws {
        let folder = try TemporaryFolder()
        for file in mistake.files {
            try folder.write(file.lines.joined(separator: "\n") + "\n", to: file.name)
            let path = folder.url.appendingPathComponent(file.name).path
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        // The variables are the same on all machines.
        let environment = ["HOME=/home/ann", "PATH=/usr/bin:/bin"]
        for command in mistake.commands {
            let program = Program.built(command.words[0])
            let finished = try await Program.run(
                URL(fileURLWithPath: "/usr/bin/env"),
                ["-i"] + environment + [program.path] + command.words.dropFirst(),
                in: folder.url
            )
            #expect(finished.errors == command.errors.map { $0 + "\n" }.joined(), "\(command.words)")
            #expect(finished.status == command.status, "\(command.words)")
        }
    }
}
