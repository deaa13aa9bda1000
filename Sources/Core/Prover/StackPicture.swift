// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

extension StackModel {
    /// The stack as a graph in the DOT language of Graphviz: modules, the effect of their answers, and the ends.
    ///
    /// The answers with the same effect share an arrow. A stack grants a login at its end if a success has counted, and no
    /// failure.
    package var dot: String {
        var lines = [
            "digraph \(Self.quoted(name)) {", "  node [shape=box, fontname=\"sans-serif\"];",
            "  edge [fontname=\"sans-serif\", fontsize=10];",
            "  end [shape=oval, label=\"end: granted if a success counts\\nand no failure\"];",
            "  refused [shape=oval];",
        ]
        for index in entries.indices where entries[index].level < 0 {
            let label = "\(entries[index].name): reached if a success counts\nand no failure"
            lines.append("  m\(index) [shape=oval, label=\(Self.quoted(label))];")
            if index + 1 < entries.count { lines.append("  m\(index) -> m\(index + 1);") }
        }
        let modules = entries.indices.filter { entries[$0].hasModule }
        for index in modules {
            let entry = entries[index]
            let label = entry.control.isEmpty ? entry.name : "\(entry.name)\n\(entry.control)"
            lines.append("  m\(index) [label=\(Self.quoted(label))];")
            for (target, label) in arrows(from: index) {
                lines.append("  m\(index) -> \(target) [label=\(Self.quoted(label))];")
            }
        }
        return (lines + ["}"]).joined(separator: "\n")
    }

    /// The places that the answers of a module lead to, with the answers and their actions.
    private func arrows(from index: Int) -> [(target: String, label: String)] {
        let entry = entries[index]
        var arrows: [(target: String, action: Action, answers: [String])] = []
        for answer in entry.onlyAnswer.map({ $0..<($0 + 1) }) ?? answers.indices {
            var walk = StackWalk(at: index, in: stack)
            let action = entry.actions[answer]
            walk.count(answers[answer].outcome, of: index, as: action, in: stack)
            let next = walk.nextModule(in: stack)
            // Behind the last module of a part, the boundary of the next one decides.
            let boundary = entries[index...].firstIndex { $0.level < 0 }
            let place = next.flatMap { next in boundary.map { min(next, $0) } ?? next } ?? boundary
            let target = action == .die && next == nil ? "refused" : place.map { "m\($0)" } ?? "end"
            if let known = arrows.firstIndex(where: { $0.action == action && $0.target.utf8.elementsEqual(target.utf8) }
            ) {
                arrows[known].answers.append(answers[answer].name)
            } else {
                arrows.append((target, action, [answers[answer].name]))
            }
        }
        let most = arrows.map(\.answers.count).max() ?? 0
        return arrows.map { arrow in
            let isRest = arrow.answers.count == most && most > 3
            let names =
                isRest ? (arrows.count == 1 ? "any answer" : "other answers") : arrow.answers.joined(separator: ", ")
            return (arrow.target, "\(names): \(arrow.action)")
        }
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }
}
