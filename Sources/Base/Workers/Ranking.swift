// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The sources or the users with waiting jobs, by the number of their jobs.
///
/// The average time of each operation does not grow with the number of names. The names with the same number of jobs are a
/// list, in the order in which they have come to this number.
struct Ranking: Sendable {
    private struct Place {
        var count: Int
        /// The neighbours in the list of the names with this number.
        var before: UTF8Text?
        var after: UTF8Text?
    }

    private struct Ends {
        var first: UTF8Text
        var last: UTF8Text
    }

    private var places: [UTF8Text: Place] = [:]
    /// The ends of the list for each number of jobs.
    private var ends: [Int: Ends] = [:]
    /// The number of jobs of the names with the most jobs.
    private(set) var maximum = 0

    var isEmpty: Bool { places.isEmpty }

    /// The name with the most jobs; of several, that which has come to this number first.
    var first: UTF8Text? { ends[maximum]?.first }

    /// The name with the most jobs; of several, that which has come to this number last.
    var last: UTF8Text? { ends[maximum]?.last }

    /// Returns the number of jobs of a name.
    func count(of name: UTF8Text) -> Int { places[name]?.count ?? 0 }

    /// Counts one more job of a name.
    mutating func add(_ name: UTF8Text) { move(name, by: 1) }

    /// Counts one job fewer of a name, which must have one.
    mutating func remove(_ name: UTF8Text) { move(name, by: -1) }

    private mutating func move(_ name: UTF8Text, by difference: Int) {
        let count = leave(name) + difference
        if count > 0 { join(name, count: count) }
        // The only name with the maximum still has the most jobs after it has lost one.
        if count > maximum || ends[maximum] == nil { maximum = count }
    }

    /// Removes a name from its list; returns the number of its jobs.
    private mutating func leave(_ name: UTF8Text) -> Int {
        guard let place = places.removeValue(forKey: name) else { return 0 }
        if let before = place.before { places[before]?.after = place.after }
        if let after = place.after { places[after]?.before = place.before }
        switch (place.before, place.after) {
        case (nil, nil): ends[place.count] = nil
        case (nil, let after?): ends[place.count]?.first = after
        case (let before?, nil): ends[place.count]?.last = before
        case (_?, _?): break
        }
        return place.count
    }

    /// Adds a name to the end of a list.
    private mutating func join(_ name: UTF8Text, count: Int) {
        let last = ends[count]?.last
        places[name] = Place(count: count, before: last, after: nil)
        if let last { places[last]?.after = name }
        ends[count, default: Ends(first: name, last: name)].last = name
    }
}
