"""The simulated Apple's page, as a person uses it."""


def sign_in_as(page, person):
    """Fills in who one is, and agrees."""
    page.fill("input[name=email]", person.email)
    page.fill("input[name=given_name]", person.given_name)
    page.fill("input[name=family_name]", person.family_name)
    page.click("button[value=allow]")


def cancel(page):
    """Closes the page without signing in."""
    page.click("button[value=cancel]")
