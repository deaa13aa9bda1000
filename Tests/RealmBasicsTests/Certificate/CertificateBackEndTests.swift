// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import RealmTesting
import TLSTesting
import Testing

@testable import RealmBasics

/// The realm and its mapping file under the conformance test for back ends.
struct CertificateBackEndTests {
    private static func certificate(of name: String) -> [UInt8] {
        var template = CertificateTemplate()
        template.subject = [[("2.5.4.3", .utf8(name))]]
        return template.der
    }

    @Test func `the realm keeps the contract while its mapping file is missing, damaged and unsafe`() async throws {
        let folder = try Fixture.Folder()
        let entries = """
            subject CN=ann issuer "CN=Town CA,O=Town" user ann groups Staff Users
            subject CN=bob issuer "CN=Town CA,O=Town" user robert groups Users

            """
        let file = try folder.write(entries)
        let deadline = Duration.seconds(10)
        let restore: @Sendable () throws -> Void = { try folder.write(entries) }
        var conformance = RealmBackEndConformance(
            users: [
                .init("ann", certificate: Self.certificate(of: "ann"), groups: ["Staff", "Users"]),
                .init("robert", certificate: Self.certificate(of: "bob"), groups: ["Users"]),
            ],
            rejectedUsers: [
                // Certificates without an entry, and with the entry of another user.
                .init("zed", certificate: Self.certificate(of: "zed")),
                .init("bob", certificate: Self.certificate(of: "bob")),
            ],
            faults: [
                BackEndFault("the mapping file is missing", effect: .none, causes: ["No such file"]) {
                    try FileManager.default.removeItem(atPath: file)
                } end: {
                    try restore()
                },
                BackEndFault("the mapping file is damaged", effect: .none, causes: ["previous entries are kept"]) {
                    try folder.write("subject CN=ann user")
                } end: {
                    try restore()
                },
                BackEndFault("every user may write to the mapping file", effect: .none, causes: ["chmod o-w"]) {
                    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
                } end: {
                    try restore()
                },
            ],
            deadline: deadline
        ) { services in
            var services = services
            services[WallClock.self] = WallClock { Fixture.now }
            return try .forConformance(
                RealmKind(CertificateRealm.self, modules: CertificateLoginModule.self),
                properties: ["name-from": ["mapping"], "mapping-file": [file]],
                services: services,
                deadline: deadline
            )
        }
        conformance.skip(.deadline, .cancellation, .release, reason: "a file does not hang")
        conformance.skip(.secrets, .processes, reason: "certificates are not secret")
        let report = await conformance.check()
        #expect(report.violations == [])
        #expect(report.checked.count == RealmBackEndConformance.Check.allCases.count - 7, "\(report)")
    }
}
