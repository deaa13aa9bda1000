// SPDX-License-Identifier: Apache-2.0

extension HashVector {
    static let crypt = bcrypt + memoryHard + iterated + des

    private static let longest = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

    /// From wrapper.c of Openwall's crypt_blowfish, passlib's tests, and test/crypt-kat.inc of libxcrypt.
    private static let bcrypt = [
        HashVector("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
        HashVector("U*U*", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"),
        HashVector("U*U*U", "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"),
        HashVector(longest, "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui"),
        HashVector(bytes: [0xa3], "$2y$05$/OK.fbVrR/bpIqNJ5ianF.Sa7shbm4.OzKpvFnX1pQLmQW96oUlCq"),
        HashVector(
            bytes: [0xff, 0xa3, 0x33, 0x34, 0x35],
            "$2a$05$/OK.fbVrR/bpIqNJ5ianF.nRht2l/HRhr6zmCp9vYUvvsqynflf9e"
        ),
        HashVector(bytes: [0xd1, 0x91], "$2y$05$6bNw2HLQYeqHYyBfLMsv/OUcZd0LKP39b87nBw3.S2tVZSqiQX6eu"),
        HashVector("pleaseletmein", "$2b$04$CCCCCCCCCCCCCCCCCCCCC.3WPQy/x8EhyouO1Eia.f.CS216k/lTq"),
        HashVector("|_337T`/p3", "$2b$05$abcdefghijklmnopqrstuugZjL4p/g0M.xDKdvzvO1BKtO0aYdnwC"),
        // From the tests of the etcshadow detector of google/osv-scalibr.
        HashVector("Password123", "$2b$05$IYDlXvHmeORyyiUwu8KKuek2LE8VrxIYZ2skPvRDDNngpXJHRq7sG"),
        HashVector("Password123", "$2a$05$pRmHHyGfKl9/9AZLORG/neKW39VHGF4ptLT2MLq1BqQOnbwL6DQM6"),
    ]

    /// From TESTS-OK of yescrypt, google/osv-scalibr, hashcat's module for gost-yescrypt, and
    /// cyclone-github/yescrypt_crack; `$7$` from passlib and jas/scrypt-unix-crypt.
    private static let memoryHard = [
        HashVector("pleaseletmein", "$y$jD5.7$LdJMENpBABJJ3hIHjB1Bi.$HboGM6qPrsK.StKYGt6KErmUYtioHreJd98oIugoNB6"),
        HashVector("Password123", "$y$j9T$huXYrFRxr5.EtlA/GqJQg1$R36Nu5MbY5YM0SzRaWbBPyGpM7KMcWtbUmBq5gDZA9B"),
        HashVector("cyclone123", "$y$j9T$z7lNWyBfW4ZruGHCsFzDz/$Sz1GtrDDnsf0KfUE8mQHNJqGyG32TDWC287DdU97dz."),
        HashVector("Password123", "$gy$j9T$i.krMgTvuXE2doi6Hguka/$qwn482j7gJbWZNQ3cF0YdKAud.C3vUIorQGsF0ryox3"),
        HashVector("hashcat", "$gy$j9T$HtyOX9cwJ2Dh8LlJV8IJ30$ZCSJt69pE/HLXFfIuxukRc2PlNla.tbqJxUHCp/WHVD"),
        HashVector("Password123", "$7$CU..../....oupVTCfqrgm0HQkQR3JaB1$2m9CeDTqL8i5pMsc8E73A2bCIsvQPhntxBmSVlbrql2"),
        HashVector("pleaseletmein", "$7$C6..../....SodiumChloride$kBGj9fHznVYFQMEn/qDCfrDevf9YDtcDdKvEqHJLV8D"),
    ]

    /// From passlib/tests/test_handlers.py.
    ///
    /// Most of them are from John the Ripper and from the systems that introduced the formats.
    private static let iterated = [
        HashVector(
            "U*U*U*U*",
            "$6$LKO/Ute40T3FNF95$6S/6T2YuOIHY0N3XpLKABJ3soYcXD9mB7uVbtEZDj/LNscVhZoZ9DEH.sBciDrMsHOWOoASbNLTypH/5X26gN0"
        ),
        HashVector(
            "Compl3X AlphaNu3meric",
            "$6$rounds=10787$wakX8nGKEzgJ4Scy$X78uqaX1wYXcSCtS4BVYw2trWkvpa8p7lkAtS9O/6045fK4UB2/Jia0Uy/KzCpODlfVxVNZzCC"
                + "oV9s2hoLfDs/"
        ),
        HashVector("U*U***U*", "$5$LKO/Ute40T3FNF95$8Ry82xGnnPI/6HtFYnvPBTYgOL23sdMXn8C29aO.x/A"),
        HashVector("test", "$5$rounds=11858$WH1ABM5sKhxbkgCK$aTQsjPkz0rBsH3lQlJxw9HDTDXPKBxC0LlVeV69P.t1"),
        HashVector("test", "$1$ec6XvcoW$ghEtNK2U1MC5l.Dwgi3020"),
        HashVector("4lpHa N|_|M3r1K W/ Cur5Es: #$%(*)(*%#", "$1$jQS7o98J$V6iTcr71CGgwW2laf17pi1"),
        HashVector(table, "$1$d6/Ky1lU$/xpf8m7ftmWLF.TjHCqel0"),
        HashVector("password", "$sha1$19703$iVdJqfSE$v4qYKl1zqYThwpjJAoKX6UvlHq/a"),
        HashVector(table, "$sha1$40000$uJ3Sp7LE$.VEmLO5xntyRFYihC7ggd3297T/D"),
        HashVector("Gpcs3_adm", "$md5$zrdhpMlZ$$wBvMOEqbSjU.hu5T2VEP01"),
        HashVector("aa12345678", "$md5$vyy8.OVF$$FY4TWzuauRl4.VQNobqMY."),
        HashVector("this", "$md5$3UqYqndY$$6P.aaWOoucxxq.l00SS9k0"),
        HashVector("passwd", "$md5$RPgLF6IJ$WTvAlUJ7MqH5xak2FMEwS/"),
        HashVector(table, "$md5,rounds=5000$10VYDzAA$$1arAVtMA3trgE1qJ2V0Ez1"),
        HashVector("OLDPASSWORD", "$3$$6677b2c394311355b54f25eec5bfacf5"),
        HashVector("tigger", "$3$$b7e0ea9fbffcf6dd83086e905089effd"),
    ]

    /// From tests/lib/libcrypt/t_crypt.c of NetBSD.
    private static let des = [
        HashVector("U*U*U*U*", "CCNf8Sbh3HDfQ"), HashVector("U*U***U", "CCX.K.MFy4Ois"),
        HashVector("U*U***U*", "CC4rMpbg9AMZ."), HashVector("*U*U*U*U", "XXxzOu6maQKqQ"),
        HashVector("password", "./xZjzHv5vzVE"), HashVector("password", "zZDDIZ0NOlPzw"),
        HashVector("U*U*U*U*", "_J9..CCCCXBrJUJV154M"), HashVector("U*U***U", "_J9..CCCCXUhOBTXzaiE"),
        HashVector("*U*U*U*U*U*U*U*U*", "_J9..XXXXAj8cFbP5scI"), HashVector("zxyDPWgydbQjgq", "_J9..SDizxmRI1GjnQuE"),
        HashVector("726 even", "_K9..SaltNrQgIYUAeoY"),
    ]
}
