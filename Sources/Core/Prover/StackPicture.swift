// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// An arrow of a picture: the answers of a module that have the same effect.
struct StackArrow: Hashable {
    /// The place that an answer leads to.
    enum Target: Hashable {
        /// Another entry of the stack, which may be a boundary.
        case entry(Int)
        case granted, refused
    }

    let action: Action
    let destination: Target
    /// True if the same answers can also lead to another place, because of the answers before them.
    let dependsOnOthers: Bool
    fileprivate(set) var label = ""
}

extension StackModel {
    /// Returns the arrows from each module, by all states in which a login can reach it.
    func arrows() throws(DecisionDiagrams.TooLarge) -> [[StackArrow]] {
        var walks = StackWalks(self)
        try walks.explore()
        return entries.indices.map { entry in
            var (arrows, names): ([StackArrow], [StackArrow: [String]]) = ([], [:])
            let possible = entries[entry].onlyAnswer.map { $0..<($0 + 1) } ?? answers.indices
            for (position, answer) in possible.enumerated() {
                var targets: [StackArrow.Target] = []
                for ends in walks.ends[entry] {
                    let target = target(of: ends[position], from: entry)
                    if !targets.contains(target) { targets.append(target) }
                }
                for target in targets {
                    let action = entries[entry].actions[answer]
                    let arrow = StackArrow(action: action, destination: target, dependsOnOthers: targets.count > 1)
                    if names[arrow] == nil { arrows.append(arrow) }
                    names[arrow, default: []].append(answers[answer].name)
                }
            }
            let most = names.values.map(\.count).max() ?? 0
            return arrows.map { arrow in
                let own = names[arrow] ?? []
                let isRest = own.count == most && most > 3
                let text =
                    isRest
                    ? (own.count == possible.count ? "any answer" : "other answers") : own.joined(separator: ", ")
                var arrow = arrow
                arrow.label = "\(text): \(arrow.action)"
                return arrow
            }
        }
    }

    private func target(of end: StackWalks.End, from entry: Int) -> StackArrow.Target {
        switch end {
        case .grants: return .granted
        case .refuses, .undecided: return .refused
        case .state(let next, _):
            // The boundary between two parts of a stack is passed if the first part grants the login.
            return .entry(entries[(entry + 1)..<next].lastIndex { $0.level < 0 } ?? next)
        }
    }

    /// The text for an entry without a module that is drawn; nil for other entries.
    private func boundaryLabel(_ index: Int) -> String? {
        entries[index].level < 0 ? "\(entries[index].name): if granted so far" : nil
    }

    // MARK: DOT

    /// The stack as a graph in the DOT language of Graphviz: modules, the effect of their answers, and the ends.
    ///
    /// The answers with the same effect share an arrow; it is dashed if the answers before them decide, too.
    package var dot: String {
        get throws(DecisionDiagrams.TooLarge) {
            var lines = [
                "digraph \(Self.quoted(name)) {", "  node [shape=box, fontname=\"sans-serif\"];",
                "  edge [fontname=\"sans-serif\", fontsize=10];", "  granted [shape=oval];", "  refused [shape=oval];",
            ]
            for (index, arrows) in try arrows().enumerated() {
                let entry = entries[index]
                if let label = boundaryLabel(index) {
                    lines.append("  m\(index) [shape=oval, label=\(Self.quoted(label))];")
                    let next = entries[index...].firstIndex(where: \.hasModule)
                    if let next { lines.append("  m\(index) -> m\(next);") }
                } else if entry.hasModule {
                    let label = entry.control.isEmpty ? entry.name : "\(entry.name)\n\(entry.control)"
                    lines.append("  m\(index) [label=\(Self.quoted(label))];")
                }
                for arrow in arrows {
                    let style = arrow.dependsOnOthers ? ", style=dashed" : ""
                    let label = Self.quoted(arrow.label)
                    lines.append("  m\(index) -> \(arrow.destination.dotName) [label=\(label)\(style)];")
                }
            }
            return (lines + ["}"]).joined(separator: "\n")
        }
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { ["\\": "\\\\", "\"": "\\\"", "\n": "\\n"][$0] ?? String($0) }
        return "\"\(escaped.joined())\""
    }

