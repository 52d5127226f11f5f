import Testing

@testable import Console

/// Who may do what at the console.
struct ConsoleActTests {
    private func refusal(_ act: ConsoleAct, _ role: ConsoleRole, age: Int64? = 0) -> ActRefusal? {
        do throws(ActRefusal) {
            try act.judge(role, signInAgeSeconds: age, freshSeconds: 300)
            return nil
        } catch {
            return error
        }
    }

    @Test func `Each role may do what the ones before it may, and no more than the table says`() {
        let reading: Set<ConsoleAct> = [.find, .list, .look, .disputes, .work, .charts]
        let helping: Set<ConsoleAct> = [.reveal, .endSessions, .releasePhone, .block, .unblock]
        for act in ConsoleAct.allCases {
            #expect((refusal(act, .read) == nil) == reading.contains(act), "\(act)")
            #expect((refusal(act, .support) == nil) == (reading.contains(act) || helping.contains(act)), "\(act)")
            #expect(refusal(act, .owner) == nil, "\(act)")
        }
        #expect(refusal(.delete, .support) == .role(.owner) && refusal(.block, .read) == .role(.support))
    }

    @Test func `Blocking and deleting need a recent sign-in by the provider`() {
        for act in ConsoleAct.allCases {
            let isGuarded = act == .block || act == .delete
            #expect(refusal(act, .owner, age: 300) == nil)
            #expect(refusal(act, .owner, age: 301) == (isGuarded ? .signInTooOld : nil), "\(act)")
            #expect(refusal(act, .owner, age: nil) == nil, "a certificate proves itself with each connection")
        }
        #expect(throws: ActRefusal.signInTooOld) {
            try ConsoleAct.delete.judge(.owner, signInAgeSeconds: .max, freshSeconds: 300)
        }
        // The role is looked at first: nobody signs in again in vain.
        #expect(refusal(.delete, .read, age: 1_000) == .role(.owner))
    }

    @Test(arguments: [
        ("+639171234567", "+63•••••67"), ("+12025550123", "+12•••••23"), ("+4912345", "•••••"), ("", ""),
        ("abc", "•••••"),
    ])
    func `A number is masked but for its ends`(number: String, shown: String) {
        #expect(Masking.phone(number) == shown)
    }

    @Test(arguments: [
        ("109876543210987654321", "10•••••21"), ("001234.ab12cd.5678", "00•••••78"), ("12345678", "•••••"), ("", ""),
        ("maria@example.com", "m•••••@•••••.com"), ("+639171234567", "+6•••••67"),
    ])
    func `A provider's name for a person is masked`(subject: String, shown: String) {
        #expect(Masking.subject(subject) == shown)
    }

    @Test(arguments: [
        ("maria@example.com", "m•••••@•••••.com"), ("m@example.co.uk", "m•••••@•••••.uk"), ("", ""),
        ("nobody", "•••••"),
        ("a@b@c.de", "•••••"), ("a@localhost", "•••••"), ("@example.com", "•••••"),
    ])
    func `An address is masked but for its first character and its end`(address: String, shown: String) {
        #expect(Masking.email(address) == shown)
    }
}
