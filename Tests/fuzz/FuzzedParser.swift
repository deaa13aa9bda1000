// SPDX-License-Identifier: Apache-2.0

/// A parser of bytes from outside, and what must hold for every input.
struct FuzzedParser: Sendable {
    /// The name on the command line, and of the corpus.
    let name: String
    /// Parses an input; a crash, or a promise that is broken, ends the process.
    let parse: @Sendable ([UInt8]) -> Void

    init(_ name: String, _ parse: @escaping @Sendable ([UInt8]) -> Void) { (self.name, self.parse) = (name, parse) }

    static let all = configurations + requests + files + messages + realms

    /// The parser that the command line names.
    static let chosen = CommandLine.arguments.dropFirst().first.flatMap { named($0) }

    static func named(_ name: String) -> FuzzedParser? { all.first { $0.name == name } }
}

/// Ends the process if a promise of a parser is broken.
func check(_ isKept: Bool, _ promise: @autoclosure () -> String) {
    guard !isKept else { return }
    fatalError("broken: \(promise())")
}

func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
