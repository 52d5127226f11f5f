import Models
import Testing

struct ScriptTests {
    /// Two strings are equal if they are canonically equivalent; these scalars show which of the two forms a string has.
    private func scalars(_ text: String) -> [String] { text.unicodeScalars.map { String($0.value, radix: 16) } }

    @Test(arguments: [
        // Latin, with what languages put on and between letters
        "O'Brien", "O’Brien", "García-Márquez", "Ñandú", "Nguyễn Thị Mười", "Đặng Văn Ổn", "Łukasz Żółć", "Þórður Æ",
        "İbrahim Çağlar", "ʻIolani Kānehoʻokū", "Ọlá Ṣẹ́gun", "Ŋmaa Ɛsɛ", "Mª José", "Jean-Luc d’Ormesson",
        "Ḥasan al-Ṣabbāḥ",
        // Greek, Cyrillic, Armenian, Georgian: whole words
        "Ελένη Παπαδοπούλου", "Ἀριστοτέλης", "Иван Смирнов", "Ђорђе Ћук", "Їжак Ґрона", "Кадыр Ұлы", "Արմեն Սարգսյան",
        "ნინო ბერიძე", "Команда iOS", "Клуб Toyota", "Иванов-Smith", "Κώστας Smith", "Ани́ Лора́к",
        // Semitic scripts
        "محمد بن عبد الله", "מֹשֶׁה כהן", "שלום (Shalom)", "علی‌رضا", "نامه‌ها", "ܐܒܪܗܡ", "አበበ ቢቂላ", "ދިވެހި", "محمد ۲",
        // India and around it, with joiners
        "प्रिया शर्मा", "क्‍ष", "श्री", "র‍্যাচেল", "সুকান্ত", "தமிழ்ச்செல்வி", "శ్రీనివాస్", "ಕೃಷ್ಣ", "ക്‍", "ശ്രീധരൻ", "ක්‍රිෂාන්",
        "ਗੁਰਪ੍ਰੀਤ", "ગુજરાતી", "བསྟན་འཛིན་རྒྱ་མཚོ", "नेपाली123",
        // Southeast Asia
        "สมชาย ใจดี", "ทีมiOS", "ນ້ຳ", "សុភា", "အောင်ဆန်း", "ᬳᬶᬤᬾ", "ᜃᜎᜌᜀᜈ᜔",
        // East Asia
        "李明", "山田 太郎", "山田さんちのテレビ", "ガンダムZ組", "渡邉󠄂", "葛󠄀城", "김민준", "金民俊씨", "ㄅㄆㄇ李", "ｶﾀｶﾅ", "ᠮᠣᠩᠭᠣᠯ᠋ᠠ",
        // Elsewhere
        "ᏣᎳᎩ", "ᐃᓄᒃᑎᑐᑦ", "ⴰⵎⴰⵣⵉⵖ", "ߒߞߏ", "𞤀𞤣𞤤𞤢𞤥", "ꆈꌠ",
        // Emoji
        "👨‍👩‍👧‍👦🇵🇭", "❤️‍🔥 Ann", "🏴󠁧󠁢󠁥󠁮󠁧󠁿🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🏳️‍🌈🏴‍☠️", "👩🏽‍💻👍🏿", "1️⃣2️⃣", "☎️☎︎", "Café ☕️ №1 & Co. ½ µm",
    ])
    func `Names of every language stay as they are`(name: String) throws {
        #expect(scalars(try GroupName(name).value) == scalars(name))
        #expect(scalars(try DisplayName("\(name) \(name)").value) == scalars("\(name) \(name)"))
    }

    @Test(arguments: [
        "раypal", "pаypal", "Аdmin", "Adмin", "аdmіn", "Οlga", "Mariα", "Օlga", "Jоsé", "ადmin", "Ꭺdmin", "Team аlpha",
        "Ann٣۳", "٣३ab", "कabcд", "ѕcоре",
    ])
    func `A word that mixes scripts to look like another is refused`(name: String) {
        #expect(throws: TextError.mixedScripts) { try DisplayName(name) }
        #expect(throws: TextError.mixedScripts) { try GroupName("\(name), \(name)") }
    }

