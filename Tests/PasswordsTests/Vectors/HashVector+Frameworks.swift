// SPDX-License-Identifier: Apache-2.0

extension HashVector {
    static let frameworks = passlib + django + spring + php + others

    /// From test_handlers_pbkdf2.py, test_handlers_scrypt.py and test_handlers_bcrypt.py in passlib/tests.
    private static let passlib = [
        HashVector("password", "$pbkdf2$1212$OB.dtnSEXZK8U5cgxU/GYQ$y5LKPOplRmok7CZp/aqVDVg8zGI"),
        HashVector(wav, "$pbkdf2$1212$THDqatpidANpadlLeTeOEg$HV3oi1k5C5LQCgG1BMOL.BX4YZc"),
        HashVector(
            "password",
            "$pbkdf2-sha256$1212$4vjV83LKPjQzk31VI4E0Vw$hsYF68OiOUPdDZ1Fg.fJPeq1h/gXXY7acBp9/6c.tmQ"
        ),
        HashVector(wav, "$pbkdf2-sha256$1212$3SABFJGDtyhrQMVt1uABPw$WyaUoqCLgvz97s523nF4iuOqZNbp5Nt8do/cuaa7AiI"),
        HashVector(
            "password",
            "$pbkdf2-sha512$1212$RHY0Fr3IDMSVO/RSZyb5ow$eNLfBK.eVozomMr.1gYa17k9B7KIK25NOEshvhrSX.esqY3s.FvWZViXz4KoLlQI.B"
                + "zY/YTNJOiKc5gBYFYGww"
        ),
        HashVector("password", "$scrypt$ln=10,r=8,p=16$TmFDbA$/bq+HJ00cgB4VucZDQHp/nxq18vII3gw53N2Y0s3MWI"),
        HashVector(
            "pleaseletmein",
            "$scrypt$ln=14,r=8,p=1$U29kaXVtQ2hsb3JpZGU$cCO9yzr9c0hGHAbNgf046/2o+7qQT44+qbVD9lRdofI"
        ),
        HashVector("password", "$bcrypt-sha256$2a,5$5Hg1DKFqPE8C2aflZ5vVoe$12BjNE0p7axMg55.Y/mHsYiVuFBDQyu"),
        HashVector(table, "$bcrypt-sha256$2b,5$.US1fQ4TQS.ZTz/uJ5Kyn.$QNdPDOTKKT5/sovNz1iWg26quOU4Pje"),
        HashVector("password", "$bcrypt-sha256$v=2,t=2b,r=5$5Hg1DKFqPE8C2aflZ5vVoe$wOK1VFFtS8IGTrGa7.h5fs0u84qyPbS"),
        HashVector(table, "$bcrypt-sha256$v=2,t=2b,r=5$.US1fQ4TQS.ZTz/uJ5Kyn.$pzzgp40k8reM1CuQb03PvE0IDPQSdV6"),
        HashVector(
            String(repeating: "abc123", count: 12),
            "$bcrypt-sha256$v=2,t=2b,r=5$X1g1nh3g0v4h6970O68cxe$zu1cloESVFIOsUIo7fCEgkdHaI9SSue"
        ),
        HashVector(
            String(repeating: "abc123", count: 12) + "qwr",
            "$bcrypt-sha256$v=2,t=2b,r=5$X1g1nh3g0v4h6970O68cxe$CBF9csfEdW68xv3DwE6xSULXMtqEFP."
        ),
    ]

