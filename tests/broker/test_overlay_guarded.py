"""A link between nodes that ask who one is."""

import asyncio
import ssl
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from nats.errors import Error as NatsError

import tamis
from tamis.broker.broker import Broker
from tamis.broker.config import ServerConfig
from tamis.broker.connection import connected
from tamis.broker.encryption import trusting
from tamis.broker.guarding import Guard, UsersFile
from tamis.broker.names import Names
from tamis.broker.server import Server
from tamis.broker.settings import NodeSettings, Settings
from tamis.broker.users import Users, checked_user, with_new_token, write_users
from tamis.errors import BrokerError
from tests.broker.certificates import certified
from tests.broker.conftest import run
from tests.broker.overlaying import out_of_step
from tests.broker.ports import free_port

_ROLES = {"shop": ["publish"], "ann": ["subscribe"], "link-rome": ["admin"]}


@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "tls"])
def test_a_link_with_users(encrypted: bool, tmp_path: Path) -> None:
    certificate: dict[str, str] = {}
    trusted: dict[str, ssl.SSLContext] = {}
    if encrypted:
        made = certified(tmp_path)
        certificate = {"certificate": made.certificate, "key": made.key}
        trusted = {"tls": trusting(made.authority)}

    async def go() -> None:
        async with AsyncExitStack() as stack:
            urls, guards, tokens = {}, {}, {}
            for name in ("paris", "rome"):
                users = {}
                for each, roles in _ROLES.items():
                    users[each], tokens[name, each] = with_new_token(checked_user(each, roles))
                file = tmp_path / f"{name}.json"
                write_users(file, Users(users))
                guard = Guard(
                    store=tmp_path / name, names=Names(), file=UsersFile(file), **certificate
                )
                config = ServerConfig(
                    store=tmp_path / name, port=free_port(), sections=guard.sections()
                )
                urls[name] = (await stack.enter_async_context(Server(config))).url
                guards[name] = guard

            async def started(name: str, **node: object) -> Broker:
                connection = await connected(urls[name], **guards[name].options())
                stack.push_async_callback(connection.close)
                settings = Settings(node=NodeSettings(name=name, **node))  # type: ignore[arg-type]
                return await stack.enter_async_context(Broker(connection, settings))

            brokers = {"paris": await started("paris")}
            known = f"link-rome:{tokens['paris', 'link-rome']}@127.0.0.1"
            there = urls["paris"].replace("127.0.0.1", known)
            if encrypted:
                doubtful = await started("rome", links=(there,))
                with pytest.raises(BrokerError, match="no TLS with NATS") as caught:
                    await asyncio.wait_for(doubtful.failed(), 20)
                assert caught.value.code == "tls"
            brokers["rome"] = await started("rome", links=(there,), options=trusted)
            elsewhere = urls["paris"].replace("127.0.0.1", "link-rome:wrong@localhost")
            stranger = await started("rome", links=(elsewhere,), options=trusted)
            with pytest.raises(BrokerError, match="refuses us") as caught:
                await asyncio.wait_for(stranger.failed(), 20)
            assert caught.value.code == "auth" and "wrong" not in str(caught.value)

            async def settled() -> None:
                while out_of_step({n: await b.node.refresh() for n, b in brokers.items()}):  # type: ignore[union-attr]
                    await asyncio.sleep(0.05)

            async with (
                tamis.connect(
                    urls["rome"], user="ann", password=tokens["rome", "ann"], timeout=20, **trusted
                ) as ann,
                tamis.connect(
                    urls["paris"],
                    user="shop",
                    password=tokens["paris", "shop"],
                    timeout=2,
                    **trusted,
                ) as shop,
            ):
                await ann.subscribe("n = 1")
                await settled()
                await shop.publish_many([{"n": 0}, {"n": 1}])
                assert [m.origin async for m in ann.messages(limit=1, timeout=20)] == ["paris.2"]
                # A publisher cannot pretend to be a link.
                with pytest.raises(NatsError):
                    await shop._connection.nats.request(
                        "tamis.events.link.rome", b'{"n": 1}', timeout=1
                    )

    run(go(), 90)
