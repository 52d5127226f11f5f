import Postgres
import ServiceKit
import Testing

@testable import ServiceStore

struct DatabaseSettingsTests {
    private let keys = ServiceKeys(program: "profile", listenPort: 7002)

    @Test(arguments: ConnectionFault.allCases)
    func `Each fault names its setting in the advice`(fault: ConnectionFault) {
        let settings = DatabaseSettings(keys)
        let key = settings.key(of: fault)
        #expect(key.hasPrefix("VESTIBULE_"))
        #expect(settings.advice(fault).contains("VESTIBULE_"))
        if fault != .notAdmitted { #expect(settings.advice(fault).contains(key)) }
    }

    @Test(arguments: [
        (ConnectionFault.password, "VESTIBULE_PROFILE_DATABASE_PASSWORD"), (.noRole, "VESTIBULE_PROFILE_DATABASE_USER"),
        (.tooMany, "VESTIBULE_PROFILE_DATABASE_CONNECTIONS"), (.noDatabase, "VESTIBULE_DATABASE_NAME"),
        (.refused, "VESTIBULE_DATABASE_HOST"), (.certificate, "VESTIBULE_DATABASE_CA_FILE"),
        (.noTLS, "VESTIBULE_DATABASE_TLS"), (.pooler, "VESTIBULE_DATABASE_POOLER"),
    ])
    func `A service's own keys are named`(fault: ConnectionFault, key: String) {
        #expect(DatabaseSettings(keys).key(of: fault) == key)
    }

    @Test func `The owner of the tables and PostgreSQL itself have keys of their own`() {
        #expect(DatabaseSettings(ownerOf: keys).key(of: .password) == "VESTIBULE_PROFILE_DATABASE_OWNER_PASSWORD")
        #expect(DatabaseSettings(keys).direct.advice(.refused).contains("VESTIBULE_DATABASE_DIRECT_PORT"))
    }
}
