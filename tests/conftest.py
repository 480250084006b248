"""Settings of all tests."""

from hypothesis import HealthCheck, settings

# A slow or busy machine is no failure: neither the first call, which compiles, nor a neighbour's load.
settings.register_profile("canfield", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("canfield")
