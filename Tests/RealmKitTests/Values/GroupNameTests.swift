// SPDX-License-Identifier: Apache-2.0

import RealmKit
import Testing

struct GroupNameTests {
    @Test func `a list of groups quotes the names that could be read as several ones`() {
        #expect(GroupName.list([]) == "")
        #expect(GroupName.list(["Staff", "R\u{E9}mi"]) == "Staff, R\u{E9}mi")
        let names = ["Staff", "a, b", "Domain Users", "say \"hi\"", "back\\slash", "", "x;y{}"]
        #expect(
            GroupName.list(names, separator: " ")
                == #"Staff "a, b" "Domain Users" "say \"hi\"" "back\\slash" "" "x;y{}""#
        )
        // A comment, a blank that is no space, and a mark that changes the direction of the text.
        #expect(GroupName.list(["#1", "a\u{A0}b", "a\u{202E}b"]) == "\"#1\", \"a\u{A0}b\", \"a\u{202E}b\"")
    }
}
