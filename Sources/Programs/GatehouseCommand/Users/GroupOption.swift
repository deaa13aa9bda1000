// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// An option that takes the name of one group, and is repeated for several groups.
enum GroupOption {
    /// Refuses a value with a comma, which is a list of groups in other programs.
    ///
    /// - Parameters:
    ///   - values: The values of the option.
    ///   - option: The name of the option.
    /// - Throws: `ValidationError` with the options to write instead.
    static func check(_ values: [String], option: String) throws {
        guard let list = values.first(where: { $0.utf8.contains(UInt8(ascii: ",")) }) else { return }
        let names = list.unicodeScalars.split(separator: ",").map { part in
            String(part.drop { $0 == " " })
        }.filter { !$0.isEmpty }
        let correction = names.count > 1 ? ": " + names.map { "\(option) \($0)" }.joined(separator: " ") : ""
        throw ValidationError("the name of a group has no comma; repeat \(option) for each group\(correction)")
    }
}
