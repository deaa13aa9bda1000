// SPDX-License-Identifier: Apache-2.0

/// The names of all login contexts of a configuration, in all its files.
///
/// A name must be unique in all files of a configuration, as in the JDK. Pass one `LoginContextNames` to all calls of
/// ``LoginConf/parse(_:expansion:names:)``, and add the names of `login` blocks to it.
public struct LoginContextNames: Sendable {
    private struct KnownName {
        let name: String
        let hash: UInt32
        let text: Int
        let range: SourceRange
    }

    private var texts: [SourceText] = []
    private var known: [KnownName] = []
    // A hash table with open addressing. Its values are indices of `known` plus 1; 0 is a free slot. Its size is a
    // power of two, and at least twice the number of names.
    private var slots: [UInt32] = []

    /// Creates an empty set of names.
    public init() {}

    /// Adds a name.
    ///
    /// - Parameters:
    ///   - name: The name of a login context.
    ///   - range: The place of the name.
    ///   - text: The text that contains the name.
    /// - Returns: An error if the name has been added before, with a hint that shows the first place; otherwise nil.
    public mutating func add(_ name: String, at range: SourceRange, in text: SourceText) -> Diagnostic? {
        if 2 * known.count >= slots.count { grow() }
        let hash = Self.hash(name)
        var slot = Int(hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let other = known[Int(slots[slot]) - 1]
            if other.hash == hash, ByteComparedText(other.name) == ByteComparedText(name) {
                return duplicate(of: other, named: name, at: range, in: text)
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        known.append(KnownName(name: name, hash: hash, text: index(of: text), range: range))
        slots[slot] = UInt32(known.count)
        return nil
    }

    // FNV-1a. Only the administrator chooses the names, so attackers cannot cause collisions.
    private static func hash(_ name: String) -> UInt32 {
        name.utf8.reduce(2_166_136_261) { ($0 ^ UInt32($1)) &* 16_777_619 }
    }

    private mutating func grow() {
        slots = Array(repeating: 0, count: max(64, 4 * slots.count))
        for (index, name) in known.enumerated() {
            var slot = Int(name.hash) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = UInt32(index + 1)
        }
    }

    private mutating func index(of text: SourceText) -> Int {
        if texts.last?.bytes != text.bytes || texts.last?.name != text.name { texts.append(text) }
        return texts.count - 1
    }

    @inline(never)
    private func duplicate(
        of other: KnownName,
        named name: String,
        at range: SourceRange,
        in text: SourceText
    ) -> Diagnostic {
        let hint = "the first one is at \(texts[other.text].place(of: other.range))"
        return text.error(at: range, "a second login context \(DiagnosticText.word(name))", hint: hint)
    }
}

/// The options of the module that is being parsed; if a key is set twice, the second value replaces the first.
struct ModuleOptionList {
    /// The number of options that are compared one after the other; all further options are in a table.
    private static let tableThreshold = 16

    private var options: [ModuleOption] = []
    private var indexByKey: [ByteComparedText: Int] = [:]

    var isEmpty: Bool { options.isEmpty }

    func key(ofValueAt range: SourceRange) -> String? { options.first { $0.valueRange == range }?.key }

    /// Returns the options in an array without spare capacity.
    func array() -> [ModuleOption] { Array(options[...]) }

    mutating func removeAll() {
        options.removeAll(keepingCapacity: true)
        if !indexByKey.isEmpty { indexByKey.removeAll() }
    }

    /// Adds an option, and returns the option with the same key that it replaces.
    mutating func add(_ option: ModuleOption) -> ModuleOption? {
        if let index = index(of: option.key) {
            let earlier = options[index]
            options[index] = option
            return earlier
        }
        if options.count >= Self.tableThreshold { indexByKey[ByteComparedText(option.key)] = options.count }
        options.append(option)
        return nil
    }

    @inline(__always)
    private func index(of key: String) -> Int? {
        let key = ByteComparedText(key)
        if options.count > Self.tableThreshold, let index = indexByKey[key] { return index }
        return options.prefix(Self.tableThreshold).firstIndex { ByteComparedText($0.key) == key }
    }
}

/// A string that is compared byte by byte.
///
/// `String` treats canonically equivalent texts as equal. The JDK does not, and login.conf is compared as in the JDK.
struct ByteComparedText: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (one: ByteComparedText, other: ByteComparedText) -> Bool {
        one.text == other.text && one.text.utf8.elementsEqual(other.text.utf8)
    }
}
