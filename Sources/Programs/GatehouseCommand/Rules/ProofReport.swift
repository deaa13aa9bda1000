// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import Prover
internal import RealmConfiguration
internal import RealmKit

/// The proofs about the realms and rules of a configuration.
struct ProofReport {
    /// A stack, with what it grants.
    private struct Proof {
        /// The name of a realm, a service or a login context.
        let subject: String
        let title: String
        /// The modules whose success grants a login.
        let grantedBy: String
        /// The same under assumptions about a module.
        let assumptions: [(text: String, grantedBy: String)]
        let canGrant: Bool
    }

    struct Finding {
        let subject: String
        let kind: String
        let text: String
        let place: String

        /// The line of a file with accepted findings.
        var line: String { "\(kind): \(subject): \(text)" }
    }

    private var proofs: [Proof] = []
    private var rules: [(rule: ProtectRule, realms: [String])] = []
    private(set) var findings: [Finding] = []
    /// The stacks that are too large, about which nothing is proved.
    private(set) var tooLarge: [String] = []

    init() {}

    /// Proves what the named realms, login contexts and rules grant, or all of them.
    init(_ configuration: Configuration, names: [String]) throws(CommandError) {
        let chosen = configuration.rules.filter {
            names.isEmpty || names.contains($0.path) || names.contains($0.target)
        }
        let used = Set(chosen.flatMap(\.realms))
        let realms = configuration.realms.filter { realm in
            names.isEmpty || realm.isMeant(by: names) || used.contains(realm.name)
        }
        for name in names where chosen.allSatisfy({ $0.path != name && $0.target != name }) {
            guard !realms.contains(where: { $0.isMeant(by: [name]) }) else { continue }
            throw CommandError(.usage, "there is no realm, login context or rule \(name)")
        }
        for realm in realms {
            let title = "realm \(realm.name), login context \(realm.stack.name)"
            add(StackModel(realm.stack), of: realm.name, title: title)
        }
        let granting = Dictionary(proofs.map { ($0.subject, $0) }) { first, _ in first }
        let naming = realms.filter { $0.isUsed(by: .certificate) }.map(\.name)
        for rule in chosen {
            let sets = rule.realms.map { name in
                let isUsed = !rule.schemes.contains(.certificate) || naming.contains(name)
                return "realm \(name)\(isUsed ? "" : ", not by certificate"): \(granting[name]?.grantedBy ?? "nothing")"
            }
            rules.append((rule, sets))
            guard rule.access == .users, rule.realms.allSatisfy({ !(granting[$0]?.canGrant ?? false) }) else {
                continue
            }
            let text = "the rule admits nobody, because none of its realms grants a login"
            findings.append(Finding(subject: rule.target, kind: "vacuous", text: text, place: rule.place))
        }
    }

    /// Proves what a stack grants; a stack that is too large is only noted.
    mutating func add(_ model: StackModel, of subject: String, title: String) {
        do {
            try prove(model, of: subject, title: title)
        } catch {
            tooLarge.append(subject)
            let text = "modules that are not known: the stack is too large for a proof"
            proofs.append(Proof(subject: subject, title: title, grantedBy: text, assumptions: [], canGrant: true))
        }
    }

    private mutating func prove(
        _ model: StackModel,
        of subject: String,
        title: String
    ) throws(DecisionDiagrams.TooLarge) {
        var proof = try StackProof(model)
        func text(_ sets: MinimalSets?) -> String {
            guard let sets else { return "more than \(MinimalSets.maximumCount) sets of modules" }
            if sets.sets.isEmpty { return "nothing" }
            return sets.sets.map { set in
                set.isEmpty ? "no success needed" : set.map { model.name(of: $0) }.joined(separator: " and ")
            }.joined(separator: ", or ")
        }
        let grantedBy = text(proof.strictSets)
        let ignored = model.answers.first { $0.outcome == .ignored }?.name ?? ""
        var (assumptions, opens): ([(text: String, grantedBy: String)], [Finding]) = ([], [])
        // An assumption that changes nothing is left out.
        func note(_ assumption: String, _ sets: MinimalSets?) {
            let sets = text(sets)
            if !sets.utf8.elementsEqual(grantedBy.utf8) { assumptions.append((assumption, sets)) }
        }
        note("if others give further answers, such as \(ignored)", proof.grantingSets)
        for (name, entries) in proof.modules where proof.canGrant {
            let down = try proof.whileUnavailable(Set(entries))
            note("while \(name) is unavailable", down.strictSets)
            if let opening = down.opening {
                let answers = opening.filter { !entries.contains($0.key) }
                let condition = answers.isEmpty ? "every login" : "if \(model.text(answers))"
                let message = "an outage of \(name) grants what its refusal would not: \(condition)"
                let place = model.entries[entries[0]].place
                opens.append(Finding(subject: subject, kind: "opens", text: message, place: place))
            }
            note("if \(name) accepts every user", try proof.whileAccepting(Set(entries), isStrict: true))
        }
        let found = try proof.findings()
        findings += opens
        for finding in found {
            let place = (finding.entry ?? model.entries.indices.first).map { model.entries[$0].place } ?? ""
            findings.append(Finding(subject: subject, kind: finding.kind.rawValue, text: finding.text, place: place))
        }
        proofs.append(
            Proof(
                subject: subject,
                title: title,
                grantedBy: grantedBy,
                assumptions: assumptions,
                canGrant: proof.canGrant
            )
        )
    }

