// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import Bytes
internal import UserImports

/// The format of a file of users.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
    case htpasswd
    case glassfish
    case authelia
    case keycloak
    case tomcat

    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Returns the format of a product by the ending of a file's name; nil for another ending.
    init?(endingOf file: String) {
        switch UTF8Text(file.split(separator: "/").last?.split(separator: ".").last.map(String.init) ?? "") {
        case "yml", "yaml": self = .authelia
        case "json": self = .keycloak
        case "xml": self = .tomcat
        case _: return nil
        }
    }
}

extension TomcatAlgorithm: ExpressibleByArgument {
    /// Reads the name of an algorithm as it is in server.xml; Java ignores the case, and knows SHA-1 by three names.
    package init?(argument: String) {
        let name = argument.lowercased()
        let names = ["sha": "sha-1", "sha1": "sha-1"]
        let canonical = names[name] ?? name
        guard let known = Self.allCases.first(where: { $0.rawValue.lowercased() == canonical }) else { return nil }
        self = known
    }
}
