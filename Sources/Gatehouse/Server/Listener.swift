// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import LoginConf
internal import NIOCore
internal import RealmConfiguration
internal import ServiceLifecycle
internal import Synchronization

/// A service on one address that tells why it could not be had.
struct Listener<Base: Service>: Service {
    let application: Base
    let address: Placed<ServerSettings.Address>
    let failures: ListenFailures

    func run() async throws {
        do {
            try await application.run()
        } catch {
            failures.note(ListenerErrors.errors(error, address))
            throw error
        }
    }
}

/// Why an address cannot be listened on, shown where it stands.
enum ListenerErrors {
    static func errors(_ error: any Error, _ address: Placed<ServerSettings.Address>) -> ConfigurationErrors {
        switch error {
        case let error as IOError where error.errnoCode == EADDRINUSE:
            address.errors(
                "cannot listen on \(address.value): another program does",
                hint: "stop it, or choose another port"
            )
        case let error as IOError where error.errnoCode == EACCES:
            address.errors("cannot listen on \(address.value): not permitted", hint: "ports below 1024 are for root")
        case let error as IOError:
            address.errors("cannot listen on \(address.value): \(error)")
        default:
            address.errors(
                "cannot listen on \(address.value): \(error)",
                hint: "HOST is a name or an address of this machine"
            )
        }
    }
}

/// The reasons, first come first.
final class ListenFailures: Sendable {
    private let failures = Mutex<[ConfigurationErrors]>([])

    func note(_ failure: ConfigurationErrors) { failures.withLock { $0.append(failure) } }

    var first: ConfigurationErrors? { failures.withLock { $0.first } }
}
