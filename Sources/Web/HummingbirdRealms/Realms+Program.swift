// SPDX-License-Identifier: Apache-2.0

public import Hummingbird
internal import LoginConf
internal import NIOCore
internal import RealmConfiguration

extension Realms {
    /// Runs an application with its services until SIGTERM or SIGINT.
    ///
    /// - Parameter application: The application, with the realms among its services.
    /// - Throws: `ConfigurationErrors` with the line of `listen`, if the application cannot listen on ``address``; the
    ///   errors of the application otherwise.
    public func serve(_ application: some ApplicationProtocol) async throws {
        do {
            try await application.runService()
        } catch let error as IOError {
            guard let listen = configuration.server.listen.first, application.configuration.address == address,
                let errors = listen.bindErrors(error.errnoCode)
            else { throw error }
            throw errors
        }
    }
}

/// Runs a program, and ends the process with status 3 if its configuration has errors.
///
/// The errors are printed on standard error, with their places.
///
/// ```swift
/// try await exitOnConfigurationErrors {
///     let realms = try await Realms("realms.conf", kinds: builtInRealms, logger: logger)
///     ...
///     try await realms.serve(application)
/// }
/// ```
///
/// - Parameter program: Creates the realms, and runs the application.
/// - Throws: All other errors of the program.
public func exitOnConfigurationErrors(_ program: () async throws -> Void) async throws {
    do {
        try await program()
    } catch let errors as ConfigurationErrors {
        errors.exit()
    }
}