    // MARK: SVG

    /// Returns stacks as one picture in SVG: modules from top to bottom, arrows to later ones on the left, the ends on the right.
    ///
    /// An arrow is dashed if the answers before it decide, too.
    package static func svg(of stacks: [StackModel]) throws(DecisionDiagrams.TooLarge) -> String {
        var (lines, width, height): ([String], Int, Int) = ([], 0, 0)
        for stack in stacks {
            let picture = SVGPicture(stack, arrows: try stack.arrows(), boundaryLabel: stack.boundaryLabel)
            lines += ["<g transform='translate(0 \(height))'>"] + picture.lines + ["</g>"]
            (width, height) = (max(width, picture.width), height + picture.height)
        }
        return SVGPicture.document(lines, width: width, height: height)
    }
}

extension StackArrow.Target {
    fileprivate var dotName: String {
        switch self {
        case .entry(let index): "m\(index)"
        case .granted: "granted"
        case .refused: "refused"
        }
    }
}

/// The layout of a stack as SVG, in pixels.
private struct SVGPicture {
    private static let character = 7
    private static let line = 16
    private static let gap = 14

    private(set) var lines: [String] = []
    private(set) var height = 36
    var width: Int { exits + 70 }
    /// The vertical range of the box of each entry.
    private var boxes: [Int: Range<Int>] = [:]
    private var left = 0
    private var boxWidth = 0
    /// The place of the ends.
    private var exits = 0
    /// The number of arrows on the left that have been drawn.
    private var lanes = 0

    init(_ model: StackModel, arrows: [[StackArrow]], boundaryLabel: (Int) -> String?) {
        let shown = model.entries.indices.filter { model.entries[$0].hasModule || model.entries[$0].level < 0 }
        let rows = shown.enumerated().map { position, index -> Row in
            let entry = model.entries[index]
            let texts = boundaryLabel(index).map { [$0] } ?? [entry.name, entry.control].filter { !$0.isEmpty }
            let next = position + 1 < shown.count ? StackArrow.Target.entry(shown[position + 1]) : nil
            return Row(entry: index, texts: texts, arrows: arrows[index], next: next, isBoundary: entry.level < 0)
        }
        let sideways = rows.flatMap(\.sideways)
        left = 20 + Self.width(sideways.map(\.label)) + 12 * sideways.count
        boxWidth = Self.width(rows.flatMap(\.texts)) + 24
        exits = left + boxWidth + 24 + Self.width(rows.flatMap(\.outwards).map(\.label))
        text(model.name, 20, 22, " class='name'")
        for row in rows { draw(row, isLast: row.entry == rows.last?.entry) }
        for row in rows {
            for (line, arrow) in row.sideways.enumerated() { drawSideways(arrow, from: row.entry, line: line) }
        }
        height += 10
    }

    /// An entry with its arrows: to the next entry, to later ones, and to the ends.
    private struct Row {
        let entry: Int
        let texts: [String]
        let downwards, sideways, outwards: [StackArrow]
        let isBoundary: Bool

        init(entry: Int, texts: [String], arrows: [StackArrow], next: StackArrow.Target?, isBoundary: Bool) {
            (self.entry, self.texts, self.isBoundary) = (entry, texts, isBoundary)
            downwards = arrows.filter { $0.destination == next }
            outwards = arrows.filter { $0.destination == .granted || $0.destination == .refused }
            sideways = arrows.filter {
                $0.destination != next && $0.destination != .granted && $0.destination != .refused
            }
        }
    }

    private static func width(_ texts: [String]) -> Int { (texts.map(\.count).max() ?? 0) * character }

