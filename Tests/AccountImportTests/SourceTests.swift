import Models
import Testing

@testable import AccountImport

/// What is taken of each backend's accounts.
struct SourceTests {
    private static let one = "11111111-1111-4111-8111-111111111111"
    private static let two = "22222222-2222-4222-8222-222222222222"

    @Test func `Columns of phone-code accounts are named, and those that are named must be there`() throws {
        var plan = ImportPlan(.phoneCodes)
        (plan.columns.id, plan.columns.phone) = ("uid", "mobile")
        (plan.columns.name, plan.columns.createdAt, plan.columns.username) = (nil, nil, "handle")
        let read = try rows("mobile,uid,handle\n09171234567,7,maria\n", plan)
        let account = try #require(read.first?.account)
        #expect(account.oldID == "7" && account.phone == "09171234567" && account.username == "maria")
        #expect(account.hasNewID && account.createdAtMilliseconds == nil && account.names.isEmpty)
        #expect(problem("uid,mobile\n", plan)?.contains("there is no column \"handle\"") == true)
    }

    @Test func `Supabase's users have what its columns say, whether CSV or JSON`() throws {
        let metadata = "{\"\"full_name\"\":\"\"Maria Santos\"\"}"
        let csv = """
            instance_id,id,email,phone,phone_confirmed_at,raw_user_meta_data,created_at,banned_until,deleted_at,is_anonymous
            0,\(Self.one),m@example.com,639171234567,2024-05-01 12:00:00+00,"\(metadata)",2024-05-01 12:00:00.5+00,,,f
            0,\(Self.two),,639171234568,,,2024-05-01 12:00:00+00,2030-01-01 00:00:00+00,2024-06-01 00:00:00+00,t
            0,not-a-uuid,,,,,,,,
            """
        let json = """
            {"id":"\(Self.one)","email":"m@example.com","phone":"639171234567","phone_confirmed_at":"2024-05-01T12:00:00Z",
             "user_metadata":{"full_name":"Maria Santos"},"created_at":"2024-05-01T12:00:00.5Z","identities":[
               {"provider":"google","id":"sub-1","identity_data":{"sub":"sub-1","email":"m@gmail.com","email_verified":true}}]}
            """
        let read = try rows(csv, ImportPlan(.supabase))
        let maria = try #require(read.first?.account)
        #expect(maria.userID == UserID(Self.one) && maria.phone == "+639171234567" && maria.names == ["Maria Santos"])
        #expect(maria.createdAtMilliseconds == 1_714_564_800_500 && maria.otherWays == ["email"] && !maria.isBlocked)
        let other = try #require(read[1].account)
        #expect(other.phone == nil && other.otherWays == ["phone", "anonymous"] && other.isBlocked && other.isDeleted)
        #expect(read[2].reason == .idInvalid)
        let told = try #require(try rows(json, ImportPlan(.supabase)).first?.account)
        #expect(told.phone == maria.phone && told.names == maria.names)
        let identity = try #require(told.identities.first)
        #expect(identity.provider == "google" && identity.subject == "sub-1")
        #expect(identity.email == "m@gmail.com" && identity.isEmailVerified)
        #expect(problem("id,phone,created_at\n", ImportPlan(.supabase))?.contains("\"phone_confirmed_at\"") == true)
    }

    @Test func `Firebase's users are read as its command and its SDKs write them`() throws {
        let text = """
            {"users": [
            {"localId":"u1","email":"m@gmail.com","emailVerified":true,"displayName":"Maria","createdAt":"1714564800000",
             "lastSignedInAt":"1714564900000","phoneNumber":"+639171234567","providerUserInfo":[
              {"providerId":"google.com","rawId":"g1","email":"m@gmail.com","displayName":"Maria S"},
              {"providerId":"facebook.com","rawId":"f1","email":"other@example.com"}]},
            {"localId":"u2","passwordHash":"x","salt":"y","email":"p@example.com","createdAt":"1714564800000","disabled":true},
            {"uid":"u3","metadata":{"creationTime":"Wed, 01 May 2024 12:00:00 GMT"},"providerData":[
              {"providerId":"apple.com","uid":"001234.ab"},{"providerId":"phone","uid":"+639171234569"}]}
            ]}
            """
        let accounts = try rows(text, ImportPlan(.firebase)).compactMap(\.account)
        try #require(accounts.count == 3)
        #expect(
            accounts[0].hasNewID && accounts[0].phone == "+639171234567" && accounts[0].names == ["Maria", "Maria S"]
        )
        #expect(accounts[0].identities.map(\.subject) == ["g1", "f1"])
        #expect(accounts[0].identities.map(\.isEmailVerified) == [true, false], "only the account's own address is")
        #expect(accounts[0].identities[0].lastSignInAtMilliseconds == 1_714_564_900_000)
        #expect(accounts[1].otherWays == ["password"] && accounts[1].isBlocked && accounts[1].identities.isEmpty)
        #expect(accounts[2].identities.map(\.provider) == ["apple.com", "phone"])
        #expect(accounts[2].createdAtMilliseconds == 1_714_564_800_000)
    }

    @Test func `Cognito's users are read from CSV and from ListUsers`() throws {
        let identities = #"[{""userId"":""s1"",""providerName"":""SignInWithApple"",""dateCreated"":1701125599632}]"#
        let csv = """
            cognito:username,name,email,email_verified,phone_number,phone_number_verified,sub,identities
            maria,Maria,m@example.com,TRUE,+639171234567,TRUE,\(Self.one),
            SignInWithApple_s1,,a@example.com,true,+639171234568,false,\(Self.two),"\(identities)"
            plain,,,,,,,
            """
        let accounts = try rows(csv, ImportPlan(.cognito)).compactMap(\.account)
        try #require(accounts.count == 3)
        #expect(accounts[0].userID == UserID(Self.one) && accounts[0].phone == "+639171234567")
        #expect(accounts[1].phone == nil && accounts[1].identities.map(\.subject) == ["s1"])
        #expect(accounts[1].identities.first?.provider == "SignInWithApple")
        #expect(accounts[1].identities.first?.isEmailVerified == true)
        #expect(accounts[2].oldID == "plain" && accounts[2].otherWays == ["password"])
        let json = """
            {"Users":[{"Username":"Google_g1","Enabled":false,"UserCreateDate":1689980857.949,"Attributes":[
              {"Name":"sub","Value":"\(Self.one)"},{"Name":"given_name","Value":"Maria"},{"Name":"family_name","Value":"Santos"},
              {"Name":"identities","Value":"[{\\"userId\\":\\"g1\\",\\"providerName\\":\\"Google\\"}]"}]}]}
            """
        let told = try #require(try rows(json, ImportPlan(.cognito)).first?.account)
        #expect(told.names == ["Maria Santos"] && told.isBlocked && told.createdAtMilliseconds == 1_689_980_857_949)
        #expect(told.identities.first?.subject == "g1" && told.userID == UserID(Self.one))
    }
}
