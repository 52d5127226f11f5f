"""The tests of the services by a foreign gRPC client, which Tests/Interop has, against the stack of this run."""

import pytest

from test_services import *  # noqa: F401,F403 (its tests and fixtures are ours now)

# The stack tells its addresses where those tests look for them.
pytestmark = pytest.mark.usefixtures("stack")
