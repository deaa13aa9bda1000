// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmConfiguration

/// A table that finds the rules for a host: those for its name, then those for the domains above it, the longest first, and
/// then those for all hosts.
struct HostTable: Sendable {
    /// The largest number of hosts that are compared one by one; hashing takes longer for so few.
    private static let linearCount = 8

    private let hosts: [HostRules]
    /// True if the hosts are compared one by one.
    private let isLinear: Bool
    private var names: [UTF8Text: Int] = [:]
    private var domains: [UTF8Text: Int] = [:]
    private var any: Int?

    /// The table of hosts.
    ///
    /// - Parameter hosts: The rules of each host, in the order of evaluation.
    init(_ hosts: [HostRules]) {
        self.hosts = hosts
        isLinear = hosts.count <= Self.linearCount
        for (index, rules) in hosts.enumerated() {
            switch rules.host {
            case .any: any = index
            case .name(let name): names[UTF8Text(name)] = index
            case .below(let domain): domains[UTF8Text(domain)] = index
            }
        }
    }

    /// Returns the first result of the hosts that a request may be for.
    ///
    /// - Parameters:
    ///   - host: The host of the request; nil if it has none, so that only rules for all hosts apply.
    ///   - body: Returns a result for the rules of a host; nil to go on with the next host.
    /// - Returns: The result; nil if there is none.
    func first<Result>(for host: RequestHost?, _ body: (HostRules) -> Result?) -> Result? {
        guard !isLinear else {
            for index in hosts.indices where hosts[index].matches(host) {
                if let result = body(hosts[index]) { return result }
            }
            return nil
        }
        if let host {
            if let index = names[UTF8Text(host.name)], let result = body(hosts[index]) { return result }
            if !domains.isEmpty, let result = firstDomain(of: host.name, body) { return result }
        }
        return any.flatMap { body(hosts[$0]) }
    }

    private func firstDomain<Result>(of name: String, _ body: (HostRules) -> Result?) -> Result? {
        let bytes = name.utf8Span.span
        // A domain begins after a dot, and at least one label precedes the dot.
        for dot in bytes.indices where dot > 0 && bytes[dot] == UInt8(ascii: ".") {
            let domain = UTF8Text(repairing: bytes.extracting((dot + 1)..<bytes.count))
            if let index = domains[domain], let result = body(hosts[index]) { return result }
        }
        return nil
    }
}
