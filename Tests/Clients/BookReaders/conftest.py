"""The app on people's phones."""

import pytest

from book_reader import DECODER, BookReader


@pytest.fixture(scope="session")
def decoder(compiled):
    return compiled(DECODER)


@pytest.fixture
def new_reader(new_phone, decoder):
    """Makes the app on a new person's phone, who has just tapped on Apple's button."""
    def make(phone=None, username=None):
        reader = BookReader(phone or new_phone(), decoder, username)
        reader.ask_apple()
        return reader

    return make


@pytest.fixture
def reader(new_reader):
    return new_reader()
