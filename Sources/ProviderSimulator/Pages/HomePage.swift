import HTTPJSON

/// The page at the root: it describes the simulator and its endpoints.
enum HomePage {
    static func response(listeningAt authority: String) -> Response {
        let redirect = "http://127.0.0.1:8080/auth/apple/callback"
        return .page(
            title: "Provider simulator",
            """
            <h1>Provider simulator</h1>
            <p>It simulates Apple, Google and Facebook for development and tests. Anyone can sign in as anyone: \
            never let it be reached from where real apps or users are.</p>
            <table>
            <tr><th>Provider</th><th>Endpoints</th></tr>
            <tr><td>Apple</td><td><a href="apple/auth/keys">apple/auth/keys</a>, \
            <a href="apple/auth/authorize?client_id=com.example.services&amp;redirect_uri=\(redirect)\
            &amp;response_type=code%20id_token&amp;scope=name%20email&amp;response_mode=form_post">apple/auth/authorize</a>, \
            <code>POST apple/auth/token</code>, <code>POST apple/auth/revoke</code>, <code>POST \
            apple/auth/usermigrationinfo</code></td></tr>
            <tr><td>Google</td><td><a href="google/oauth2/v3/certs">google/oauth2/v3/certs</a>, \
            <a href="google/o/oauth2/v2/auth?client_id=example.apps.googleusercontent.com&amp;redirect_uri=\(redirect)\
            &amp;response_type=code&amp;scope=openid%20email%20profile">google/o/oauth2/v2/auth</a>, <code>POST \
            google/token</code>, <code>google/tokeninfo</code>, <code>google/oauth2/v3/userinfo</code></td></tr>
            <tr><td>Facebook</td><td>\
            <a href="facebook/.well-known/oauth/openid/jwks/">facebook/.well-known/oauth/openid/jwks/</a>, \
            <code>facebook/debug_token</code>, <code>facebook/me</code></td></tr>
            </table>
            <p>To sign in without a page, like a phone's SDK:</p>
            <pre><code>curl http://\(authority)/control/apple/sign-in -H 'content-type: application/json' \\
              -d '{"client_id":"com.example.app","person":{"email":"someone@example.com","given_name":"Some"}}'</code></pre>
            <p>Other controls: <code>control/google/sign-in</code>, <code>control/facebook/sign-in</code>, \
            <code>control/apple/notify</code>, <code>control/apple/transfer</code>, \
            <code>control/google/risc</code>, <code>control/apple/clients</code>, <code>control/keys/rotate</code>, \
            <code>control/misbehave</code>, <a href="control/counts">control/counts</a>, \
            <code>control/counts/reset</code>. <code>Sources/ProviderSimulator/README.md</code> describes all of \
            them.</p>

            """
        )
    }
}
