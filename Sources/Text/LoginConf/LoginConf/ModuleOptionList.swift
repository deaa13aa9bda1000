// SPDX-License-Identifier: Apache-2.0

/// The options of the module that is being parsed; if a key is set twice, the second value replaces the first.
struct ModuleOptionList {
    /// The number of options that are compared one after the other; all further options are in a table.
    private static let tableThreshold = 16

    private var options: [ModuleOption] = []
    private var indexByKey: [ByteComparedText: Int] = [:]

    var isEmpty: Bool { options.isEmpty }

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
