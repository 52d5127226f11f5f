"""Apps on phones, closed at the end of each test."""

import pytest

from bill_splitter import BillSplitter


@pytest.fixture
def new_app():
    apps = []

    def make(phone, address=None, key=None):
        apps.append(BillSplitter(phone, address, key))
        return apps[-1]

    yield make
    for app in apps:
        app.close()


@pytest.fixture
def app(new_app, phone):
    """An app that nobody has signed in to."""
    return new_app(phone)
