// SPDX-License-Identifier: Apache-2.0

/// Rows with aligned columns.
package enum Table {
    /// The maximum width of a column, in characters.
    ///
    /// A longer cell is not cut, and does not widen its column. The cells after it in its row are then not aligned.
    private static let maximumWidth = 80

    /// Returns the rows as lines, with control characters replaced.
    package static func lines(_ rows: [[String]]) -> [String] { Columns(of: rows).lines(rows) }

    /// The widths of the columns of a table.
    package struct Columns {
        private let widths: [Int]

        /// The widths for some rows of a table.
        package init(of rows: [[String]]) {
            let rows = rows.map { $0.map(Printable.line) }
            let columns = rows.map(\.count).max() ?? 0
            widths = (0..<columns).map { column in
                rows.map { $0.count > column && $0[column].count <= maximumWidth ? $0[column].count : 0 }.max() ?? 0
            }
        }

        /// Returns rows as lines, with control characters replaced.
        ///
        /// The rows may be further rows of the same table. Their cells may be too wide for the columns.
        package func lines(_ rows: [[String]]) -> [String] {
            rows.map { row in
                let cells = row.map(Printable.line).enumerated().map { column, cell in
                    let width = column < widths.count ? widths[column] : 0
                    return column == row.count - 1
                        ? cell : cell + String(repeating: " ", count: max(0, width - cell.count))
                }
                return cells.joined(separator: "  ")
            }
        }
    }
}
