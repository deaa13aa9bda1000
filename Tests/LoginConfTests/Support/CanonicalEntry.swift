// SPDX-License-Identifier: Apache-2.0

import LoginConf
import RealmKit

/// The parts of a login context that the JDK reports, with texts as UTF-16 code units.
struct CanonicalEntry: Equatable {
    /// The name; nil if the JDK accepts a context without a name.
    let name: [UInt16]?
    let modules: [CanonicalModule]

    init(name: [UInt16]?, modules: [CanonicalModule]) {
        self.name = name
        self.modules = modules
    }

    init(_ entry: LoginEntry) {
        name = Array(entry.name.utf16)
        modules = entry.modules.map(CanonicalModule.init)
    }
}

struct CanonicalModule: Equatable {
    let className: [UInt16]
    /// The control flag in upper case.
    let flag: String
    let options: [[UInt16]: [UInt16]]

    init(className: [UInt16], flag: String, options: [[UInt16]: [UInt16]]) {
        self.className = className
        self.flag = flag
        self.options = options
    }

    init(_ module: ModuleEntry) {
        className = Array(module.className.utf16)
        flag = module.flag.rawValue.uppercased()
        let pairs = module.options.map { (Array($0.key.utf16), Array($0.value.utf16)) }
        options = Dictionary(uniqueKeysWithValues: pairs)
    }
}

extension [CanonicalEntry] {
    /// The entries in the order of the recorded answers: by name.
    var byName: [CanonicalEntry] {
        sorted { ($0.name ?? []).lexicographicallyPrecedes($1.name ?? []) }
    }
}
