// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The options of a module that is being read; a later value of a key replaces the earlier one.
struct ModuleOptionList {
    /// The number of options from which keys are looked up in a table instead of one after the other.
    private static let manyOptions = 16

    private var options: [ModuleOption] = []
    private var places: [ExactText: Int] = [:]

    var isEmpty: Bool { options.isEmpty }

    /// Returns the options in an array without spare capacity.
    func taken() -> [ModuleOption] { Array(options[...]) }

    mutating func removeAll() {
        options.removeAll(keepingCapacity: true)
        if !places.isEmpty { places.removeAll() }
    }

    /// Adds an option.
    ///
    /// Returns the earlier option with the same key, which it replaces.
    mutating func add(_ option: ModuleOption) -> ModuleOption? {
        if let place = place(of: option.key) {
            let earlier = options[place]
            options[place] = option
            return earlier
        }
        if options.count >= Self.manyOptions { places[ExactText(option.key)] = options.count }
        options.append(option)
        return nil
    }

    @inline(__always)
    private func place(of key: String) -> Int? {
        let key = ExactText(key)
        if options.count > Self.manyOptions, let place = places[key] { return place }
        return options.prefix(Self.manyOptions).firstIndex { ExactText($0.key) == key }
    }
}
