// SPDX-License-Identifier: Apache-2.0

import Bytes
import RealmConfiguration
import SeededRandom
import Testing

@testable import AccessControl

@Suite struct PathReadingsTests {
    /// A short path that leads to 1,137 texts.
    private static let manyReadings =
        "/p/%252525252F%2525253B%253B%252F%25252F//%25253B%25252F%2F;%2523%252525252F%25253F%"
        + "2F%25252F%2525%253B%25252F%3B%23//%252F%252523%2523%3B%23%253F%25252F/%23%25;%3F%23%23%2"
        + "525253B%25253Fa%25253B/%25253F%3F%2525253B%25252F%3B%252F/%2525%3F"

    private static func read(_ target: String) throws -> PathReadings {
        try PathReadings(reading: target.utf8Span.span)
    }

    @Test(arguments: ["/", "/a/b/?c=%2F", "/a%20b", "/%61"])
    func `a path that all programs read in the same way has one reading`(target: String) throws {
        let readings = try Self.read(target)
        #expect(readings.path == RequestPath(target: target))
        #expect(readings.others.isEmpty && readings.ambiguity == nil)
    }

    @Test(
        arguments: [
            ("/@scope%2fname", ["/@scope%2fname", "/@scope/name"], .encoding),
            ("/a%25", ["/a%25", "/a%"], .encoding), ("/a%252fb", ["/a%252fb", "/a%2fb", "/a/b"], .encoding),
            ("/%61;b/c", ["/a;b/c", "/a/c"], .character), ("/a//b", ["/a//b", "/a/b"], .emptySegment),
            ("/a%3Fb?c", ["/a%3Fb", "/a?b", "/a"], .encoding), ("/a%23/b", ["/a%23/b", "/a#/b", "/a"], .encoding),
            // The parameter ends at the encoded slash, or with its segment.
            ("/a;x%2Fb/c", ["/a;x%2Fb/c", "/a;x/b/c", "/a/c", "/a/b/c"], .character),
            ("/a%3Bx%2Fb/c", ["/a%3Bx%2Fb/c", "/a;x%2Fb/c", "/a;x/b/c", "/a/c", "/a/b/c"], .encoding),
        ] as [(String, [String], AmbiguousPath)]
    )
    func `an ambiguous path has the readings of all programs`(
        target: String,
        texts: [String],
        reason: AmbiguousPath
    ) throws {
        let readings = try Self.read(target)
        #expect(readings.ambiguity == reason)
        #expect(readings.path.text == texts[0])
        #expect(Set(([readings.path] + readings.others).map(\.text)) == Set(texts))
    }

    @Test(
        arguments: [
            ("/a%2F..%2fb", .dots), ("/a/..;x/b", .dots), ("/a/%252e%252e/b", .dots), ("/a//./b", .dots),
            ("/a/.%2Fb", .dots), ("/a%255Cb", .encoding), ("/a%2500;", .encoding), ("/a//%ff", .encoding),
            ("/a//%25ff", .encoding), ("/a;\\b", .character), ("/a//b%4", .encoding), ("/a;b#c", .fragment),
            ("//\(String(repeating: "a", count: 8192))", .tooLong),
            ("/%\(String(repeating: "25", count: 300))2F", .tooManyReadings), (manyReadings, .tooManyReadings),
        ] as [(String, AmbiguousPath)]
    )
    func `a path is refused if one of its readings has dot segments or characters that are never allowed`(
        target: String,
        reason: AmbiguousPath
    ) {
        #expect(throws: reason) { try Self.read(target) }
    }

    // MARK: Rules

    /// Steps of programs, of which each changes the text of a path.
    private static let steps: [@Sendable (inout Random, String) -> String] = [
        { _, text in decoded(text) { _ in true } }, { _, text in decoded(text) { $0 != "/" } },
        { random, text in
            // Only some of the characters that matter, as programs with settings decode them.
            let kept = ["/", "%", ";", "?", "#"].filter { _ in random.below(2) == 0 }
            return decoded(text) { !kept.contains($0) }
        },
        { _, text in
            parts(text).map { part in String(part.prefix { $0 != ";" }) }.joined(separator: "/")
        },
        { _, text in String(text.prefix { $0 != "?" }) }, { _, text in String(text.prefix { $0 != "#" }) },
        { _, text in
            let merged = parts(text).filter { !$0.isEmpty }
            return "/" + merged.joined(separator: "/") + (text.hasSuffix("/") ? "/" : "")
        },
    ]

