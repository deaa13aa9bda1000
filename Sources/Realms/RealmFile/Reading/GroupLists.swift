// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// Lists of groups that share their beginnings.
///
/// A list is known by its number. Adding the same group to the same list twice returns the same number.
struct GroupLists {
    /// The list without groups.
    static let empty = 0

    /// A user in a group.
    struct Member: Hashable {
        let user: Int
        let group: Int
    }

    private struct Link: Hashable {
        let list: Int
        let group: Int
    }

    /// The last group of each list, and the list before that group; the first element stands for the empty list.
    private var links = [Link(list: 0, group: -1)]
    private var numbers: [Link: Int] = [:]
    private var groups: [String] = []
    private var groupNumbers: [UTF8Text: Int] = [:]

    /// Returns the number of a group.
    mutating func number(of group: String) -> Int {
        if let known = groupNumbers[UTF8Text(group)] { return known }
        groupNumbers[UTF8Text(group)] = groups.count
        groups.append(group)
        return groups.count - 1
    }

    /// Returns the last group of a list; nil for the empty list.
    func lastGroup(of list: Int) -> Int? { list == Self.empty ? nil : links[list].group }

    /// Returns the list with another group at its end.
    mutating func adding(_ group: Int, to list: Int) -> Int {
        let link = Link(list: list, group: group)
        if let known = numbers[link] { return known }
        numbers[link] = links.count
        links.append(link)
        return links.count - 1
    }

    /// Returns the names of the groups of a list, in order.
    func names(_ list: Int) -> [String] {
        var names: [String] = []
        var list = list
        while list != Self.empty {
            names.append(groups[links[list].group])
            list = links[list].list
        }
        return names.reversed()
    }
}
