/// The description of every route, OpenAPI 3.1.1, written by hand; the tests hold it against the routes.
enum OpenAPI {
    /// The document as JSON.
    static let document = """
        {
          "openapi": "3.1.1",
          "info": {
            "title": "Vestibule",
            "version": "1",
            "description": "Sign-in, profiles and groups. Errors are RFC 9457 problem details with a stable code.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}
          },
          "servers": [{"url": "/"}],
          "paths": {
        \(authenticationPaths),
        \(profilePaths),
        \(groupPaths),
        \(systemPaths)
          },
          "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        \(components)
          }
        }
        """
}
