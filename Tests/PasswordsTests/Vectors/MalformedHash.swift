// SPDX-License-Identifier: Apache-2.0

/// Malformed texts that resemble hashes.
///
/// Some are from test/badsalt.c of libxcrypt and from passlib's tests.
enum MalformedHash {
    static let all = argon2 + crypt + braces + named + tomcat + others

    private static let salt = "c29tZXNhbHQ"
    private static let tag = "nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"

    private static let argon2 =
        [
            "m=7,t=2,p=1", "m=0,t=2,p=1", "m=256,t=0,p=1", "m=256,t=2,p=0", "m=256,t=65,p=1", "m=256,t=2,p=65",
            "m=15,t=2,p=2", "m=2097153,t=1,p=1", "m=2097152,t=9,p=1", "m=4294967296,t=1,p=1", "m=0256,t=2,p=1",
            "m=+256,t=2,p=1", "m=256,t=2", "t=2,m=256,p=1", "m=256,t=2,p=1,", "m=256,t=2,p=1,data=abcd",
            "m=256,t=2,p=1,keyid=abcd", "m=256, t=2,p=1", "M=256,t=2,p=1", "m=256,t=2,p=1x", "", "m=,t=,p=",
            "m=99999999999999999999,t=1,p=1", "m=２56,t=2,p=1",
        ].map { "$argon2id$v=19$\($0)$\(salt)$\(tag)" } + [
            "$argon2id$v=18$m=256,t=2,p=1$\(salt)$\(tag)", "$argon2id$v=$m=256,t=2,p=1$\(salt)$\(tag)",
            "$argon2id$v=19$v=19$m=256,t=2,p=1$\(salt)$\(tag)", "$argon2id$v=19$m=256,t=2,p=1$\(salt)",
            "$argon2id$v=19$m=256,t=2,p=1$\(salt)$\(tag)$", "$argon2id$v=19$m=256,t=2,p=1$\(salt)$\(tag)=",
            "$argon2id$v=19$m=256,t=2,p=1$\(salt)=$\(tag)", "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhb$\(tag)",
            "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHR$\(tag)", "$argon2id$v=19$m=256,t=2,p=1$$\(tag)",
            "$argon2id$v=19$m=256,t=2,p=1$\(salt)$nf65", "$argon2id$v=19$m=256,t=2,p=1$\(salt)$\(tag.dropLast())5",
            "$argon2id$v=19$m=256,t=2,p=1$\(salt)$\(tag.dropLast())", "$argon2id$", "$argon2id", "$argon2x$v=19$a$b$c",
            "$argon2id$v=19$m=256,t=2,p=1$\(String(repeating: "c29t", count: 22))$\(tag)", "argon2$",
            "argon2$argon2id$",
            "$argon2id$v=19$m=256,t=2,p=1$\(salt)\n$\(tag)",
        ]

    private static let hash53 = "CCCCCCCCCCCCCCCCCCCCC.3WPQy/x8EhyouO1Eia.f.CS216k/lTq"