    private static func parts(_ text: String) -> [Substring] {
        text.split(separator: "/", omittingEmptySubsequences: false)
    }

    private static func decoded(_ text: String, where decodes: (String) -> Bool) -> String {
        var result = ""
        var rest = text[...]
        while let first = rest.first {
            let code = rest.dropFirst().prefix(2)
            if first == "%", code.count == 2, let value = UInt8(code, radix: 16),
                decodes(String(UnicodeScalar(value)))
            {
                result.unicodeScalars.append(UnicodeScalar(value))
                rest = rest.dropFirst(3)
            } else {
                result.append(first)
                rest = rest.dropFirst()
            }
        }
        return result
    }

    /// Returns what a random program reads from a path: it takes some steps, splits the text, and takes steps for each segment.
    private static func program(_ target: String, _ random: inout Random) -> [String] {
        var text = decoded(target) { !["/", "%", ";", "?", "#"].contains($0) }
        for _ in 0..<random.below(6) { text = random.pick(steps)(&random, text) }
        var segments = parts(text).dropFirst().map(String.init)
        if segments.last == "" { segments.removeLast() }
        if random.below(2) == 0 { segments.removeAll { $0.isEmpty } }
        guard random.below(2) == 0 else { return segments }
        // A `/` that is decoded now stays in its segment.
        let count = random.below(3)
        return segments.map { segment in
            (0..<count).reduce(segment) { text, _ in String(decoded(text) { _ in true }.prefix { $0 != ";" }) }
        }
    }

    @Test func `no program reads a path for which another rule decides than the rule that has allowed the request`() {
        var random = Random(seed: 33)
        let pieces = [
            "/", "/", "/", "a", "b", "a", "b", "%61", "%2F", "%2f", "%252F", "%25", "%2561", ";", ";a", "%3B", "%253B",
            "%3F", "%23", "%2e", ".",
        ]
        var (allowed, refused) = (0, 0)
        for _ in 0..<500 {
            let targets = ["/", "/a", "/a/b", "/b", "/a/a"].filter { $0 == "/" || random.below(2) == 0 }
            let made = targets.map { target in
                var rule = ProtectRule(path: target, realms: ["r"], schemes: [.basic], requirements: [.any])
                rule.isExact = target != "/" && random.below(4) == 0
                rule.ambiguousPaths = random.below(8) == 0 ? .refuse : .allow
                return rule
            }
            let rules = ProtectionRules(made)
            for _ in 0..<6 {
                let target = "/" + (0..<1 + random.below(7)).map { _ in random.pick(pieces) }.joined()
                guard let path = try? Self.read(target), path.ambiguity != nil else { continue }
                guard case .rule(let compiled) = rules.match(host: nil as RequestHost?, path: path, method: "GET")
                else {
                    refused += 1
                    continue
                }
                allowed += 1
                #expect(compiled.rule.ambiguousPaths == .allow)
                for _ in 0..<12 {
                    let segments = Self.program(target, &random)
                    let read = RequestPath(segments.map { UTF8Text($0) }, endsInSlash: false)
                    let seen = "\(target) is read as \(segments), with \(made.map(\.target))"
                    #expect(!segments.contains(".") && !segments.contains(".."), "\(seen)")
                    guard case .rule(let other) = rules.match(host: nil as RequestHost?, path: read, method: "GET")
                    else {
                        Issue.record("no rule: \(seen)")
                        continue
                    }
                    #expect(other === compiled, "\(seen): \(compiled.rule.target), \(other.rule.target)")
                }
            }
        }
        #expect(allowed > 300 && refused > 200, "\(allowed), \(refused)")
    }

    @Test func `without ambiguous-paths a rule decides about no ambiguous path`() throws {
        let rules = ProtectionRules([ProtectRule(path: "/", realms: ["r"], schemes: [.basic], requirements: [.any])])
        for target in ["/a%2fb", "/a//b", "/a;b"] {
            let match = rules.match(host: nil as RequestHost?, path: try Self.read(target), method: "GET")
            let isRefused = if case .ambiguousPath = match { true } else { false }
            #expect(isRefused, "\(target)")
        }
    }
}