    @Test(arguments: [
        ("An\u{200B}n", "Ann"), ("A\u{AD}nn", "Ann"), ("\u{FEFF}Ann", "Ann"), ("Ann\u{2060}", "Ann"),
        ("A\u{34F}nn", "Ann"),
        ("Ann\u{200F}", "Ann"), ("\u{200E}Ann", "Ann"), ("\u{61C}محمد", "محمد"), ("A\u{200D}nn", "Ann"),
        ("A\u{200C}nn", "Ann"),
        ("An\u{FE0F}n", "Ann"), ("Ann\u{3164}", "Ann"), ("Ann\u{115F}\u{1160}", "Ann"),
        ("Ann\u{E0061}\u{E007F}", "Ann"),
        ("😀\u{200D}Ann", "😀Ann"), ("👨\u{200D}\u{200D}👩", "👨\u{200D}👩"), ("👨\u{200D}\u{200B}👩", "👨👩"),
        ("🏴\u{E0067}Ann", "🏴Ann"), ("Ann \u{200B} ", "Ann"),
        ("می\u{200C}\u{200C}خواهم", "می\u{200C}خواهم"), ("Ann\u{E0100}", "Ann"), ("Ann\u{180B}", "Ann"),
        ("Ann\u{2064}\u{206A}", "Ann"), ("دار\u{200C}", "دار"),
    ])
    func `Invisible characters are removed`(written: String, name: String) throws {
        #expect(scalars(try GroupName(written).value) == scalars(name))
    }

    @Test(arguments: [
        ("Jose\u{301}", "Jos\u{E9}"), ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"), ("A\u{30A}sa", "\u{C5}sa"),
        ("\u{212B}sa", "\u{C5}sa"),
        ("Ａｄｍｉｎ１", "Admin1"), ("𝓢𝓸𝓹𝓱𝓲𝓮", "Sophie"), ("𝐀𝟏", "A1"), ("山田　太郎！", "山田　太郎！"), ("ﬁ ﷺ № ℡", "ﬁ ﷺ № ℡"),
    ])
    func `A name has one form, in plain letters`(written: String, name: String) throws {
        #expect(scalars(try GroupName(written).value) == scalars(name))
        #expect(try GroupName(name).value == name)
    }

    @Test func `Full-width letters don't bypass the rule`() {
        #expect(throws: TextError.mixedScripts) { try GroupName("Ａdмin") }
        #expect(throws: TextError.mixedScripts) { try GroupName("𝐀dмin") }
        #expect(throws: TextError.mixedScripts) { try GroupName("Ad\u{200D}м\u{200B}in") }
    }

    @Test func `A letter carries at most four marks`() throws {
        #expect(try GroupName("q\u{301}\u{302}\u{303}\u{304}").value.count == 1)
        #expect(throws: TextError.tooManyMarks(marksMax: 4)) { try GroupName("q\u{301}\u{302}\u{303}\u{304}\u{306}") }
    }

    @Test func `A text of only joiners and tags is processed quickly`() {
        for filler in ["\u{200C}", "\u{200D}", "\u{E0061}", "\u{FE0F}"] {
            let text = "🏴" + String(repeating: filler, count: 4_000 / filler.utf8.count - 1)
            #expect(throws: TextError.tooShort(charactersMin: 2)) { try DisplayName(text) }
        }
    }

    @Test func `A name that was accepted before is read unchanged`() {
        #expect(DisplayName(stored: "раypal\u{200B}").value == "раypal\u{200B}")
        #expect(GroupName(stored: "раypal\u{202E}").value == "раypal\u{202E}")
    }

    @Test func `Names may be checked on many threads at once`() async {
        await withTaskGroup(of: Int.self) { group in
            for index in 0..<64 {
                group.addTask {
                    (0..<50).count { _ in
                        (try? DisplayName("Nguyễn Thị \(index)")) != nil && (try? DisplayName("раypal\(index)")) == nil
                    }
                }
            }
            for await rightCount in group { #expect(rightCount == 50) }
        }
    }
}
