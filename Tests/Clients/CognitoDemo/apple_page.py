"""The simulated Apple's page, as a person uses it."""


def signing_in_as(person):
    """Fills in who one is, and agrees."""
    def act(page):
        page.fill("input[name=email]", person.email)
        page.fill("input[name=given_name]", person.given_name)
        page.fill("input[name=family_name]", person.family_name)
        # What comes after the click ends outside of the browser, so that there is no page to wait for.
        page.click("#continue", no_wait_after=True)

    return act


def closing_it(page):
    """Leaves without signing in."""
    page.click("#cancel", no_wait_after=True)
