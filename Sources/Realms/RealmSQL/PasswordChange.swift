// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
internal import Passwords
internal import RealmKit
internal import ServerConnections
internal import Workers

/// The change of one user's password in the login dialog.
struct PasswordChange {
    let realm: SQLRealm
    let attempt: LoginAttempt

    /// Asks for a new password.
    ///
    /// - Parameter password: The password that has expired.
    /// - Returns: The new password.
    /// - Throws: ``LoginFault`` of the conversation; of kind `credentialExpired` if the user has given none.
    func newPassword(instead password: Secret) async throws(LoginFault) -> Secret {
        let new = try await attempt.newPassword(instead: password) { realm.rules.refusal(of: $0) }
        guard let new else { throw LoginFault(.credentialExpired, log: "the password has expired") }
        return new
    }

    /// Hashes a password, and stores it if the old hash is still the stored one.
    ///
    /// - Throws: ``LoginFault`` if the hash was not replaced.
    func store(
        _ password: Secret,
        of user: String,
        instead old: String,
        with query: SQLQuery,
        isChange: Bool
    ) async throws(LoginFault) {
        let hash = try await realm.passwords.hash(password)
        let count: Int
        do throws(ServerFault) {
            let owner = JobOwner(
                source: ClientNetwork.source(attempt.peer),
                account: attempt.username.caseFolded
            )
            count = try await realm.users.replace(old, by: hash, of: user, with: query, for: owner)
        } catch {
            throw error.loginFault
        }
        guard count == 1 else {
            throw .unavailable(
                count == 0
                    ? "update-password-query has changed no row; the stored hash may have changed meanwhile"
                    : "update-password-query has changed \(count) rows, and not one"
            )
        }
        attempt.note("update-password-query: 1 row")
        guard isChange else { return }
        do throws(OpenSSLError) {
            try realm.users.replaced.add(old, of: user)
        } catch {
            throw .unavailable("\(error)")
        }
    }
}

/// The bytes of passwords in other character sets, for digests.
enum PasswordEncoding {
    /// Converts a password from UTF-8.
    ///
    /// - Returns: The bytes, and false if the password cannot be written in the character set: it then matches nothing,
    ///   where Java would replace the character by a question mark.
    static func encode(_ password: Secret, as charset: SQLSettings.Charset) -> (Secret, isPossible: Bool) {
        guard charset != .utf8 else { return (password, true) }
        let highest: UInt32 = charset == .latin1 ? 0xFF : 0x7F
        var isPossible = true
        let encoded = password.withBytes { bytes in
            Secret(capacity: bytes.count) { output in
                var place = 0
                while place < bytes.count {
                    let byte = bytes[place]
                    if byte < 0x80 {
                        output.append(byte)
                        place += 1
                    } else if byte & 0xE0 == 0xC0, place + 1 < bytes.count, bytes[place + 1] & 0xC0 == 0x80 {
                        let scalar = UInt32(byte & 0x1F) << 6 | UInt32(bytes[place + 1] & 0x3F)
                        if scalar < 0x80 || scalar > highest { isPossible = false }
                        output.append(UInt8(truncatingIfNeeded: scalar))
                        place += 2
                    } else {
                        isPossible = false
                        output.append(byte)
                        place += 1
                    }
                }
            }
        }
        return (encoded, isPossible)
    }
}
