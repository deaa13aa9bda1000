// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The name of a table or a column, quoted for a query.
///
/// A name is quoted by this program, so it means exactly what the configuration says: PostgreSQL would convert a name
/// without quotes to lower case.
struct SQLIdentifier: Sendable, Hashable {
    /// PostgreSQL cuts longer names without an error.
    static let maximumBytes = 63

    /// The name in double quotes; for a table in a schema, both names.
    let quoted: String
    /// The name as the configuration has it.
    let text: String

    /// Checks a name.
    ///
    /// - Parameters:
    ///   - text: The name of a column, or of a table with an optional schema: `accounts.users`.
    ///   - isTable: True for a table.
    ///   - setting: The name of the property.
    /// - Throws: ``BadRealm`` if a name is empty, too long, or has other characters than letters, digits, `_` and `$`.
    init(_ text: String, isTable: Bool, setting: String) throws(BadRealm) {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isValid =
            parts.count <= (isTable ? 3 : 1)
            && parts.allSatisfy { (1...Self.maximumBytes).contains($0.count) && $0.allSatisfy(Self.isNameByte) }
            && parts.allSatisfy { part in part.first.map { !(0x30...0x39).contains($0) && $0 != 0x24 } ?? false }
        guard isValid else {
            throw BadRealm(
                "is the name of \(isTable ? "a table, such as users or accounts.users" : "a column"): letters, digits, "
                    + "_ and $, at most \(Self.maximumBytes) bytes; use the -query properties for other names",
                setting: setting
            )
        }
        self.text = text
        quoted = parts.map { "\"\(String(decoding: $0, as: UTF8.self))\"" }.joined(separator: ".")
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"):
            true
        // Letters that are not ASCII; the property is UTF-8 already.
        case 0x80...: true
        default: false
        }
    }
}
