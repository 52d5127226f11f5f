import JOSE

/// The people who are always there to sign in as, so that nobody has to think of one.
enum Cast {
    static let people: [(given: String, family: String)] = [
        ("Maria", "Santos"), ("Ana", "Cruz"), ("Ben", "Reyes"), ("Joy", "Bautista"), ("Leo", "Garcia"),
    ]

    /// Them, as a provider knows them.
    static func people(_ provider: Provider) -> [Person] {
        people.map { given, family in
            let email = "\(given).\(family)@example.com".lowercased()
            var person = Person(
                subject: Person.subject(provider, email: email),
                email: email,
                isEmailVerified: true
            )
            (person.givenName, person.familyName) = (given, family)
            return person
        }
    }
}

extension SimulatorStore {
    /// The people to choose from: the cast, and who signed in last.
    func people(_ provider: Provider) -> [Person] {
        let recent = recentPeople(provider)
        let cast = Cast.people(provider).map { person in recent.first { $0.subject == person.subject } ?? person }
        return cast + recent.filter { person in !cast.contains { $0.subject == person.subject } }
    }

    /// The people to choose from by all providers, each with a subject of each provider; and the clients that are known from the start.
    func everybody() -> JSONObject {
        var emails: Set<String> = []
        let recent = Provider.allCases.flatMap { recentPeople($0) }
        let people = (Cast.people(.apple) + recent).compactMap { person -> JSONValue? in
            guard let email = person.email, emails.insert(email.lowercased()).inserted else { return nil }
            var subjects = JSONObject()
            for provider in Provider.allCases {
                let known = recentPeople(provider).first { $0.email == email }?.subject
                subjects[provider.rawValue] = .string(known ?? Person.subject(provider, email: email))
            }
            return [
                "email": .string(email), "given_name": .string(person.givenName ?? ""),
                "family_name": .string(person.familyName ?? ""), "subjects": .object(subjects),
            ]
        }
        var clients = JSONObject()
        for provider in Provider.allCases {
            clients[provider.rawValue] = .array(clientIDs(provider).map { .string($0) })
        }
        return ["people": .array(people), "clients": .object(clients)]
    }
}
