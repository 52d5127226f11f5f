import API
import HTTPJSON

/// The button of a provider on the sign-in page: for Apple, Google and Facebook with the logo, the words and the colours of their
/// guidelines.
struct ProviderButton {
    /// The provider, such as `apple`.
    let provider: String
    /// The provider's name for users; empty if none is configured.
    let displayName: String

    /// The buttons of a page, in its order.
    static func all(_ page: IdentityV1.SignInPage) -> [ProviderButton] {
        page.providers.enumerated().map { index, provider in
            let names = page.providerNames
            return ProviderButton(provider: provider, displayName: names.indices.contains(index) ? names[index] : "")
        }
    }

    /// The words.
    func label(in text: PageText) -> String {
        switch provider {
        case "apple": text[.buttonApple]
        case "google": text[.buttonGoogle]
        case "facebook": text[.buttonFacebook]
        default: text[.buttonOther, ["provider": name]]
        }
    }

    /// A link to where signing in begins.
    ///
    /// - Parameter isDown: whether the provider has just failed.
    func html(to address: String, isDown: Bool, in text: PageText) -> String {
        let description = isDown ? " aria-describedby=\"down\"" : ""
        let link = """
            <a class="button \(style)" href="\(HTMLText.escaped(address))"\(description)>\(logo)\
            <span>\(HTMLText.escaped(label(in: text)))</span></a>
            """
        return isDown ? "\(link)\n<p id=\"down\" class=\"down\">\(text.html(.providerDown))</p>" : link
    }

    /// A name to use where none is configured: that of the providers file, with a capital.
    var name: String {
        displayName.isEmpty ? "\(provider.prefix(1).uppercased())\(provider.dropFirst())" : displayName
    }

    private var style: String {
        switch provider {
        case "apple", "google", "facebook": provider
        default: "other"
        }
    }

    /// The words beside it say what it is, so it has no text of its own.
    private var logo: String {
        switch provider {
        case "apple":
            """
            <picture><source media="(prefers-color-scheme: dark)" srcset="\(PageAsset.appleBlack.address)">\
            \(image(.appleWhite))</picture>
            """
        case "google": image(.google)
        case "facebook": image(.facebook)
        default: ""
        }
    }

    private func image(_ asset: PageAsset) -> String {
        "<img src=\"\(asset.address)\" alt=\"\" width=\"20\" height=\"20\">"
    }
}