    private static let crypt = [
        "$2$05$\(hash53)", "$2b$5$\(hash53)", "$2b$03$\(hash53)", "$2b$18$\(hash53)", "$2b$32$\(hash53)",
        "$2b$99$\(hash53)",
        "$2b$005$\(hash53)", "$2b$05\(hash53)", "$2b$05$\(hash53.dropLast())", "$2b$05$\(hash53)a", "$2b$05$\(hash53)$",
        "$2c$05$\(hash53)", "$2B$05$\(hash53)", "$2b$ 5$\(hash53)",
        "$2b$05$CCCCCCCCCCCCCCCCCCCCC:3WPQy/x8EhyouO1Eia.f.CS216k/lTq",
        "$2b$05$CCCCCCCCCCCCCCCCCCCCCC3WPQy/x8EhyouO1Eia.f.CS216k/lTq", "$2b$05$\(hash53.dropLast())r", "$2", "$2b$",
        "$6$salt", "$6$salt$", "$6$rounds=$salt$\(x(86))", "$6$rounds=999$salt$\(x(86))",
        "$6$rounds=0100$salt$\(x(86))",
        "$6$rounds=10000001$salt$\(x(86))", "$6$rounds=4294967295$salt$\(x(86))", "$6$salt$\(x(85))",
        "$6$salt$\(x(87))",
        "$6$$\(x(86))", "$6$saltsaltsaltsalts$\(x(86))", "$6$sa:lt$\(x(86))", "$6$sa lt$\(x(86))",
        "$6$round=5000$salt$\(x(86))",
        "$6$rounds=5000$rounds=5000$salt$\(x(86))", "$5$salt$\(x(42))", "$5$salt$\(x(42))!", "$1$salt$\(x(21))",
        "$1$saltsalts$\(x(22))", "$1$$\(x(22))", "$3$\(x(32))", "$3$$6677B2c394311355b54f25eec5bfacf5",
        "$3$$6677b2c394311355b54f25eec5bfacf", "$3$x$6677b2c394311355b54f25eec5bfacf5", "$3$",
        "$sha1$01773$uV7PTeux$I9oHnvwPZHMO0Nq6/WgyGV/tDJIH", "$sha1$21773$u!7PTeux$I9oHnvwPZHMO0Nq6/WgyGV/tDJIH",
        "$sha1$21773$uV7PTeux$I9oHnvwPZHMO0Nq6/WgyGV/tDJIH$", "$sha1$$uV7PTeux$I9oHnvwPZHMO0Nq6/WgyGV/tDJIH",
        "$sha1$0$uV7PTeux$I9oHnvwPZHMO0Nq6/WgyGV/tDJIH", "$sha1$10000001$uV7PTeux$I9oHnvwPZHMO0Nq6/WgyGV/tDJIH",
        "$md5$RPgLF6IJ$x$WTvAlUJ7MqH5xak2FMEwS/", "$md5,rounds=$RPgLF6IJ$WTvAlUJ7MqH5xak2FMEwS/", "$md5",
        "$md5,rounds=0$RPgLF6IJ$WTvAlUJ7MqH5xak2FMEwS/", "$md5,rounds=012$RPgLF6IJ$WTvAlUJ7MqH5xak2FMEwS/",
        "$md5,rounds=4294967296$RPgLF6IJ$WTvAlUJ7MqH5xak2FMEwS/", "$md5x$RPgLF6IJ$WTvAlUJ7MqH5xak2FMEwS/",
        "_........\(x(11))", "_J9..CCCCXBrJUJV154", "_J9..CCCCXBrJUJV154MM", "_J9..CCCC:BrJUJV154M",
        "_J9..CCCCXBrJUJV154/", "_",
        "CCNf8Sbh3HDf", "CCNf8Sbh3HDfQQ", "CCNf8Sbh3HDf/", "C:Nf8Sbh3HDfQ", "CCNf8Sbh3HDf ",
        "$y$$salt$\(x(43))", "$y$09T$abcd$\(x(43))", "$y$.9T0/$abcd$\(x(43))", "$y$j./.7$abcd$\(x(43))",
        "$y$kA4$abcd$\(x(43))",
        "$y$j950.$abcd$\(x(43))", "$y$j951/$abcd$\(x(43))", "$y$j955.$abcd$\(x(43))",
        "$y$j9$PKXc3hCOSyMqdaEQArI62/$\(x(43))", "$y$j9T$PKXc3hCOSyMqdaEQArI62/$\(x(42))",
        "$y$j9T$PKXc3hCOSyMqdaEQArI62$\(x(43))", "$y$j9T$PKXc3hCOSyMqdaEQArI62M$\(x(43))", "$y$jZT$PKXc$\(x(43))",
        "$y$j9Tx$PKXc$\(x(43))", "$y$j9T5.$PKXc$\(x(43))", "$y$j9T$PK!c$\(x(43))", "$y$zzzzzzzzz$PKXc$\(x(43))", "$y$",
        "$gy$j9T$",
        "$7$C6..../....SodiumChloride", "$7$z6..../....SodiumChloride$\(x(43))", "$7$C6..../....$\(x(43))",
        "$7$C....../....Sodium$\(x(43))", "$7$C6.........Sodium$\(x(43))", "$7$C6$\(x(43))", "$7$",
    ]

