// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import RealmKit

/// A name and a password as they came in a request, in one wiped piece of memory.
///
/// They are taken apart only where somebody has to be logged in: for most requests it is enough to know that they are the
/// same as some seconds ago.
public struct BasicCredentials: Sendable {
    private let secret: Secret
    private let colon: Int

    /// Takes what was decoded; nil where nobody can have such a name and password.
    ///
    /// - Parameter decoded: Name, colon, password.
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

    /// Lends the bytes of the name and of the password.
    func withBytes<Result>(_ body: (_ name: Span<UInt8>, _ password: Span<UInt8>) -> Result) -> Result {
        secret.withBytes { bytes in
            body(bytes.extracting(0..<colon), bytes.extracting((colon + 1)..<bytes.count))
        }
    }

    /// The name and the password, taken apart.
    ///
    /// - Returns: Nil where nobody can have such a name, or the bytes are not UTF-8 (RFC 7617 section 2.1).
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
