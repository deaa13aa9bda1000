// SPDX-License-Identifier: Apache-2.0

extension HashVector {
    static let directories = digests + derived + dovecot + glassfish + tomcat

    /// From passlib/tests/test_handlers.py.
    ///
    /// The vectors of SHA-384 and of unsalted SHA-2 were computed with Python's hashlib.
    private static let digests = [
        HashVector("helloworld", "{MD5}/F4DjTilcDIIVEHn/nAQsA=="),
        HashVector(table, "{md5}BUc/ihn2aBXnN7MyZKDQsA=="),
        HashVector("helloworld", "{SHA}at+xg6SiyUovktq1redipHiJpaE="),
        HashVector("testing1234", "{SMD5}UjFY34os/pnZQ3oQOzjqGu4yeXE="),
        HashVector("test", "{SMD5}FbAkzOMOxRbMp6Nn4hnZuel9j9Gas7a2lvI+x5hT6j0="),
        HashVector("testing123", "{SSHA}0c0blFTXXNuAMHECS4uxrj3ZieMoWImr"),
        HashVector("secret", "{ssha}0H+zTv8o4MR4H43n03eCsvw1luG8LdB7"),
        HashVector("test", "{SSHA}P90+qijSp8MJ1tN25j5o1PflUvlqjXHOGeOckw=="),
        HashVector("password", "{SHA256}XohImNooBHFR0OVvjcYpJ3NgPQ1qq73WKhHvch0VQtg="),
        HashVector("password", "{SSHA256}x1tymSTVjozxQ2PtT46ysrzhZxbcskK0o2f8hEFx7fAQQmhtDSEkJA=="),
        HashVector("test", "{SSHA256}uBLazLaiBaPb6Cpnvq2XTYDkvXbYIuqRW1anMKk85d1/j1GqFQIgpHSOMUYIIcS4"),
        HashVector("password", "{SHA384}qLZLq9CsqRpZvbt3YbQh1PK7OCgNOnW6DyHyvrxFWD1EbFmGYMlM5oDEfRnDB4On"),
        HashVector(
            "password",
            "{SSHA384}oDYiWDvogMRCjZDmryXqf4JuZwNZ1xThZtMfeeBw2jej290b7Z6i4ozW1MVLe18Yc2FsdHNhbHQ="
        ),
        HashVector(
            "password",
            "{SHA512}sQnzu7wkTrgkQZF+0G1hi5AI3Qmzvv0bXgc5THBqi7mAsdd4Xll27ASbRt9fEyavWi6m0QP9B8lThf+rDKy8hg=="
        ),
        HashVector(
            "password",
            "{SSHA512}f/lFQskkl7PdMsTGJxHZq8LDt/l+UqRMm6/pj4pV7/xZkcOaKCgvQqp+KCeXc/Vd4RY6vEHWn4y0DnFcQ6wgyv9fyxk="
        ),
        // From 389 Directory Server, in kanidm's tests.
        HashVector(
            "password",
            "{SSHA512}JwrSUHkI7FTAfHRVR6KoFlSN0E3dmaQWARjZ+/UsShYlENOqDtFVU77HJLLrY2MuSp0jve52+pwtdVl2QUAHukQ0XUf5LDtM"
        ),
    ]

