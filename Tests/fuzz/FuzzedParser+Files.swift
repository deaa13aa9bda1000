// SPDX-License-Identifier: Apache-2.0

import Bytes
import Passwords
import RealmKit

@testable import GatehouseCommand

extension FuzzedParser {
    /// JSON, and the files of other products.
    static let files = [
        FuzzedParser("json") { bytes in
            guard let value = try? JSONValue(reading: bytes.span) else { return }
            let written = value.bytes(.required)
            guard let again = try? JSONValue(reading: written.span) else { fatalError("what is written is JSON") }
            check(again.bytes(.required) == written, "a value is read back: \(text(written))")
        },
        importing("authelia-yaml", AutheliaUsers.read), importing("keycloak-json", KeycloakUsers.read),
        importing("tomcat-xml", TomcatUsers(algorithms: [.sha256, .clear]).read),
        importing("jetty-properties", JettyUsers.read),
        importing("wildfly-properties", WildFlyUsers(roles: nil).read),
        FuzzedParser("password-hash") { bytes in
            guard let stored = try? StoredPassword(text(bytes)) else { return }
            check(stored.text.utf8.elementsEqual(text(bytes).utf8), "a hash keeps its text")
        },
    ]

    private typealias Read = @Sendable (_ bytes: [UInt8], _ name: String) throws(BadUserFile) -> ImportedUsers

    private static func importing(_ name: String, _ read: @escaping Read) -> FuzzedParser {
        FuzzedParser(name) { bytes in
            do throws(BadUserFile) {
                let users = try read(bytes, "f").users
                let names = Set(users.map { UTF8Text($0.record.name.text) })
                check(names.count == users.count, "each name is imported once")
                check(users.allSatisfy { $0.place.hasPrefix("f:") }, "each user has a place")
            } catch {
                check(error.description.hasPrefix("f:"), "an error has a place: \(error)")
            }
        }
    }
}
