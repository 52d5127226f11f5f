/// Keys made once with the openssl program, for what our own generator does not make.
enum Fixtures {
    static let p384PEM = """
        -----BEGIN EC PRIVATE KEY-----
        MIGkAgEBBDCD2aNF1bpg4IGC1rXt9lX2xlA6MUItPnFsnAjCvxCzc4uzWsHDnIkm
        nZ6wuURw95ygBwYFK4EEACKhZANiAASqHIGG53XLN5DteemozmlyblWK/83aoVmF
        0yH6BKJ6FbaQGPG1tE+CtdY4lPMgxT4LFJAMPev2HK+nNi1U0UR3gCPVmyqVHxVZ
        /wsVMUN/+iPxZVtd2eywykGemffLnX4=
        -----END EC PRIVATE KEY-----
        """

    static let weakPEM = """
        -----BEGIN PRIVATE KEY-----
        MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAJkv6b0ZU4ww1dMd
        6xeonAzXrrdl4TKQSFzUo73VsBwuJ3UpUg6WBuI3GtYfOFHIp4U7fR1iW2nNFHij
        Yvw2qCFPXt9iVvTtiqA1eAFI14GCUEAcRpzKBbwuwf5TlhWTuAvnyehoeRkw5mC0
        v4+rLSRy+tTGuP6/v5mrZgqjRXHhAgMBAAECgYEAhiuCBP8+vwYy8iM9Os6SR2lN
        fRJ9qOTYjH4uIGIeSsBeDO8xENd0lgP/vFVB5dfiaf5NukPgnw1hhbxNQWy52n/z
        bv41O8bz9lDBPVN5DhQcq06c04LbC6jfSPTZJMQ0wUewMbvrPRCHXb4b+hzUAb2x
        RII4lwdnY+POKmtlEAECQQDMOMJBAB+USHQjqMMkqhy2kpdIBpTysWDxGVstfoE8
        L3FUImdHLBpl82vTFOHns3yVkyJWFmm7rJUOds2ZXFGBAkEAwAay5xDU5JcD4zcJ
        WfBrrl6QjGRzAP7U/Hy2hZTheBRMMDzU70ZT79WmUItbMdoA+6SQb5YqLPuO0Yru
        TnKQYQJAWSMI/pAMOI+rSYk2q8EoSTQQndpplsh/NJzJpEDMLbXTdFKT24fPeeJW
        lMpPk+9OmIag/QxJWCYK5UZLlP2rgQJBAJJKiDEQ2Z/sjMGlRDKIvwBwep76R8MS
        YSCZwlOyQLNCg2icb3x6j6e/lJz4DdnEw8rybDcWp7rtSrjIpxSMowECQQCY+Ogt
        LNfAlEW3AikHyHj+GjaD71g95c4Yy0awUo5M1ysEIASkML7kts76SGL1s3qzqZ49
        GjuiXCcaul/hKSyq
        -----END PRIVATE KEY-----
        """

    static let ed25519PEM = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIEcDvRWXU3Fn6oLZTgsh+eJEpM43VJLRKbYCLplncN6K
        -----END PRIVATE KEY-----
        """

    static let encryptedPEM = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhVngcj08l0cgICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEMQgirw+L8l3PYv1xYWu34IEgZBA
        kU+ECoI6wlpgaYvGAxFsO5sCQ+Gb9q+LxdU6FGtbad12XPJWWPXX990QxVYI6qnG
        YeXGScnEMaREuLRungGI2BQi6f05lChzp/SgzsbbA7se+LLteIiyLNeOoHx3gOLk
        Y7jH9LAZ7LBpO6HUWKSftsfbhcMy4wRQjOt9JSkAfc9bNxK/qYnVOb4RfquTTx0=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// Moduli of 2048 and 3072 bits whose primes were made as the chips of CVE-2017-15361 make them: k · M + (65537^a mod M)
    /// with M, the product of the first 126 primes.
    static let guessableModuli = [
        "5n42JGqsSmY2L087Qw6nuhmAM1srW44G9YxNSofG-jZa9jjm73-W9samsc2CRqFzlsECE_QRc5ykkoyJFZxkuT5rwSJa3FqjYo6Q"
            + "y_i3os_s_nSr0f2hm80ARsQvrSizMSTEBwXimXSRyKLYyCocljUVSZ-QluX_XfXwzlGLw7P9LM-lGDLW0xAiXSdHbFGl3BZT7--o"
            + "Lqjr7A5EwDvVpEwiL-SaatolyWh3hqFRyZL-va0pTU3lXzbNiuIBo8L7ywpTE4G9NUR-wa5bidedLjh2WsXT9NCajkPOKmUF9XrG"
            + "-tEAb65wtQk3pOXAGxqlUDB-1qbGNl0U0bacldE7dQ",
        "xIdkZtoOSXNRLMcJ5vYyz36OJH3YxZ4_T9NNwHG49w8kJTe3z4TJkd6OKPXopuQwFXlVtV79AWuP4lvSYTIZFLXnn1-fe0HuqTjJ"
            + "0Y9UEnqLSMmC1ZuYwfoSDnzrzwgjnm1jbSwY7DH9oKPcgHpuD7aafVYwsN5Tp0Xmfb1eAIuHrKJpR6tHiOYdL8P6Na1xXzeskfCs"
            + "mZGcOe3wrEYkTRH3Ep7lzk0JDTQ8j6scAPDSlwStlpChFLXUztiMB3WPg7ST6SgCGdYI5XYLAMV8YxEqkwIkNFjk_41BQUcr_pq3"
            + "UIKX9Ftdv0dN3KY_UwpsyQ2eX6iz7FqsEtUhsYEPe4Y32iM78Sn6R8O3lOuVSiSUBShWKpi1jBvRRUQXbbYXvSHgnbnK1QhJoKC7"
            + "bextZzyXXtGiXpb9S85kVyMk5vUABp_UQKDHjXfsHZ4HHBag9C_ATjussJ7-U-XaMto4i8TgoSY1v_iI02gopmyE30AaeLxWv7rB"
            + "kZqs_sVEBv3N",
    ]
}