    /// From OpenLDAP, in kanidm's tests (server/lib/src/credential/mod.rs).
    ///
    /// `{CRYPT}` is from passlib's tests.
    private static let derived = [
        HashVector("password", "{PBKDF2}10000$IlfapjA351LuDSwYC0IQ8Q$saHqQTuYnjJN/tmAndT.8mJt.6w"),
        HashVector("password", "{PBKDF2-SHA1}10000$IlfapjA351LuDSwYC0IQ8Q$saHqQTuYnjJN/tmAndT.8mJt.6w"),
        HashVector(
            "password",
            "{PBKDF2-SHA256}10000$henZGfPWw79Cs8ORDeVNrQ$1dTJy73v6n3bnTmTZFghxHXHLsAzKaAy8SksDfZBPIw"
        ),
        HashVector(
            "password",
            "{PBKDF2-SHA512}10000$Je1Uw19Bfv5lArzZ6V3EPw$g4T/1sqBUYWl9o93MVnyQ/8zKGSkPbKaXXsT8WmysXQJhWy8MRP2JFudSL.N9Rkl"
                + "QYgDPxPjnfum/F2f/TrppA"
        ),
        HashVector(
            "password",
            "{ARGON2}$argon2id$v=19$m=65536,t=2,p=1$IyTQMsvzB2JHDiWx8fq7Ew$VhYOA7AL0kbRXI5g2kOyyp8St1epkNj7WZyUY4pAIQQ"
        ),
        HashVector("password", "{CRYPT}$sha1$10$c.mcTzCw$gF8UeYst9yXX7WNZKc5Fjkq0.au7"),
        HashVector("test", "{crypt}$1$SuMrG47N$ymvzYjr7QcEQjaK5m1PGx1"),
        HashVector("U*U***U", "{CRYPT}CCX.K.MFy4Ois"),
    ]

    /// From src/auth/test-libpassword.c and the samples in src/auth/password-scheme-crypt.c of Dovecot.
    private static let dovecot = [
        HashVector("test", "{CRYPT}//EsnG9FLTKjo"),
        HashVector("test", "{MD5}$1$wmyrgRuV$kImF6.9MAFQNHe23kq5vI/"),
        HashVector("test", "{MD5-CRYPT}$1$GgvxyNz8$OjZhLh4P.gF1lxYEbLZ3e/"),
        HashVector("08/15!te", "{DES-CRYPT}JBOZ0DgmtucwE"),
        HashVector("test", "{BLF-CRYPT}$2y$05$11ipvo5dR6CwkzwmhwM26OXgzXwhV2PyPuLV.Qi31ILcRcThQpEiW"),
        HashVector(
            "08/15!test~4711",
            "{SHA256-CRYPT}$5$rounds=1000$0123456789abcdef$K/DksR0DT01hGc8g/kt9McEgrbFMKi9qrb1jehe7hn4"
        ),
        HashVector(
            "08/15!test~4711",
            "{sha512-crypt}$6$rounds=1000$0123456789abcdef$ZIAd5WqfyLkpvsVCVUU1GrvqaZTqvhJoouxdSqJO71l9Ld3tVrfOatEjarhghvEYADkq/"
                + "/LpDnTeO90tcbtHR1"
        ),
        HashVector(
            "test",
            "{ARGON2I}$argon2i$v=19$m=32768,t=4,p=1$f2iuP4aUeNMrgu34fhOkkg$1XSZZMWlIs0zmE+snlUIcLADO3GXbA2O/hsQmmc317k"
        ),
        HashVector(
            "test",
            "{ARGON2ID}$argon2id$v=19$m=65536,t=3,p=1$vBb99oJ12p3WAdYlaMHz1A$jtFOtbo/sYV9OSlTxDo/nVNq3uArHd5GJSEx0ty85Cc"
        ),
        HashVector("test", "{PBKDF2}$1$bUnT4Pl7yFtYX0KU$5000$50a83cafdc517b9f46519415e53c6a858908680a"),
        HashVector("test", "{SHA1}qUqP5cyxm6YcTAhz05Hph5gvu9M="),
        HashVector("test", "{LDAP-MD5}CY9rzUYh03PK3k6DJie09g=="),
        // Older versions of Authelia wrote {CRYPT} before Argon2; the hash is from the reference implementation.
        HashVector(
            "password",
            "{CRYPT}$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
        ),
    ]

