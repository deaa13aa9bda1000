// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CArgon2

/// Argon2 (RFC 9106), computed by libargon2.
struct Argon2: KeyDerivation {
    enum Kind: String, Sendable, CaseIterable {
        case argon2d, argon2i, argon2id

        fileprivate var type: argon2_type {
            switch self {
            case .argon2d: Argon2_d
            case .argon2i: Argon2_i
            case .argon2id: Argon2_id
            }
        }
    }

    struct Parameters: Sendable, Hashable {
        /// The memory, in KiB.
        let memory: Int
        let passes: Int
        let lanes: Int

        /// The memory in the first recommendation of RFC 9106 section 4: 2 GiB, in KiB.
        static let maximumMemory = 2 << 20
        static let maximumPasses = 64
        static let maximumLanes = 64
        /// The maximum product of the memory in KiB and the passes: about ten seconds.
        static let maximumWork = 16 << 20
    }

    /// The version: 0x13, or 0x10 for hashes of the first draft.
    let version: UInt32
    let kind: Kind
    let parameters: Parameters
    let salt: [UInt8]
    let storedHash: [UInt8]

    static let versions = [0x10, 0x13]

    var cost: HashCost {
        let (m, t, p) = (parameters.memory, parameters.passes, parameters.lanes)
        // Version 0x10 has a cost of its own because it is a little faster than 0x13.
        let version = version == 0x13 ? "" : "v=\(version),"
        return HashCost(
            format: kind.rawValue,
            parameters: "\(version)m=\(m),t=\(t),p=\(p)",
            memory: m << 10,
            time: .nanoseconds(600 * m * t)
        )
    }

    var scheme: HashScheme? {
        guard kind == .argon2id, version == 0x13, salt.count >= 16, storedHash.count >= 32 else { return nil }
        return .argon2id(memory: parameters.memory, passes: parameters.passes, lanes: parameters.lanes)
    }

    func derive(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws {
        let code = unsafe bytes.withUnsafeMutableBufferPointer { bytes in
            unsafe password.withUnsafeBufferPointer { password in
                unsafe salt.span.withUnsafeBufferPointer { salt in
                    var context = unsafe argon2_context()
                    unsafe context.out = bytes.baseAddress
                    unsafe context.outlen = UInt32(clamping: bytes.count)
                    // libargon2 does not write to the password and the salt: the flags for wiping them are not set.
                    unsafe context.pwd = UnsafeMutablePointer(mutating: password.baseAddress)
                    unsafe context.pwdlen = UInt32(clamping: password.count)
                    unsafe context.salt = UnsafeMutablePointer(mutating: salt.baseAddress)
                    unsafe context.saltlen = UInt32(clamping: salt.count)
                    unsafe context.t_cost = UInt32(clamping: parameters.passes)
                    unsafe context.m_cost = UInt32(clamping: parameters.memory)
                    unsafe context.lanes = UInt32(clamping: parameters.lanes)
                    // One thread computes all lanes. The number of threads does not change the result.
                    unsafe context.threads = 1
                    unsafe context.version = version
                    return unsafe argon2_ctx(&context, kind.type)
                }
            }
        }
        guard code == 0 else {
            let text = unsafe argon2_error_message(code).map { unsafe String(cString: $0) } ?? "error \(code)"
            throw HashFault(.failed, "\(kind.rawValue): \(text)")
        }
    }
}

/// The PHC strings of Argon2, such as `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`; without `v=` the version is 0x10.
enum Argon2Format: PasswordFormat {
    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let kind = Argon2.Kind.allCases.first(where: { stored.hasPrefix("$\($0.rawValue)$") }) else { return nil }
        let all = try HashFields(stored.dropFirst(kind.rawValue.count + 2), of: kind.rawValue, counts: 3...4)
        var version = 0x10
        if all.fields.count == 4 {
            guard all[0].hasPrefix("v=") else { throw all.fault("the first field does not begin with v=") }
            version = try all.number(all[0].dropFirst(2), named: "v", in: 0...255)
            guard Argon2.versions.contains(version) else { throw all.fault("version \(version) is neither 16 nor 19") }
        }
        let fields = all.fields.suffix(3)
        let first = fields.startIndex
        let isKeyed = fields[first].split(separator: ",").contains { $0.hasPrefix("keyid=") || $0.hasPrefix("data=") }
        if isKeyed { throw all.fault("keyid and data are not supported") }
        let numbers = try all.numbers(
            fields[first],
            named: [
                ("m", 8...Argon2.Parameters.maximumMemory), ("t", 1...Argon2.Parameters.maximumPasses),
                ("p", 1...Argon2.Parameters.maximumLanes),
            ]
        )
        let parameters = Argon2.Parameters(memory: numbers[0], passes: numbers[1], lanes: numbers[2])
        guard parameters.memory >= 8 * parameters.lanes else { throw all.fault("m is less than 8 times p") }
        guard parameters.memory * parameters.passes <= Argon2.Parameters.maximumWork else {
            throw all.fault("m times t is more than \(Argon2.Parameters.maximumWork)")
        }
        return Argon2(
            version: UInt32(version),
            kind: kind,
            parameters: parameters,
            salt: try all.bytes(fields[first + 1], named: "salt", base64: .unpadded, in: 8...64),
            storedHash: try all.bytes(fields[first + 2], named: "hash", base64: .unpadded, in: 12...64)
        )
    }
}

extension Argon2: StorableKeyDerivation {
    func text(_ key: [UInt8]) -> String {
        let (m, t, p) = (parameters.memory, parameters.passes, parameters.lanes)
        return "$\(kind.rawValue)$v=\(version)$m=\(m),t=\(t),p=\(p)"
            + "$\(Base64.unpadded.encode(salt.span))$\(Base64.unpadded.encode(key.span))"
    }
}
