// SPDX-License-Identifier: Apache-2.0

/// The text format of Prometheus, version 0.0.4: "Exposition formats" of the Prometheus documentation.
enum PrometheusText {
    /// Returns a valid name of a metric: letters, digits, `_` and `:`; any other character becomes `_`.
    static func name(_ label: String) -> String {
        valid(label) { $0 == ":" }
    }

    /// Returns labels without braces, such as `realm="people",outcome="accepted"`; the first value of a repeated name.
    static func labels(_ dimensions: [(String, String)]) -> String {
        var names: [String] = []
        var texts: [String] = []
        for (name, value) in dimensions {
            let name = valid(name) { _ in false }
            guard !names.contains(name) else { continue }
            names.append(name)
            texts.append("\(name)=\"\(escaped(value, quotes: true))\"")
        }
        return texts.joined(separator: ",")
    }

    static func braced(_ labels: String) -> String { labels.isEmpty ? "" : "{\(labels)}" }

    static func helpText(_ text: String) -> String { escaped(text, quotes: false) }

    /// Returns a number as text; whole numbers without a fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return "\(whole)" }
        return "\(value)"
    }

    private static func valid(_ text: String, _ isAlsoValid: (Unicode.Scalar) -> Bool) -> String {
        var name = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_"
            let isDigit = ("0"..."9").contains(scalar)
            if isDigit, name.isEmpty { name.append("_") }
            name.append(isLetter || isDigit || isAlsoValid(scalar) ? scalar : "_")
        }
        return name.isEmpty ? "_" : String(name)
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
            case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
            case "\"" where quotes: escaped.append(contentsOf: "\\\"".unicodeScalars)
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
