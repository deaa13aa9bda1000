// SPDX-License-Identifier: Apache-2.0

import Passwords
import RealmKit
import SeededRandom
import TestTools
import Testing

@Suite struct HashFuzzTests {
    private static let bytes = Array("$,={}./+:;*!\\ 0123456789azAZ\u{0}\u{7f}\u{e9}rounds".utf8)

    private func mutated(_ text: String, _ generator: inout Random) -> String {
        var bytes = Array(text.utf8)
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let place = Int.random(in: 0..<max(1, bytes.count), using: &generator)
            let byte = Self.bytes.randomElement(using: &generator) ?? 0
            switch Int.random(in: 0..<6, using: &generator) {
            case 0 where !bytes.isEmpty: bytes[place] = byte
            case 1 where !bytes.isEmpty: bytes.remove(at: place)
            case 2: bytes.insert(byte, at: place)
            case 3 where !bytes.isEmpty: bytes.swapAt(place, bytes.indices.randomElement(using: &generator) ?? 0)
            case 4: bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator))
            case _ where !bytes.isEmpty: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case _: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: HashVector.all)
    func `reading a mutated hash neither crashes nor computes a costly hash`(vector: HashVector) {
        var generator = Random(seed: UInt64(vector.stored.utf8.count))
        let texts = (0..<300).map { _ in mutated(vector.stored, &generator) }
        let cost = ProcessorTime.measureThread {
            for text in texts { _ = try? PasswordFormats.read(text, options: vector.options) }
        }
        // Reading takes a few milliseconds. The computation of a hash above the cost bounds takes at least ten seconds.
        #expect(cost < 10e9)
    }

    @Test(arguments: HashVector.all.filter { !$0.isCostly })
    func `a mutated hash that is still valid does not match the password`(vector: HashVector) throws {
        var generator = Random(seed: 7 + UInt64(vector.stored.utf8.count))
        let original = try vector.read()
        var checked = 0
        for _ in 0..<500 where checked < 5 {
            let text = mutated(vector.stored, &generator)
            guard text != vector.stored, let hash = try? PasswordFormats.read(text, options: vector.options),
                hash.cost == original.cost
            else { continue }
            checked += 1
            let matches = (try? hash.matches(vector.secret)) ?? false
            #expect(!matches || Self.isSame(text, vector.stored), "\(text)")
        }
    }

    /// Returns whether two texts have the same meaning.
    ///
    /// The case of a scheme's name does not matter, the name of Argon2 may be general, and bcrypt's prefixes 2a, 2b and 2y are
    /// equal.
    private static func isSame(_ text: String, _ other: String) -> Bool {
        func plain(_ text: String) -> String {
            var text = text
            if text.hasPrefix("{"), let end = text.firstIndex(of: "}") {
                let name = text[...end].uppercased()
                text = (name.hasPrefix("{ARGON2I") ? "{ARGON2}" : name) + text[text.index(after: end)...]
            }
            for prefix in ["2a", "2y", "2b"] {
                if let range = text.firstRange(of: "$\(prefix)$") { text.replaceSubrange(range, with: "$2b$") }
                if let range = text.firstRange(of: "\(prefix),") { text.replaceSubrange(range, with: "2b,") }
            }
            return text
        }
        // Every beginning of a key of PBKDF2 is itself a key, and Tomcat's keys may be shorter than a digest.
        if other.hasPrefix("{TOMCAT-PBKDF2-"), text.utf8.count > other.utf8.count - 96, other.hasPrefix(text) {
            return true
        }
        return plain(text) == plain(other)
    }
}