    /// Hashes of GlassFish's key files: computed in the way of FileRealmHelper, and from a line of many public
    /// Dockerfiles.
    private static let glassfish = [
        HashVector("secret", "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA==", isGlassFish: true),
        HashVector("secret", "{SSHA256}x6t5hlGtPj4OPvXhOxWodhYyyTyg6LoBbrurY375hSUBAgMEBQYHCA==", isGlassFish: true),
        HashVector("glassfish", "{SSHA256}80e0NeB6XBWXsIPa7pT54D9JZ5DR5hGQV1kN1OAsgJePNXY6Pl0EIw==", isGlassFish: true),
        HashVector("glassfish", "{GF-SSHA256}80e0NeB6XBWXsIPa7pT54D9JZ5DR5hGQV1kN1OAsgJePNXY6Pl0EIw=="),
        // The same salt and password in LDAP's format.
        HashVector("secret", "{SSHA256}A7N1lAy5bBb4T6qH9e85zAvHBmzNPhRFbZ105DjjWDIBAgMEBQYHCA=="),
    ]

    /// Credentials in the way of Tomcat's handlers, computed with hashlib of Python.
    private static let tomcat = [
        HashVector(
            "correct horse battery",
            "{TOMCAT-SHA-256}8f455bba4522752c63bbcd2b6d4c954e66a2bade8792dbe67be7c088affa422e$1$47c6710"
                + "a74fbe54c71106e35deec6b5e20c524ccb82dc8872f0ede6de94c2892"
        ),
        HashVector(
            Self.wav,
            "{TOMCAT-SHA-512}8f455bba4522752c63bbcd2b6d4c954e$1000$dd58f07f81bd66bb4da1adb1784530152b81"
                + "eab08b8339d0847ec64b91fcaa06e56c71401024c4c88977ac3feabbb4c656714457e63cf42dbb0268dd1badb6"
                + "42"
        ),
        HashVector("secret", "{TOMCAT-MD5}$2$9e769017c85f064977fe6a658f207fa6"),
        HashVector("secret", "{TOMCAT-SHA-1}0102030405060708$3$12d73135b42accf76f49469f0249fb64d54d4fab"),
        HashVector(
            "secret",
            "{tomcat-sha-384}01$1$ec954f0f67f3a12a9c841bdd9204460865ef92c85890c7c7f6da500bdd33476e2d0f8"
                + "7079e59861ff1e22ba2638f1096"
        ),
        HashVector(
            "correct horse battery",
            "{TOMCAT-PBKDF2-SHA1}8f455bba4522752c63bbcd2b6d4c954e66a2bade8792dbe67be7c088affa422e$20000"
                + "$af05af0c5c300a1de44ed28415207c476293d563"
        ),
        HashVector(
            "correct horse battery",
            "{TOMCAT-PBKDF2-SHA256}8f455bba4522752c63bbcd2b6d4c954e66a2bade8792dbe67be7c088affa422e$100"
                + "0$38824d261c1edde1da592015fa32f11364f11aa6"
        ),
        HashVector(
            "correct horse battery",
            "{TOMCAT-PBKDF2-SHA384}8f455bba4522752c63bbcd2b6d4c954e66a2bade8792dbe67be7c088affa422e$100"
                + "0$81660959d5f032c28015404347d111f6"
        ),
        HashVector(
            "correct horse battery",
            "{TOMCAT-PBKDF2-SHA512}8f455bba4522752c63bbcd2b6d4c954e66a2bade8792dbe67be7c088affa422e$100"
                + "0$06405b8493e04fab78897a4970264442c753e1a8d3b5782257e87fe96d2ba95857da3c9a8c566bad8f99dd5f"
                + "1a1aafed1ef8e0485678ed32fbca29dfc4b6c236"
        ),
        HashVector(
            "correct horse battery",
            "{TOMCAT-PBKDF2-SHA512}8f455bba4522752c63bbcd2b6d4c954e66a2bade8792dbe67be7c088affa422e$100"
                + "0$06405b8493e04fab78897a4970264442c753e1a8d3b5782257e87fe96d2ba958"
        ),
    ]
}