    private static let braces = [
        "{SSHA}", "{SSHA}AAAA", "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNg=", "{SHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==",
        "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA=", "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA",
        "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCB==", "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgB AgMEBQYHCA==",
        "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA====", "{SSHA} lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==",
        "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==$", "{CRYPT}", "{CRYPT}secret", "{CRYPT}*", "{CRYPT}{SSHA}AAAA",
        "{ARGON2}", "{ARGON2}secret", "{PBKDF2}", "{PBKDF2}0$IlfapjA351LuDSwYC0IQ8Q$saHqQTuYnjJN/tmAndT.8mJt.6w",
        "{PBKDF2}10000$$saHqQTuYnjJN/tmAndT.8mJt.6w",
        "{PBKDF2}10000001$IlfapjA351LuDSwYC0IQ8Q$saHqQTuYnjJN/tmAndT.8mJt.6w",
        "{PBKDF2-SHA256}10000$IlfapjA351LuDSwYC0IQ8Q$saHqQTuYnjJN/tmAndT.8mJt.6w",
        "{PBKDF2}10000$IlfapjA351LuDSwYC0IQ8Q$saHqQTuYnjJN/tmAndT+8mJt+6w", "{GF-SSHA256}", "{GF-SSHA256}AAAA",
        "{bcrypt}", "{bcrypt}$6$salt$x", "{bcrypt}secret", "{scrypt}", "{scrypt}$$$", "{scrypt}$e0801$AA==$AA==",
        "{scrypt}$ff0801$AAECAwQFBgcICQoLDA0ODw==$jWPkcxERY25E9gwism7ggXZkARLbUPyOZiOM5ZQx95s=",
        "{scrypt}$+e0801$AAECAwQFBgcICQoLDA0ODw==$jWPkcxERY25E9gwism7ggXZkARLbUPyOZiOM5ZQx95s=",
        "{pbkdf2}", "{pbkdf2}5d92", "{pbkdf2}\(x(80))", "{pbkdf2@SpringSecurity_v5_8}5d92", "{sha256}\(x(80))",
        "{MD5}{salt", "{MD5}{salt}", "{MD5}{salt}00", "{MD5}\(x(32))", "{MD4}{salt}a68aafd90299d0b137de28fb4bb68573",
        "{SHA-256}", "{ldap}", "{ldap}secret", "{ldap}{noop}secret", "{noop}secret", "{argon2@SpringSecurity_v5_8}",
    ]

    /// Names before another hash, or before none, and encodings of Dovecot.
    private static let named = [
        "{SHA512-CRYPT}$1$ec6XvcoW$ghEtNK2U1MC5l.Dwgi3020", "{SHA256-CRYPT}$6$salt$\(x(86))",
        "{MD5-CRYPT}$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/", "{BLF-CRYPT}CCNf8Sbh3HDfQ", "{DES-CRYPT}$2b$05$\(hash53)",
        "{BCRYPT}$1$ec6XvcoW$ghEtNK2U1MC5l.Dwgi3020", "{ARGON2ID}$argon2i$v=19$m=256,t=2,p=1$\(salt)$\(tag)",
        "{ARGON2I}$argon2id$v=19$m=256,t=2,p=1$\(salt)$\(tag)", "{ARGON2}$6$salt$\(x(86))", "{SHA512-CRYPT}secret",
        "{SHA512-CRYPT}{SHA512-CRYPT}$6$salt$\(x(86))", "{SHA512-CRYPT}$6$salt$\(x(85))", "{MD5}$1$salt$\(x(21))",
        "{PBKDF2}$1$salt$0$\(zeros(20))", "{PBKDF2}$1$$5000$\(zeros(20))", "{PBKDF2}$1$salt$5000$\(zeros(19))",
        "{PBKDF2}$1$salt$10000001$\(zeros(20))", "{PBKDF2}$2$salt$5000$\(zeros(20))", "{PLAIN-MD5}\(x(32))",
        "{SHA1}\(zeros(19))", "{SSHA.HEX}\(zeros(20))", "{SSHA.HEX}zz", "{SHA1.B64}*", "{CRYPT.B64}AAAA",
        "{SHA1.HEX.HEX}00",
        "{SHA1.X}\(zeros(20))", "{MD5-CRYPT.HEX}0a",
    ]

    private static let tomcat = [
        "{TOMCAT-SHA-256}", "{TOMCAT-SHA-256}01$1", "{TOMCAT-SHA-256}01$1$\(zeros(32))$",
        "{TOMCAT-SHA-256}01$0$\(zeros(32))",
        "{TOMCAT-SHA-256}01$10000001$\(zeros(32))", "{TOMCAT-SHA-256}01$1$\(zeros(31))",
        "{TOMCAT-SHA-256}0$1$\(zeros(32))",
        "{TOMCAT-SHA-256}0g$1$\(zeros(32))", "{TOMCAT-SHA-256}0A$1$\(zeros(32))", "{TOMCAT-SHA-256}01$01$\(zeros(32))",
        "{TOMCAT-SHA256}01$1$\(zeros(32))", "{TOMCAT}01$1$\(zeros(32))", "{TOMCAT-MD5}\(zeros(129))$1$\(zeros(16))",
        "{TOMCAT-PBKDF2-SHA256}$1$\(zeros(32))", "{TOMCAT-PBKDF2-SHA256}01$1$\(zeros(33))",
        "{TOMCAT-PBKDF2-SHA256}01$1$\(zeros(15))", "{TOMCAT-PBKDF2-SHA256}01$10000001$\(zeros(32))",
        "{TOMCAT-PBKDF2-MD5}01$1$\(zeros(16))",
    ]

