// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import RealmKit
import Testing

struct NotBuiltInTests {
    private func diagnostics(_ text: String) -> [String] {
        var folder = MemoryFolder(text)
        let hint = "build with: swift build --traits default,Moon"
        folder.kinds = [
            RealmKind(notBuiltIn: ["MoonRealm", "org.moon.Realm"], modules: [["MoonLoginModule"]], hint: hint)
        ]
        return folder.diagnostics()
    }

    @Test(arguments: ["MoonRealm", "org.moon.Realm"])
    func `a realm that the program was built without is an error that contains how to build it in`(name: String) {
        let text = """
            login moon { PermitLoginModule required; }
            realm moon {
                class \(name);
                jaas-context moon;
                crater tycho;
            }
            """
        #expect(
            diagnostics(text) == [
                "etc/realms.conf:3:11: error: \(name) is not built into this program"
                    + " | build with: swift build --traits default,Moon"
            ]
        )
    }

    @Test func `a module that the program was built without is an error that contains how to build it in`() {
        let text = """
            login x { MoonLoginModule required phase=full; }
            realm x {
                class StartWithRealm;
                jaas-context x;
            }
            """
        #expect(
            diagnostics(text) == [
                "etc/realms.conf:1:11: error: MoonLoginModule is not built into this program"
                    + " | build with: swift build --traits default,Moon"
            ]
        )
    }

    @Test(arguments: [OptionalRealm.ldap, .pam])
    func `a program without a realm knows all names that a program with it knows`(realm: OptionalRealm) throws {
        let kind = try #require(builtInRealms.first { $0.classNames.first == realm.classNames.first })
        #expect(kind.classNames == realm.classNames)
        #expect(kind.modules.map(\.names) == [realm.moduleNames])
    }
}
