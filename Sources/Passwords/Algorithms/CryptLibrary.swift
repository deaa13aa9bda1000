// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CCrypt
internal import OpenSSLKit

/// crypt(3) of libxcrypt, with memory of its own for every call.
enum CryptLibrary {
    /// The longest password it takes.
    static let mostBytes = Int(gatehouse_crypt_max_passphrase)

    /// Hashes a password as a setting says, and lends the result.
    ///
    /// - Parameters:
    ///   - password: Without a NUL, of ``mostBytes`` at most.
    ///   - setting: Method, cost and salt: a hash as it is stored, or what ``setting(_:cost:)`` makes.
    ///   - body: Reads the hash.
    /// - Returns: What `body` returns.
    /// - Throws: ``HashFault`` with code `failed`: the setting is none, no memory.
    static func hash<R>(_ password: Span<UInt8>, _ setting: String, _ body: (Span<UInt8>) -> R) throws(HashFault) -> R {
        let phrase = WipedBytes(terminating: password)
        let data = WipedBytes(count: Int(gatehouse_crypt_data_size))
        let result: R? = unsafe phrase.withPointer { phrase in
            unsafe data.withPointer { data in
                unsafe setting.withCString { setting in
                    guard let phrase = unsafe phrase?.assumingMemoryBound(to: CChar.self),
                        let output = unsafe crypt_rn(phrase, setting, data, gatehouse_crypt_data_size),
                        // Its tokens of failure begin so.
                        unsafe output.pointee != CChar(bitPattern: UInt8(ascii: "*"))
                    else { return nil }
                    var count = 0
                    while unsafe output[count] != 0 { count += 1 }
                    return body(
                        unsafe Span(
                            _unsafeStart: UnsafeRawPointer(output).assumingMemoryBound(to: UInt8.self),
                            count: count
                        )
                    )
                }
            }
        }
        guard let result else { throw HashFault(.failed, "crypt(3) could not compute the hash") }
        return result
    }

    /// Makes a setting with a new salt.
    ///
    /// - Parameters:
    ///   - prefix: The method, as in `$2b$`.
    ///   - cost: The method's cost.
    /// - Returns: The setting.
    /// - Throws: ``HashFault`` with code `failed`: the cost is out of bounds, no randomness.
    static func setting(_ prefix: String, cost: Int) throws(HashFault) -> String {
        let random: [UInt8]
        do {
            random = try RandomBytes.make(16)
        } catch {
            throw HashFault(error)
        }
        let characters = random.map { CChar(bitPattern: $0) }
        var output = [CChar](repeating: 0, count: Int(CRYPT_GENSALT_OUTPUT_SIZE))
        let made = unsafe crypt_gensalt_rn(
            prefix,
            UInt(clamping: cost),
            characters,
            Int32(characters.count),
            &output,
            CRYPT_GENSALT_OUTPUT_SIZE
        )
        guard unsafe made != nil else { throw HashFault(.failed, "crypt(3) does not take a cost of \(cost)") }
        return String(decoding: output.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
