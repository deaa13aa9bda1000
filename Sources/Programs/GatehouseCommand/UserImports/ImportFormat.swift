// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Bytes
internal import Files

enum ImportFormat: String, CaseIterable, ExpressibleByArgument {
    case htpasswd
    case glassfish
    case authelia
    case keycloak
    case tomcat
    case jetty
    case wildfly

    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// The first bytes of a file, which show its format; none if it cannot be read.
    static func beginning(of path: String) -> [UInt8] {
        (try? OpenFile(path, .reading).part(ofAtMost: 4096, at: 0)) ?? []
    }

    /// The format of a file by the end of its name, or else by its beginning; nil for another file.
    ///
    /// Files of Jetty and of WildFly end in `.properties`, so the beginning of such a file decides first.
    init?(_ file: String, beginning: @autoclosure () -> [UInt8]) {
        guard let named = Self(endOf: file) else {
            self.init(beginning: beginning())
            return
        }
        switch named {
        case .jetty, .wildfly: self = Self(beginning: beginning()) ?? named
        case .htpasswd, .glassfish, .authelia, .keycloak, .tomcat: self = named
        }
    }

    private init?(endOf file: String) {
        let name = file.split(separator: "/").last.map(String.init) ?? ""
        switch UTF8Text(name.split(separator: ".").last.map(String.init) ?? "") {
        case "yml", "yaml": self = .authelia
        case "json": self = .keycloak
        case "xml": self = .tomcat
        case "properties":
            self = name.utf8.reversed().starts(with: "users.properties".utf8.reversed()) ? .wildfly : .jetty
        case _: return nil
        }
    }

    /// The format of a product that the beginning of a file looks like; nil for another file.
    init?(beginning bytes: [UInt8]) {
        switch bytes.first(where: { (0x21...0x7E).contains($0) }) {
        case UInt8(ascii: "<"): self = .tomcat
        case UInt8(ascii: "{"), UInt8(ascii: "["): self = .keycloak
        case _:
            for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
                let value = line.drop { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "=") }.dropFirst().drop {
                    $0 == 0x20
                }
                if line.starts(with: "#$REALM_NAME=".utf8) {
                    self = .wildfly
                } else if line.starts(with: "users:".utf8), value.first ?? UInt8(ascii: "#") == UInt8(ascii: "#") {
                    self = .authelia
                } else if ["MD5:", "CRYPT:", "OBF:"].contains(where: { value.starts(with: $0.utf8) }) {
                    self = .jetty
                } else {
                    continue
                }
                return
            }
            return nil
        }
    }

    /// The name of the file, for messages.
    var file: String {
        switch self {
        case .htpasswd: "an htpasswd file (user:hash)"
        case .glassfish: "a key file of GlassFish (user;hash;groups)"
        case .authelia: "a users_database.yml of Authelia"
        case .keycloak: "an export of Keycloak"
        case .tomcat: "a tomcat-users.xml"
        case .jetty: "a realm.properties of Jetty"
        case .wildfly: "a users.properties of WildFly"
        }
    }

    /// The next step if a file that begins with some bytes cannot be read in this format; nil if it looks like this format.
    func advice(beginning bytes: [UInt8]) -> String? {
        guard let other = Self(beginning: bytes) else {
            return self == .htpasswd || self == .glassfish
                ? nil : "if it is not \(file), give --format: \(Self.names)"
        }
        return other == self ? nil : "it looks like \(other.file): give --format \(other.rawValue)"
    }
}

extension TomcatAlgorithm: ExpressibleByArgument {
    /// Reads the name of an algorithm as it is in server.xml; Java ignores the case, and knows SHA-1 by three names.
    init?(argument: String) {
        let name = argument.lowercased()
        let names = ["sha": "sha-1", "sha1": "sha-1"]
        let canonical = names[name] ?? name
        guard let known = Self.allCases.first(where: { $0.rawValue.lowercased() == canonical }) else { return nil }
        self = known
    }
}
