// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import RealmConfiguration
internal import RealmKit
internal import Synchronization

extension GatehouseOptions {
    /// `gatehouse realm`: commands about realms.
    struct RealmTests: CommandGroup {
        static let configuration = CommandConfiguration(
            commandName: "realm",
            abstract: "Test the servers of a realm.",
            subcommands: [Test.self]
        )

        struct Test: Subcommand {
            static let configuration = CommandConfiguration(
                commandName: "test",
                abstract: "Connect to the servers of a realm and look a user up, without a password.",
                discussion: """
                    Each step is printed with its result and its time. Exit status 4 if a step fails. authcheck tests a \
                    password.
                    """
            )
            @OptionGroup var options: ConfigurationOptions
            @Argument(help: "The realm.") var realm: String
            @Argument(help: "A user to look up as at a login.") var user: String?

            func perform(_ kinds: [RealmKind]) async throws {
                let configuration = try GatehouseCommand.load(options, kinds: kinds, access: .existingOnly)
                let bound = try configuration.realm(realm)
                let name = try user.map { text in try Username(argument: text) }
                guard let result = await RealmTest.run(bound, user: name) else {
                    throw CommandError(
                        .failed,
                        "realm \(bound.name) is a \(bound.className), which has no servers to test; test a login with authcheck"
                    )
                }
                guard result else { throw CommandError(.unavailable, "") }
            }
        }
    }
}

enum RealmTest {
    /// Tests the servers of a realm, and prints each step; false if one has failed, nil if the realm has no test.
    static func run(_ bound: BoundRealm, user: Username?) async -> Bool? {
        guard let realm = bound.realm as? any TestableRealm else { return nil }
        let hasFailed = Atomic(false)
        await realm.testBackEnd(user: user) { step in
            if step.isFailure { hasFailed.store(true, ordering: .relaxed) }
            let mark = step.isFailure ? "FAILED" : "ok    "
            GatehouseCommand.print(Printable.line("\(mark)  \(step.text)"))
        }
        return !hasFailed.load(ordering: .relaxed)
    }

    static func runAll(_ configuration: Configuration) async throws {
        var failed: [String] = []
        for bound in configuration.realms where bound.realm is any TestableRealm {
            GatehouseCommand.print("realm \(bound.name)")
            if await run(bound, user: nil) == false { failed.append(bound.name) }
        }
        guard failed.isEmpty else {
            throw CommandError(.unavailable, "servers cannot be used: realm \(failed.joined(separator: ", "))")
        }
    }
}