    private mutating func draw(_ row: Row, isLast: Bool) {
        let count = max(row.texts.count, row.outwards.count, row.sideways.count)
        let box = height..<(height + count * Self.line + 12)
        boxes[row.entry] = box
        let size = "width='\(boxWidth)' height='\(box.count)' rx='\(row.isBoundary ? 14 : 3)'"
        lines.append("<rect x='\(left)' y='\(box.lowerBound)' \(size)/>")
        let middle = left + boxWidth / 2
        for (line, label) in row.texts.enumerated() {
            let style = " text-anchor='middle'" + (line == 0 ? " class='name'" : "")
            text(label, middle, box.lowerBound + 18 + line * Self.line, style)
        }
        for (line, arrow) in row.outwards.enumerated() {
            let y = box.lowerBound + 16 + line * Self.line
            let end = arrow.destination == .granted ? "granted" : "refused"
            path("M\(left + boxWidth) \(y) H\(exits)", isDashed: arrow.dependsOnOthers)
            text(arrow.label, left + boxWidth + 8, y - 3)
            text(end, exits + 6, y + 4, " class='\(end)'")
        }
        height = box.upperBound
        guard !isLast else { return }
        for (line, arrow) in row.downwards.enumerated() {
            text(arrow.label, middle + 8, height + 15 + line * Self.line)
        }
        let bottom = height + max(1, row.downwards.count) * Self.line + Self.gap
        if !row.downwards.isEmpty || row.isBoundary {
            let isDashed = !row.isBoundary && row.downwards.allSatisfy(\.dependsOnOthers)
            path("M\(middle) \(height) V\(bottom)", isDashed: isDashed)
        }
        height = bottom
    }

    private mutating func drawSideways(_ arrow: StackArrow, from entry: Int, line: Int) {
        guard case .entry(let target) = arrow.destination, let box = boxes[entry], let other = boxes[target] else {
            return
        }
        lanes += 1
        let (lane, y) = (left - 12 * lanes, box.lowerBound + 14 + line * Self.line)
        path("M\(left) \(y) H\(lane) V\(other.lowerBound + 8) H\(left)", isDashed: arrow.dependsOnOthers)
        text(arrow.label, lane - 4, y + 12, " text-anchor='end'")
    }

    private mutating func path(_ points: String, isDashed: Bool) {
        lines.append("<path d='\(points)'\(isDashed ? " stroke-dasharray='4 3'" : "") marker-end='url(#head)'/>")
    }

    private mutating func text(_ text: String, _ x: Int, _ y: Int, _ attributes: String = "") {
        // A combining mark makes one character with the sign before it, so each scalar is read alone.
        let scalars = text.unicodeScalars.filter { $0.value < 0xFFFE || $0.value > 0xFFFF }
        let escaped = scalars.map { ["&": "&amp;", "<": "&lt;", ">": "&gt;"][$0] ?? String($0) }.joined()
        lines.append("<text x='\(x)' y='\(y)'\(attributes)>\(escaped)</text>")
    }

    static func document(_ lines: [String], width: Int, height: Int) -> String {
        let size = "viewBox='0 0 \(width) \(height)' width='\(width)' height='\(height)'"
        let head = """
            <svg xmlns='http://www.w3.org/2000/svg' \(size)>
            <style>
            text{font:12px monospace;fill:#222} .name{font-weight:bold}
            .granted{font-weight:bold;fill:#060} .refused{font-weight:bold;fill:#900}
            rect{fill:#f4f6fa;stroke:#456} path{fill:none;stroke:#456}
            </style>
            <defs><marker id='head' markerWidth='8' markerHeight='8' refX='7' refY='4' orient='auto'>\
            <path d='M0 0 L8 4 L0 8 z' style='fill:#456'/></marker></defs>
            <rect width='100%' height='100%' style='fill:#fff;stroke:none'/>
            """
        return ([head] + lines + ["</svg>"]).joined(separator: "\n")
    }
}
