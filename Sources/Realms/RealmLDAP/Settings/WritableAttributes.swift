// SPDX-License-Identifier: Apache-2.0

#if LDAP
internal import Bytes
internal import RealmKit

/// The attributes that users can write in their own entries in many directories, in lower case.
///
/// Source: the access rule "Enable self write for common attributes" that 389 Directory Server makes, the property set
/// Personal Information of Active Directory, and the self-service rules of FreeIPA; without pictures and certificates,
/// which no filter compares. A directory with the rule `by self write` of OpenLDAP has no limit.
enum WritableAttributes {
    private static let names: Set<UTF8Text> = [
        "mail", "rfc822mailbox", "othermailbox", "displayname", "givenname", "gn", "initials",
        "title", "personaltitle", "description", "info", "carlicense", "labeleduri", "labeledurl", "url",
        "preferredlanguage", "preferreddeliverymethod", "telephonenumber", "mobile", "mobiletelephonenumber", "pager",
        "pagertelephonenumber", "homephone", "hometelephonenumber", "ipphone", "facsimiletelephonenumber", "fax",
        "telexnumber", "homepostaladdress", "postaladdress", "postalcode", "postofficebox", "registeredaddress",
        "roomnumber", "physicaldeliveryofficename", "street", "streetaddress", "st", "stateorprovincename", "l",
        "localityname", "secretary", "assistant", "seealso", "gecos", "loginshell", "x500uniqueidentifier",
        // The same attributes by their numbers (RFC 4519, 4524, 2798 and others).
        "0.9.2342.19200300.100.1.3", "0.9.2342.19200300.100.1.4", "0.9.2342.19200300.100.1.6",
        "0.9.2342.19200300.100.1.20", "0.9.2342.19200300.100.1.21", "0.9.2342.19200300.100.1.22",
        "0.9.2342.19200300.100.1.39", "0.9.2342.19200300.100.1.40", "0.9.2342.19200300.100.1.41",
        "0.9.2342.19200300.100.1.42", "1.3.6.1.1.1.1.2", "1.3.6.1.1.1.1.4", "1.3.6.1.4.1.250.1.57",
        "2.16.840.1.113730.3.1.1", "2.16.840.1.113730.3.1.39", "2.16.840.1.113730.3.1.241", "2.5.4.7", "2.5.4.8",
        "2.5.4.9", "2.5.4.12", "2.5.4.13", "2.5.4.16", "2.5.4.17", "2.5.4.18", "2.5.4.19", "2.5.4.20", "2.5.4.21",
        "2.5.4.23", "2.5.4.26", "2.5.4.28", "2.5.4.34", "2.5.4.42", "2.5.4.43", "2.5.4.45",
    ]

    static func contains(_ name: String) -> Bool { names.contains(UTF8Text(name)) }
}

extension LDAPSettings {
    /// Returns a warning for each property with such an attribute.
    func warningsAboutWritableAttributes(_ properties: RealmProperties) -> [RealmWarning] {
        let condition = ", which users can write in many directories: they can meet such a condition themselves"
        let hint = "allow only administrators to write it, or compare another attribute, such as uid or sAMAccountName"
        func warnings(_ setting: String, _ filter: FilterTemplate?, excluding name: String = "") -> [RealmWarning] {
            guard properties.has(setting), let filter else { return [] }
            return filter.comparedAttributes.filter { WritableAttributes.contains($0) && !$0.hasBytes(of: name) }.map {
                RealmWarning("the filter compares \($0)\(condition)", setting: setting, hint: hint)
            }
        }
        let name = nameAttribute.name
        var all = warnings("search-filter", location.search?.filter, excluding: name)
        if WritableAttributes.contains(name) {
            let setting = ["user-name-attribute", "search-filter"].first(where: properties.has) ?? "user-dn-pattern"
            let text =
                "the user name is taken from \(name), which users can write in many directories: a user who writes the name "
                + "of another one there signs in as that user"
            all.append(RealmWarning(text, setting: setting, hint: hint))
        }
        all += warnings("group-search-filter", groups.filter)
        all += warnings("nested-group-search-filter", groups.nestedFilter)
        all += warnings("dynamic-group-search-filter", groups.dynamic?.filter)
        return all
    }
}
#endif
