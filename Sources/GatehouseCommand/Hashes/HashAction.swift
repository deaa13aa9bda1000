// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions
internal import Glibc
internal import LentServices
internal import Passwords
internal import RealmConfiguration
internal import RealmKit
internal import Store

extension GatehouseOptions.Hash: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        if calibrate {
            try find()
            return
        }
        let settings = try passwordSettings(kinds)
        let secret = try await password.read(for: "the hash")
        do throws(HashFault) {
            try settings.check(secret)
            GatehouseCommand.print(try settings.policy.hash(secret), on: STDOUT_FILENO)
        } catch {
            throw ActionFault(.failed, error.description)
        }
    }

    /// What the configuration says; the defaults where there is none and none was named.
    private func passwordSettings(_ kinds: [RealmKind]) throws(ActionFault) -> PasswordSettings {
        let isThere = unsafe access(ConfigurationPath.standard, F_OK) == 0
        guard options.config != nil || isThere else { return PasswordSettings() }
        let services = ProgramServices(.look, log: RealmLog { _, _ in })
        return try GatehouseCommand.load(options, kinds, services).passwords
    }

    private func find() throws(ActionFault) {
        guard (1...60_000).contains(time), (1...65_536).contains(memory) else {
            throw ActionFault(.usage, "--time is from 1 to 60000 ms, --memory from 1 to 65536 MiB")
        }
        let clock = SystemClock()
        let calibration = Calibration(target: .milliseconds(time)) { .nanoseconds(clock.now) }
        do throws(HashFault) {
            let found = try calibration.argon2id(memory: memory << 20)
            let (seconds, attoseconds) = found.time.components
            let taken = seconds * 1000 + attoseconds / 1_000_000_000_000_000
            GatehouseCommand.print(
                "# \(taken) ms a check on one processor of this machine, alone on it",
                on: STDOUT_FILENO
            )
            if found.time > .milliseconds(time) {
                GatehouseCommand.print("# that is longer than --time; less would be weak", on: STDOUT_FILENO)
            }
            if let warning = found.policy.warning { GatehouseCommand.print("# warning: \(warning)", on: STDOUT_FILENO) }
            GatehouseCommand.print("passwords {\n    hash  \(found.policy);\n}", on: STDOUT_FILENO)
        } catch {
            throw ActionFault(.failed, error.description)
        }
    }
}
