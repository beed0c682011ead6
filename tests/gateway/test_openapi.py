"""Valid and invalid requests generated from the description get only documented answers."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

from tests.broker.whole_service import Service
from tests.soak import count, record

schemathesis = pytest.importorskip("schemathesis")

# A stream does not end; tests/broker/security/test_abuse.py tests its invalid requests.
_LEFT_OUT = ("stream",)


def test_requests_generated_from_the_description_get_documented_answers(service: Service) -> None:
    import httpx
    from schemathesis.checks import not_a_server_error
    from schemathesis.generation import GenerationMode
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    described = httpx.get(service.http + "/openapi.json").json()
    api = schemathesis.openapi.from_dict(described)
    api.config.base_url = service.http
    api.config.generation.update(modes=list(GenerationMode))
    token = {"Authorization": f"Bearer {service.tokens['ops']}"}
    checks = (
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
    )
    tried = 0
    for found in api.get_all_operations():
        operation = found.ok()
        if operation.definition.raw["operationId"] in _LEFT_OUT:
            continue

        def one(case) -> None:  # type: ignore[no-untyped-def]
            nonlocal tried
            tried += 1
            case.call_and_validate(headers=token, checks=checks, timeout=60)

        quick = settings(
            max_examples=count(3, 300),
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        for mode in GenerationMode:
            try:
                quick(given(case=operation.as_strategy(generation_mode=mode))(one))()
            except Unsatisfiable:
                # A path without parameters has no invalid variant.
                assert mode is GenerationMode.NEGATIVE and "{" not in operation.path
    assert tried > 30
    record("requests from the OpenAPI description", tried=tried)
    service.works()
