// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

struct RetainedSecretsTests {
    @Test func `a report does not retain the conversation`() async throws {
        weak var conversation: RecordingConversation?
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                _ = try await attempt.password()
                return attempt.commit()
            }
        )
        let report = try await {
            let strong = RecordingConversation(password: "lilac")
            conversation = strong
            return await stack(.required(module)).login(try request(), asking: strong)
        }()
        #expect(report.identity != nil)
        #expect(conversation == nil)
    }

    @Test func `a report does not retain a shared password`() async throws {
        weak var shared: Secret?
        let module = ScriptedModule(
            .run { attempt in
                attempt.updateShared { $0[.password] = .secret(Secret(utf8: "lilac")) }
                return attempt.commit()
            },
            commit: .run { attempt in
                Self.secret.set(WeakSecret(attempt.shared.secret(.password)))
                return .done
            }
        )
        let report = try await stack(.required(module)).login()
        #expect(report.identity != nil)
        shared = Self.secret.value?.secret
        #expect(Self.secret.value?.wasThere == true)
        #expect(shared == nil)
    }

    private static let secret = CapturedValue<WeakSecret>()

    private struct WeakSecret: Sendable {
        weak let secret: Secret?
        let wasThere: Bool

        init(_ secret: Secret?) {
            self.secret = secret
            wasThere = secret != nil
        }
    }

    @Test func `a module cannot request a password after the login`() async throws {
        let captured = CapturedValue<LoginAttempt>()
        let module = ScriptedModule(
            .run { attempt in
                captured.set(attempt)
                return attempt.commit()
            }
        )
        _ = try await stack(.required(module)).login()
        let attempt = try #require(captured.value)
        await #expect(throws: LoginFault.internalError("")) { try await attempt.password() }
    }
}
