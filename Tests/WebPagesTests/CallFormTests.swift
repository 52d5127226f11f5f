import Testing
import WebPages

struct CallFormTests {
    @Test func `Nothing that a field says becomes markup`() {
        let evil = #""><script>alert('1')</script>&"#
        var field = CallForm.Field("name")
        (field.value, field.hint, field.pattern, field.variable) = (evil, evil, evil, evil)
        field.suggestions = [evil]
        var words = CallForm.Field("words")
        words.kind = .words([(evil, 1)])
        var form = CallForm(id: "a", method: "POST", path: "/a")
        form.parts = [.field(field), .group(name: evil, isArray: true, hint: evil, fields: [words])]
        form.sets = evil
        let text = form.html.text
        #expect(!text.contains("<script") && !text.contains("alert('1')"))
        #expect(text.ranges(of: "&lt;script&gt;").count == 9)
    }

    @Test func `A field that may be left out has an empty choice`() {
        var field = CallForm.Field("role")
        field.kind = .words([("admin", 2), ("member", 1)])
        field.value = "member"
        var form = CallForm(id: "a", method: "PATCH", path: "/a")
        form.parts = [.field(field)]
        #expect(
            form.html.text.contains(
                #"<option value=""></option><option data-number="2">admin</option><option data-number="1" selected>member</option>"#
            )
        )
        field.isRequired = true
        form.parts = [.field(field)]
        #expect(!form.html.text.contains(#"<option value="">"#) && form.html.text.contains(" required>"))
    }

    @Test(arguments: ["", "$(touch /tmp/x)", "`id`", "a;b", "a b", "\"><script>", "a'b", "a&b", "é"])
    func `A name that means something to a shell or a page is not shown`(name: String) {
        #expect(!ShownAuthority.isPlain(name))
    }

    @Test(arguments: ["localhost:8080", "127.0.0.1", "[::1]:8080", "api.example.com"])
    func `A plain name is shown`(name: String) {
        #expect(ShownAuthority.isPlain(name))
    }
}