    private static func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }

    private static let others = [
        "$pbkdf2$01212$THDqatpidANpadlLeTeOEg$HV3oi1k5C5LQCgG1BMOL.BX4YZc",
        "$pbkdf2$$THDqatpidANpadlLeTeOEg$HV3oi1k5C5LQCgG1BMOL.BX4YZc",
        "$pbkdf2$1212$THDqatpidANpadlLeTeOEg$HV3oi1k5C5LQCgG1BMOL.BX4YZc$",
        "$pbkdf2-sha256$1212$THDqatpidANpadlLeTeOEg$HV3o",
        "$pbkdf2-md5$1212$THDqatpidANpadlLeTeOEg$HV3o",
        "$scrypt$ln=0,r=8,p=1$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWI",
        "$scrypt$ln=25,r=8,p=1$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWI",
        "$scrypt$ln=24,r=8,p=1$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWI",
        "$scrypt$ln=10,r=0,p=1$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWI",
        "$scrypt$ln=16,r=1,p=1$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWI",
        "$scrypt$ln=10,r=8,p=16$TmFDbA$/bq", "$scrypt$ln=10,r=8,p=16$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3",
        "$scrypt$", "$bcrypt-sha256$", "$bcrypt-sha256$2b,5$short$short",
        "$bcrypt-sha256$v=3,t=2b,r=5$5Hg1DKFqPE8C2aflZ5vVoe$wOK1VFFtS8IGTrGa7.h5fs0u84qyPbS",
        "$bcrypt-sha256$v=2,t=2x,r=5$5Hg1DKFqPE8C2aflZ5vVoe$wOK1VFFtS8IGTrGa7.h5fs0u84qyPbS",
        "$bcrypt-sha256$v=2,t=2b,r=05$5Hg1DKFqPE8C2aflZ5vVoe$wOK1VFFtS8IGTrGa7.h5fs0u84qyPbS",
        "$bcrypt-sha256$v=2,t=2b,r=5,x$5Hg1DKFqPE8C2aflZ5vVoe$wOK1VFFtS8IGTrGa7.h5fs0u84qyPbS",
        "pbkdf2_sha256$36000$$uW1b35DUKyhvQAf1mBqMvoBDcqSD06juzyO/nmyV0+w=", "pbkdf2_sha256$36000$salt$uW1b",
        "pbkdf2_sha256$",
        "pbkdf2_sha256$0$salt$uW1b35DUKyhvQAf1mBqMvoBDcqSD06juzyO/nmyV0+w=", "scrypt$16383$seasalt$8$1$AAAA",
        "scrypt$16384$seasalt$8$1$AAAA", "scrypt$", "bcrypt$secret", "bcrypt_sha256$secret", "bcrypt_sha256$$6$salt$x",
        "scrypt:1000:8:1$salt$00", "scrypt:1024:8:1$salt$00", "scrypt:1024:8$salt$00", "pbkdf2:md5:1000$salt$00",
        "pbkdf2:sha256:1000$salt$00", "pbkdf2:sha256$salt$00", "pbkdf2:sha256:x$salt$00",
        "$apr1$r31.....$HqJZimcKQFAMYayBlzkrA", "$apr1$r31.....$HqJZimcKQFAMYayBlzkrAz",
        "$apr1$$HqJZimcKQFAMYayBlzkrA/",
        "$apr1$r31......$HqJZimcKQFAMYayBlzkrA/", "$apr1$r31.....", "$apr1$",
        "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r!L0", "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L",
        "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L00",
        "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.Lz", "$P$4IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0",
        "$P$LIQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0",
        "$P$", "$H$", "$P$9IQRaTwmf$Ro7ud9Fh4E2PdI0S3r.L0", "$wp$", "$wp$2y$10$", "$wp$\(x(60))", "$wp$2x$05$\(hash53)",
        "$wp$$2y$05$\(hash53)", "$wp$2y$18$\(hash53)", String(repeating: "a", count: 2049),
    ]

    private static func x(_ count: Int) -> String { String(repeating: "x", count: count) }
}
