// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmKit

/// A `realm` block with its name.
struct RealmDeclaration {
    let name: String
    let word: RealmsConfWord
    let block: [Statement]
}

/// The realms of a file while they are linked: creates each realm once, the realms that it refers to before it.
///
/// A realm that refers to itself, directly or through other realms, is an error at the reference that closes the cycle.
final class RealmReferences {
    private enum Progress {
        case linking
        case linked(BoundRealm?)
    }

    private static let maximumDepth = 8

    private let declarations: [RealmDeclaration]
    private let builder: ConfigurationBuilder
    private let make: (RealmDeclaration, RealmReferences) -> BoundRealm?
    private var progress: [Int: Progress] = [:]
    /// The indices of the realms that are being linked; each refers to the next one.
    private var path: [Int] = []

    init(
        _ declarations: [RealmDeclaration],
        builder: ConfigurationBuilder,
        make: @escaping (RealmDeclaration, RealmReferences) -> BoundRealm?
    ) {
        self.declarations = declarations
        self.builder = builder
        self.make = make
    }

    /// Returns the realm of a declaration; nil if it has an error, which has been reported.
    func realm(_ index: Int) -> BoundRealm? {
        if case .linked(let realm) = progress[index] { return realm }
        progress[index] = .linking
        path.append(index)
        let realm = make(declarations[index], self)
        path.removeLast()
        progress[index] = .linked(realm)
        return realm
    }

    /// Returns the realms with the names in the words of a property; nil after an error.
    func value(_ words: [RealmsConfWord], of property: String) -> PropertyValue? {
        var realms: [BoundRealm] = []
        var names: [String] = []
        for word in words {
            guard let name = builder.knownName(word, as: "realm", among: declarations.map(\.name)),
                let index = declarations.firstIndex(where: { $0.name == name })
            else { continue }
            guard !names.contains(name) else {
                builder.error(at: word.range, "\(name) occurs twice in \(property)")
                continue
            }
            names.append(name)
            guard !reportCycle(index, at: word) else { continue }
            if path.count < Self.maximumDepth {
                guard let realm = realm(index) else { continue }
                if path.count + realm.depth <= Self.maximumDepth {
                    realms.append(realm)
                    continue
                }
            }
            builder.error(at: word.range, "more than \(Self.maximumDepth) realms refer to each other in a chain")
        }
        // A realm that is missing here has been reported.
        return realms.count == words.count ? .realms(realms) : nil
    }

    /// Reports a reference that closes a cycle; returns whether it does.
    private func reportCycle(_ index: Int, at word: RealmsConfWord) -> Bool {
        guard let start = path.firstIndex(of: index) else { return false }
        let names = (path[start...] + [index]).map { declarations[$0].name }
        let message = "realm \(declarations[index].name) would use itself"
        builder.error(at: word.range, message, hint: "the references are \(names.joined(separator: " -> "))")
        return true
    }
}
