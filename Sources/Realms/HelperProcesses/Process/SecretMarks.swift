// SPDX-License-Identifier: Apache-2.0

internal import RealmKit

/// The secrets of earlier requests to a process, as lengths and keyed hashes.
///
/// A program that runs on may write what it has printed in an earlier login, because C and Python keep output back until a
/// buffer is full. The secrets themselves are not kept.
struct SecretMarks {
    /// The number of secrets that are remembered; with more, the oldest are forgotten.
    static let maximum = 1024

    /// The SipHash with the random key of this process is that of `Hasher`.
    private struct Mark: Hashable {
        let length: Int
        let hash: Int

        init(_ bytes: Span<UInt8>) {
            var hasher = Hasher()
            for index in bytes.indices { hasher.combine(bytes[index]) }
            length = bytes.count
            hash = hasher.finalize()
        }
    }

    private var marks: Set<Mark> = []
    private var order: [Mark] = []

    /// The length of the longest secret, in bytes.
    var longest: Int { marks.map(\.length).max() ?? 0 }

    /// Remembers a secret.
    mutating func add(_ secret: Secret) {
        guard !secret.isEmpty else { return }
        let mark = secret.withBytes { Mark($0) }
        guard marks.insert(mark).inserted else { return }
        order.append(mark)
        if order.count > Self.maximum { marks.remove(order.removeFirst()) }
    }

    /// Finds all places of the secrets.
    func places(in bytes: [UInt8]) -> [Range<Int>] {
        var places: [Range<Int>] = []
        for length in Set(marks.map(\.length)) where length <= bytes.count {
            for start in 0...(bytes.count - length) {
                let place = start..<(start + length)
                if marks.contains(Mark(bytes.span.extracting(place))) { places.append(place) }
            }
        }
        return places
    }
}
