// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The code blocks of a page in docs, for tests that run them.
struct DocumentationPage {
    private let lines: [Substring]

    /// Reads a page.
    ///
    /// - Parameter path: The path in the folder docs.
    /// - Throws: An error of Foundation if the file cannot be read.
    init(_ path: String) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../docs/\(path)").standardized
        lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Returns the blocks of a language in the order of the page.
    ///
    /// - Parameter language: The word after the fence, such as `realms.conf`.
    /// - Returns: The texts between the fences.
    func blocks(_ language: String) -> [String] {
        var blocks: [String] = []
        var block: [Substring]?
        for line in lines {
            if line.hasPrefix("```") {
                if let block { blocks.append(block.map { $0 + "\n" }.joined()) }
                block = block == nil && line == "```\(language)" ? [] : nil
            } else {
                block?.append(line)
            }
        }
        return blocks
    }
}
