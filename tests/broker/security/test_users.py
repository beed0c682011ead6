"""The users file, accounts and exposure checks, without a server."""

import json
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tamis.broker.protocol.names import Names
from tamis.broker.security.accounts import accounts
from tamis.broker.security.exposure import check_exposed, is_loopback, parsed_address
from tamis.broker.security.guard import Guard, UsersFile
from tamis.broker.security.users import (
    User,
    Users,
    checked_user,
    new_nkey,
    read_users,
    token_hash,
    with_new_token,
    with_nkey,
    write_users,
)
from tamis.cli import app
from tamis.errors import BrokerError


def tamis(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, done.output


def test_a_token_is_printed_once_and_kept_as_a_hash(tmp_path: Path) -> None:
    import bcrypt

    file = tmp_path / "deep" / "users.json"
    code, output = tamis("user", "add", "ann", "--role", "subscribe", "--users", str(file))
    token = output.split()[0]
    assert code == 0 and len(token) >= 43
    kept = file.read_text()
    assert token not in kept and stat.S_IMODE(file.stat().st_mode) == 0o600
    user = read_users(file).with_token(token)
    assert user is not None and user.name == "ann" and user.sha256 == token_hash(token)
    assert bcrypt.checkpw(token.encode(), user.bcrypt.encode())
    assert read_users(file).with_token(token + "x") is None
    assert read_users(file).with_token("") is None
    code, output = tamis("user", "list", "--users", str(file))
    assert json.loads(output)["roles"] == ["subscribe"] and user.sha256 not in output


def test_users_are_added_changed_and_removed(tmp_path: Path) -> None:
    file = ["--users", str(tmp_path / "users.json")]
    _, first = tamis("user", "add", "ann", "--role", "subscribe", "--subscriber", "ann-2", *file)
    code, output = tamis("user", "add", "ann", "--role", "publish", *file)
    assert code == 2 and "'ann' exists" in output
    code, second = tamis("user", "token", "ann", *file)
    known = read_users(tmp_path / "users.json")
    assert known.with_token(first.split()[0]) is None
    found = known.with_token(second.split()[0])
    assert found is not None and found.all_subscribers == ("ann", "ann-2")
    code, output = tamis("user", "remove", "bob", *file)
    assert code == 2 and "known users: ann" in output
    assert tamis("user", "remove", "ann", *file)[0] == 0
    assert tamis("user", "list", *file) == (0, "")
    for name in ("a b", "", "x" * 65, "a.b", "*"):
        assert tamis("user", "add", name, "--role", "admin", *file)[0] == 2
    code, output = tamis("user", "add", "robot", "--role", "subscribe", "--nkey", "new", *file)
    assert code == 0 and output.startswith("SU")
    assert output.split()[0] not in (tmp_path / "users.json").read_text()
    code, output = tamis("user", "config", *file)
    assert code == 0 and "nkey: U" in output and "tamis.sub.robot.*" in output


def test_a_link_user_has_no_other_role_or_subscriber(tmp_path: Path) -> None:
    file = ["--users", str(tmp_path / "users.json")]
    for more in (["--role", "publish"], ["--role", "admin"], ["--subscriber", "ann"]):
        code, output = tamis("user", "add", "rome", "--role", "link", *more, *file)
        assert code == 2 and "cannot have other roles" in output
    assert tamis("user", "add", "rome", "--role", "link", *file)[0] == 0
    text = accounts(read_users(tmp_path / "users.json"), Names("x"), "hash")
    assert "x.events.link.rome" in text and "x.sub." not in text
    assert '"x.events"' not in text and '"x.events.>"' not in text


def test_an_invalid_users_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    for text in ("", "[]", "{}", '{"users": 5}', '{"users": [{"name": "a"}]}', "\x00"):
        file.write_text(text)
        with pytest.raises(BrokerError, match="not a users file"):
            read_users(file)
    file.write_text('{"users": [{"name": "a", "roles": ["king"]}]}')
    with pytest.raises(BrokerError, match="king"):
        read_users(file)
    with pytest.raises(BrokerError, match="No such file"):
        read_users(tmp_path / "none.json")
    with pytest.raises(BrokerError, match="secret"):
        with_nkey(checked_user("a", ["admin"]), new_nkey()[1])


def test_roles_grant_what_they_say() -> None:
    ann = checked_user("ann", ["subscribe"], ["ann-2"])
    assert ann.has_role("subscribe") and not ann.has_role("publish") and not ann.has_role("admin")
    assert ann.can_act_as("ann") and ann.can_act_as("ann-2") and not ann.can_act_as("bob")
    shop = checked_user("shop", ["publish"], ["bob"])
    assert not shop.can_act_as("shop") and not shop.can_act_as("bob")
    ops = checked_user("ops", ["admin"])
    assert ops.has_role("publish") and ops.can_act_as("anybody")


def test_accounts_export_to_each_what_is_theirs() -> None:
    ann, _ = with_new_token(checked_user("ann", ["subscribe"]))
    shop, _ = with_new_token(checked_user("shop", ["publish"]))
    ops, _ = with_new_token(checked_user("ops", ["admin"]))
    users = Users({user.name: user for user in (ann, shop, ops)})
    text = accounts(users, Names("x"), "HASH")
    exports = {line.strip() for line in text.splitlines() if '{service: "' in line}
    assert '{service: "x.sub.ann.*", accounts: ["USER_ann"]}' in exports
    assert '{service: "x.events", accounts: ["USER_shop"]}' in exports
    both = [line for line in exports if "ann" in line and "shop" in line]
    assert len(both) == 1 and '"x.status"' in both[0]
    assert "USER_ops" not in text and '{user: "ops"' in text


def test_listening_beyond_the_loopback_needs_users(tmp_path: Path) -> None:
    for host in ("127.0.0.1", "127.3.3.3", "::1", "[::1]", "localhost"):
        assert is_loopback(host)
        check_exposed(host, False, "NATS")
    for host in ("0.0.0.0", "::", "", "192.168.1.2", "example.org", "localhost.evil.org"):
        assert not is_loopback(host)
        check_exposed(host, True, "NATS")
        with pytest.raises(BrokerError, match="tamis user add"):
            check_exposed(host, False, "NATS")
    data = ["--data", str(tmp_path)]
    for arguments in (["--host", "0.0.0.0"], ["--http", "0.0.0.0:8080"], ["--http", ":8080"]):
        code, output = tamis("serve", *arguments, *data)
        assert code == 2 and "tamis user add" in " ".join(output.split())
    assert not (tmp_path / "nats-server.conf").exists()
    for wrong in ("", "x", "127.0.0.1:x", "127.0.0.1:99999", ":²"):
        with pytest.raises(BrokerError):
            parsed_address(wrong)
    code, output = tamis("serve", "--tls-cert", "none.pem", *data)
    assert code == 2 and "--tls-key" in output


def test_a_guard_keeps_its_secret(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    write_users(file, Users())
    store = tmp_path / "store"
    first = Guard(store=store, names=Names(), file=UsersFile(file))
    second = Guard(store=store, names=Names(), file=UsersFile(file))
    assert first.options() == second.options()
    secret = first.options()["password"]
    assert len(secret) >= 43 and secret not in first.sections()[0]
    assert first.sections() == first.sections()
    assert stat.S_IMODE((store / "broker.secret").stat().st_mode) == 0o600
    assert [each.name for each in store.iterdir()] == ["broker.secret"]


def test_a_changed_users_file_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "users.json"
    write_users(file, Users())
    seen = UsersFile(file)
    assert not seen.refresh()
    write_users(file, Users({"a": User(name="a", roles=frozenset({"publish"}))}))
    assert seen.refresh() and list(seen.users.by_name) == ["a"] and not seen.refresh()
    file.write_text("{")
    assert not seen.refresh() and list(seen.users.by_name) == ["a"]
    file.unlink()
    assert not seen.refresh() and list(seen.users.by_name) == ["a"]
