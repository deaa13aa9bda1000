// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// A user name and a password of HTTP Basic, in one block of memory that is wiped after use.
///
/// For most requests, the credentials are only looked up in the credential cache. The name and the password are
/// separated only for a login.
public struct BasicCredentials: Sendable {
    private let secret: Secret
    private let colon: Int

    /// Creates credentials from the decoded bytes; nil if no user can have such a name or password.
    ///
    /// - Parameter decoded: The user name, a colon and the password.
    init?(_ decoded: Secret) {
        secret = decoded
        colon = decoded.withBytes { bytes in
            var colon = -1
            guard bytes.count <= BasicScheme.maximumBytes else { return -1 }
            for index in bytes.indices {
                let byte = bytes[index]
                guard byte >= 0x20, byte != 0x7F else { return -1 }
                if byte == UInt8(ascii: ":"), colon < 0 { colon = index }
            }
            return colon
        }
        guard colon > 0 else { return nil }
    }

    /// Calls a closure with the bytes of the user name and of the password, and returns its result.
    func withBytes<Result>(_ body: (_ name: Span<UInt8>, _ password: Span<UInt8>) -> Result) -> Result {
        secret.withBytes { bytes in
            body(bytes.extracting(0..<colon), bytes.extracting((colon + 1)..<bytes.count))
        }
    }

    /// Returns the user name and the password as separate values.
    ///
    /// - Returns: The user name and the password; nil if the name is not valid, or if the bytes are not UTF-8 (RFC 7617
    ///   section 2.1).
    public func separated() -> (username: Username, password: Secret)? {
        withBytes { name, password in
            let parts = unsafe name.withUnsafeBufferPointer { name in
                unsafe password.withUnsafeBufferPointer { password -> (String, Secret)? in
                    guard let text = unsafe String(validating: name, as: UTF8.self),
                        unsafe String(validating: password, as: UTF8.self) != nil
                    else { return nil }
                    return (text, unsafe Secret(password))
                }
            }
            guard let (text, password) = parts else { return nil }
            do throws(BadUsername) {
                return (try Username(text), password)
            } catch {
                return nil
            }
        }
    }
}