    /// From tests/auth_tests/test_hashers.py of django/django, kanidm's tests, and
    /// passlib/tests/test_handlers_django.py.
    private static let django = [
        HashVector(
            "eicieY7ahchaoCh0eeTa",
            "pbkdf2_sha256$36000$xIEozuZVAoYm$uW1b35DUKyhvQAf1mBqMvoBDcqSD06juzyO/nmyV0+w="
        ),
        HashVector("password", "argon2$argon2i$v=19$m=256,t=1,p=1$c29tZXNhbHQ$AJFIsNZTMKTAewB4+ETN1A"),
        HashVector("password", "argon2$argon2i$v=19$m=380,t=2,p=2$c29tZXNhbHQ$SrssP8n7m/12VWPM8dvNrw"),
        HashVector(
            "l\u{e8}tmein",
            "scrypt$16384$seasalt$8$1$Qj3+9PPyRjSJIebHnG81TMjsqtaIGxNQG/aEB/NYafTJ7tibgfYz71m0ldQESkXFRkdVCBhhY8mx7rQwite/"
                + "Pw=="
        ),
        HashVector("U*U", "bcrypt$$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
    ]

    /// From "Password Storage Format" in Spring Security's reference, and from MessageDigestPasswordEncoderTests.
    ///
    /// The vectors of version 5.8 were computed with Python's hashlib and the defaults in the sources.
    private static let spring = [
        HashVector("password", "{bcrypt}$2a$10$dXJ3SW6G7P50lGmMkkmwe.20cQQubK3.HZWzG3YB1tlRy.fqvM/BG"),
        HashVector(
            "password",
            "{pbkdf2}5d923b44a6d129f3ddf3e3c8d29412723dcbde72445e8ef6bf3b508fbf17fa4ed4d6b99ca763d8dc"
        ),
        HashVector(
            "password",
            "{scrypt}$e0801$8bWJaSu2IKSn9Z9kM+TPXfOc/9bdYSrN1oD9qfVThWEwdRTnO7re7Ei+fUZRJ68k9lTyuTeUp4of4g24hHnazw==$OAOec0"
                + "5+bXxvuu/1qZ6NUR+xQYvYv7BeL1QxwRpY5Pc="
        ),
        HashVector(
            "password",
            "{sha256}97cde38028ad898ebc02e690819fa220e88c62e0699403e94fff291cfffaf8410849f27605abcbc0"
        ),
        HashVector("abc123", "{MD5}{THIS_IS_A_SALT}a68aafd90299d0b137de28fb4bb68573"),
        HashVector("abc123", "{SHA-1}{THIS_IS_A_SALT}b2f50ffcbd3407fe9415c062d55f54731f340d32"),
        HashVector(
            "abc123",
            "{SHA-256}{THIS_IS_A_SALT}4b79b7de23eb23b78cc5ede227d532b8a51f89b2ec166f808af76b0dbedc47d7"
        ),
        HashVector(
            "password",
            "{pbkdf2@SpringSecurity_v5_8}000102030405060708090a0b0c0d0e0fe0f65a4bf6716253d2d10a7a4b18f35cd4baf31ff031a187cd"
                + "0091674905482d"
        ),
        HashVector(
            "password",
            "{scrypt@SpringSecurity_v5_8}$100801$AAECAwQFBgcICQoLDA0ODw==$jWPkcxERY25E9gwism7ggXZkARLbUPyOZiOM5ZQx95s="
        ),
        HashVector("testing123", "{ldap}{SSHA}0c0blFTXXNuAMHECS4uxrj3ZieMoWImr"),
        // Created by Argon2PasswordEncoder 6.3.4, and taken from the tests of another implementation of that encoder.
        HashVector(
            "correct horse battery staple",
            "{argon2@SpringSecurity_v5_8}$argon2id$v=19$m=16384,t=2,p=1$oD4J6tHQEKFFoGSw8uyJyg$PaHHvg2gl1OKYaPxIveAoFJ2jqi5"
                + "s8ovKOtXSaLte+0"
        ),
        HashVector(
            "correct horse battery staple",
            "{argon2}$argon2id$v=19$m=4096,t=3,p=1$059jsX4xde0gyoqQEHNujA$d7/sLyLHhNNctYoEMpiqNx8W0rv7EmWgDhRpyRUCpwI"
        ),
    ]

    /// From passlib/tests/test_handlers.py, the example of hashcat's mode 35500, and a hash of WordPress 6.8 in the tests
    /// of another implementation.
    private static let php = [
        HashVector("test12345", "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0"),
        HashVector("test1", "$H$9aaaaaSXBjgypwqm.JsMssPLiS8YQ00"),
        HashVector("thisisalongertestPW", "$P$912345678LIjjb6PhecupozNBmDndU0"),
        HashVector("JohnRipper", "$H$712345678WhEyvy1YWzT4647jzeOmo0"),
        HashVector("JohnRipper", "$P$B12345678L6Lpt4BxNotVIMILOa9u81"),
        HashVector(table, "$P$7SMy8VxnfsIy2Sxm7fJxDSdil.h7TW."),
        HashVector("hashpwn", "$wp$2y$10$607XKVrBjPEqujeOXNwbYuOJ.gPMd2TelMMknmeV70Kap1E81Ovo6"),
        HashVector("Test123Now!", "$wp$2y$10$gN3SQdbNc/cVlK7DylUiVumiuujud7lR0h5J4M2ZsNRMYOFbED16q"),
    ]

    /// The vectors of htpasswd are from passlib's tests.
    ///
    /// The vectors of Werkzeug were computed with Python's hashlib.
    private static let others = [
        HashVector("myPassword", "$apr1$r31.....$HqJZimcKQFAMYayBlzkrA/"),
        HashVector(table, "$apr1$bzYrOHUx$a1FcpXuQDJV3vPY20CS6N1"),
        HashVector(
            "password",
            "pbkdf2:sha256:1000$QwErTyUi$0259d4525b27b82ce6b7feb83a4b38e8a75c0a8183b675558cb5d5a29202833f"
        ),
        HashVector(
            "password",
            "scrypt:1024:8:1$QwErTyUi$82d0ecd5ce93072485379029ed3e0bda4809a3cdd26ad9e0cf1e02838b676c0e617c953a9257b22e6e5391"
                + "a3f03877316db1c432c2798e975f9c5196cff37805"
        ),
    ]
}
