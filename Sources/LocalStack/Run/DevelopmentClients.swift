import JOSE

/// The local stack's app that signs users in by OpenID Connect, with any library on the same machine.
enum DevelopmentClients {
    /// The client's id. It has no secret.
    static let clientID = "demo"

    /// The clients file.
    static let file: JSONObject = [
        "clients": [
            [
                "id": .string(clientID), "name": "Demo",
                "redirect_uris": [
                    "http://127.0.0.1/callback", "http://[::1]/callback", "com.example.demo:/callback",
                    // The gateway's own page of development.
                    "http://127.0.0.1/", "http://[::1]/",
                ],
                "post_logout_redirect_uris": ["http://127.0.0.1/"],
            ]
        ]
    ]
}
