// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Synchronization
import Testing

@testable import HelperProcesses

/// The lines of a log.
private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var list: [String] { lines.withLock { $0 } }

    var log: RealmLog { RealmLog { [self] _, line in lines.withLock { $0.append(line) } } }
}

struct HelperOutputTests {
    private static let withheld = "helper: (a line with the secret of the login is not logged)"

    /// Returns the log of an output with secrets.
    private func log(_ output: String, secrets: [String]) -> [String] {
        let lines = Lines()
        var written = HelperOutput(of: "helper", log: lines.log)
        written.begin()
        for secret in secrets { written.withhold(Secret(utf8: secret)) }
        _ = written.add(Array(output.utf8)[...])
        written.flush()
        return lines.list
    }

    @Test func `lines with any secret of the request are not logged`() {
        let lines = log("one\nis lilac!\ncode 123456\ntwo", secrets: ["lilac", "123456"])
        #expect(lines == ["helper: one", Self.withheld, Self.withheld, "helper: two"])
        #expect(log("pin 007\nend\n", secrets: ["007"]) == [Self.withheld, "helper: end"])
        #expect(log("one\nli\nlac\ntwo\n", secrets: ["li\nlac"]).filter { $0 == Self.withheld }.count == 2)
        #expect(log("lilac\n", secrets: []) == ["helper: lilac"])
    }

    @Test func `a secret that becomes known after the output is not logged`() {
        let lines = Lines()
        var written = HelperOutput(of: "helper", log: lines.log)
        written.begin(secrets: [Secret(utf8: "lilac")])
        _ = written.add(Array("the code is 123456\n".utf8)[...])
        written.withhold(Secret(utf8: "123456"))
        written.begin()
        let list = lines.list
        #expect(list == [Self.withheld])
    }

    @Test func `a secret of an earlier request is not logged, in a later one and between them`() {
        let lines = Lines()
        var written = HelperOutput(of: "helper", log: lines.log)
        for secret in ["lilac", "basil", "code\nx"] {
            written.begin(secrets: [Secret(utf8: secret)])
            _ = written.add(Array("checking\n".utf8)[...])
        }
        written.begin(secrets: [Secret(utf8: "other")])
        _ = written.add(Array("was lilac\nand basil!\nfree\n".utf8)[...])
        written.begin()
        _ = written.add(Array("late other\n".utf8)[...])
        written.flush()
        #expect(
            lines.list == [
                "helper: checking", "helper: checking", "helper: checking", Self.withheld, Self.withheld,
                "helper: free",
                Self.withheld,
            ]
        )
    }

    @Test func `as many earlier secrets are remembered as one process serves in a while`() {
        let lines = Lines()
        var written = HelperOutput(of: "helper", log: lines.log)
        for number in 0...SecretMarks.maximum { written.begin(secrets: [Secret(utf8: "secret-\(number).")]) }
        written.begin()
        _ = written.add(Array("secret-2. secret-0.\n".utf8)[...])
        _ = written.add(Array("secret-\(SecretMarks.maximum).\nsecret-0.\n".utf8)[...])
        written.flush()
        #expect(lines.list == [Self.withheld, Self.withheld, "helper: secret-0."])
    }

    @Test func `no part of a secret is logged where the output is cut`() {
        for count in 12_170...12_300 {
            let start = String(repeating: "x", count: count - 100) + "\n" + String(repeating: "y", count: 99)
            let lines = log(start + "0123456789\n" + String(repeating: "z", count: 9000), secrets: ["0123456789"])
            #expect(!lines.contains { $0.contains("0") }, "\(count)")
        }
    }
}
