"""One Hypothesis profile for all: repeatable in CI, and no deadlines on a shared machine."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "tamis",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
# A soak looks for new examples, and for more of them.
settings.register_profile(
    "soak", settings.get_profile("tamis"), derandomize=False, max_examples=800
)
settings.load_profile("soak" if os.environ.get("TAMIS_SOAK") else "tamis")