    /// Removes the findings that a file lists.
    mutating func accept(_ lines: [String]) {
        let known = Set(lines.map { UTF8Text($0) })
        findings.removeAll { known.contains(UTF8Text($0.line)) }
    }

    // MARK: Output

    var text: String {
        var lines: [String] = []
        for proof in proofs {
            lines.append(proof.title)
            lines.append("  granted by \(proof.grantedBy)")
            lines += proof.assumptions.map { "  \($0.text): \($0.grantedBy)" }
        }
        for (rule, realms) in rules {
            lines.append("protect \((rule.methods + [rule.target]).joined(separator: " "))")
            switch rule.access {
            case .open: lines.append("  every request, without a sign-in")
            case .nobody: lines.append("  no request")
            case .users:
                let requirements = rule.requirements.map(\.description).joined(separator: ", or ")
                lines.append("  \(rule.schemes.map(\.rawValue).joined(separator: ", ")); requires \(requirements)")
                lines += realms.map { "  \($0)" }
            }
        }
        lines += findings.map { ($0.place.isEmpty ? "" : "\($0.place): ") + $0.line }
        return lines.joined(separator: "\n")
    }

    var json: JSONValue {
        let stacks = proofs.map { proof -> JSONValue in
            [
                "subject": .text(proof.subject), "title": .text(proof.title),
                "grantedBy": .text(proof.grantedBy),
                "assumptions": .array(
                    proof.assumptions.map { ["assumption": .text($0.text), "grantedBy": .text($0.grantedBy)] }
                ),
            ]
        }
        let rules = rules.map { rule, realms -> JSONValue in
            [
                "rule": .text(rule.target), "place": .text(rule.place), "access": .text("\(rule.access)"),
                "methods": .texts(rule.methods),
                "schemes": .texts(rule.schemes.map(\.rawValue)),
                "requires": .texts(rule.requirements.map(\.description)),
                "grantedBy": .texts(realms),
            ]
        }
        return [
            "stacks": .array(stacks), "rules": .array(rules),
            "findings": .array(
                findings.map {
                    [
                        "kind": .text($0.kind), "subject": .text($0.subject), "text": .text($0.text),
                        "place": .text($0.place),
                    ]
                }
            ),
        ]
    }

    /// The findings as SARIF 2.1.0 (OASIS), with their places.
    var sarif: JSONValue {
        let results = findings.map { finding -> JSONValue in
            let parts = finding.place.split(separator: ":")
            let numbers = parts.suffix(2).compactMap { Int($0) }
            let file = parts.dropLast(2).joined(separator: ":")
            let location: JSONValue = [
                "physicalLocation": [
                    "artifactLocation": ["uri": .text(file)],
                    "region": numbers.count == 2
                        ? ["startLine": .number(numbers[0]), "startColumn": .number(numbers[1])] : nil,
                ]
            ]
            return [
                "ruleId": .text(finding.kind), "level": .text("warning"),
                "message": ["text": .text("\(finding.subject): \(finding.text)")],
                "locations": numbers.count == 2 ? .array([location]) : nil,
            ]
        }
        let rules = (StackFinding.Kind.allCases.map(\.rawValue) + ["opens"]).map { ["id": .text($0)] as JSONValue }
        return [
            "$schema": .text("https://json.schemastore.org/sarif-2.1.0.json"), "version": .text("2.1.0"),
            "runs": .array([
                [
                    "tool": ["driver": ["name": .text("gatehouse prove"), "rules": .array(rules)]],
                    "results": .array(results),
                ]
            ]),
        ]
    }
}
