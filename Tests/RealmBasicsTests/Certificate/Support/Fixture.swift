// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import RealmTesting
import TLSTesting

@testable import RealmBasics

/// A realm with a fixed time, and logins with certificates.
struct Fixture {
    /// 2026-01-01 00:00 UTC.
    static let now = 1_767_225_600

    static func services(now: Int = now, log: RealmLog? = nil) -> RealmServices {
        var services = RealmServices()
        services[WallClock.self] = WallClock { now }
        services[RealmLog.self] = log
        return services
    }

    /// Creates a realm from properties as in realms.conf.
    static func realm(
        _ properties: [String: [String]] = [:],
        services: RealmServices = services()
    ) throws -> CertificateRealm {
        var values: [String: PropertyValue] = [:]
        for (name, words) in properties {
            values[name] = try PropertyValue(words, as: CertificateRealm.properties[name]?.kind ?? .list)
        }
        return try CertificateRealm(
            RealmProperties(values, schema: CertificateRealm.properties, realmName: "cards", services: services)
        )
    }

    static func module(of realm: any Realm, options: [String: String] = [:]) throws -> CertificateLoginModule {
        var values: [String: PropertyValue] = [:]
        for (name, text) in options {
            let kind = CertificateLoginModule.options[name]?.kind ?? .string
            let words = kind == .list ? text.split(separator: ",").map(String.init) : [text]
            values[name] = try PropertyValue(words, as: kind)
        }
        let schema = CertificateLoginModule.options
        return try CertificateLoginModule(
            realm: realm,
            options: ModuleOptions(values, schema: schema, realmName: "cards", services: services())
        )
    }

    /// Logs a user in as the scheme `certificate` does: with the name in the certificate.
    static func login(
        _ template: CertificateTemplate,
        _ properties: [String: [String]] = [:],
        now: Int = now
    ) async throws -> Outcome {
        let realm = try realm(properties, services: services(now: now))
        return try await login(template.der, stack: stack([.init(module(of: realm), .required)]))
    }

    static func login(_ der: [UInt8], stack: LoginStack) async throws -> Outcome {
        let name: Username
        do throws(LoginFault) {
            name = try await stack.username(ofCertificate: der)
        } catch {
            return Outcome(fault: error)
        }
        let conversation = PreparedConversation(name: name.text, certificate: der)
        let report = await stack.login(LoginRequest(realm: "cards", username: name), asking: conversation)
        return Outcome(report)
    }

    static func stack(_ entries: [LoginStack.Entry]) -> LoginStack {
        LoginStack(name: "certificateRealm", entries, clock: ManualClock())
    }

    /// The result of a login.
    struct Outcome {
        var name: String?
        var groups: [String] = []
        var attributes: [UserAttribute] = []
        var kind: LoginFailure?
        var log = ""

        init(fault: LoginFault) { (kind, log) = (fault.kind, fault.log) }

        init(_ report: LoginReport) {
            name = report.identity?.username.text
            groups = report.identity?.groups ?? []
            attributes = report.identity?.attributes ?? []
            kind = report.refusal?.failure
            log = report.steps.lazy.compactMap(\.fault).first?.log ?? ""
        }
    }

    /// A private folder that is removed with the object.
    final class Folder: Sendable {
        let path: String

        init() throws {
            path = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// Replaces a file as an administrator should: a new file takes the place of the old one.
        @discardableResult
        func write(_ text: String, to name: String = "map") throws -> String {
            let file = "\(path)/\(name)"
            try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
            return file
        }
    }
}

/// A realm of another type.
struct OtherRealm: Realm {
    static let properties: PropertySchema = []
    let jaasContext = "other"
    let authType = "other"

    init() {}
    init(_ properties: RealmProperties) throws(BadRealm) {}
}
