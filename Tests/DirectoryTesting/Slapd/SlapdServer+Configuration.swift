// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TLSTesting

extension SlapdServer {
    /// Returns the text of slapd.conf.
    static func configuration(_ settings: Settings, in folder: PrivateFolder) throws -> String {
        let pki = try TestPKI.shared.get()
        return """
            include /etc/ldap/schema/core.schema
            include /etc/ldap/schema/cosine.schema
            include /etc/ldap/schema/nis.schema
            include /etc/ldap/schema/inetorgperson.schema
            modulepath /usr/lib/ldap
            moduleload back_mdb.so
            moduleload memberof.so
            moduleload refint.so
            moduleload ppolicy.so
            moduleload syncprov.so
            pidfile \(folder.file("slapd.pid"))
            argsfile \(folder.file("slapd.args"))
            threads 4
            sasl-secprops none
            TLSCACertificateFile \(pki.file("root.pem").path)
            TLSCertificateFile \(pki.file("\(settings.certificate)-chain.pem").path)
            TLSCertificateKeyFile \(pki.file("\(settings.certificate).key").path)
            TLSVerifyClient try
            authz-regexp "^cn=client$" "\(service.name)"
            \(settings.lines.joined(separator: "\n"))

            database mdb
            suffix "\(base)"
            rootdn "\(admin.name)"
            rootpw \(admin.password)
            directory \(folder.file("data"))
            dbnosync
            maxsize \(settings.maximumSize)
            index objectClass,entryCSN,entryUUID eq
            index uid,member,uniqueMember,memberUid eq
            access to attrs=userPassword
                by dn.exact="\(service.name)" read
                by self =xw
                by anonymous auth
                by * none
            \(settings.accessLines.joined(separator: "\n"))
            access to *
                by dn.exact="\(service.name)" read
                by self read
                by * none
            \(settings.databaseLines.joined(separator: "\n"))
            overlay memberof
            memberof-group-oc groupOfNames
            memberof-member-ad member
            overlay memberof
            memberof-group-oc groupOfUniqueNames
            memberof-member-ad uniqueMember
            overlay refint
            refint_attributes member uniqueMember
            refint_nothing "\(admin.name)"
            overlay ppolicy
            ppolicy_default "cn=default,ou=policies,\(base)"
            ppolicy_hash_cleartext
            ppolicy_use_lockout
            \(replication(settings.role))

            """
    }

    private static func replication(_ role: Role) -> String {
        switch role {
        case .alone: ""
        case .provider: "overlay syncprov"
        case .replica(let provider):
            """
            syncrepl rid=001 provider=\(provider) type=refreshAndPersist retry="1 +" searchbase="\(base)"
                bindmethod=simple binddn="\(admin.name)" credentials=\(admin.password)
            updateref \(provider)
            """
        }
    }
}
