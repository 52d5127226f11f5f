"""The simulated providers as tests order them about: misbehaviour, and how often each endpoint was called."""

import contextlib


class Simulated:
    """One provider of a stack's simulator."""

    def __init__(self, stack, name):
        self._simulator = stack.simulator
        self.name = name

    @contextlib.contextmanager
    def misbehaving(self, endpoint, mode="error", **how):
        """An endpoint that answers with an error (`status`) or late (`delay_ms`)."""
        self._order(endpoint, mode, **how)
        try:
            yield
        finally:
            self._order(endpoint, "off")

    def calls(self, endpoint):
        """How often an endpoint was called since the simulator began."""
        counts = self._simulator.get("/control/counts").expect(200)
        return counts.get(self.name, {}).get(endpoint, 0)

    def _order(self, endpoint, mode, **how):
        self._simulator.post(
            "/control/misbehave", {"provider": self.name, "endpoint": endpoint, "mode": mode, **how}).expect(200)
