"""The clients against a real server, whose address is in STOA_TEST_URL; ./stoa test runs this."""

import asyncio
import datetime
import decimal
import importlib.util
import os
import sys
import tempfile
import threading
import unittest
import uuid

import stoa
import stoa.aio
from stoa import generate

URL = os.environ["STOA_TEST_URL"]


class SyncTest(unittest.TestCase):
    def setUp(self):
        self.store = stoa.connect(URL)
        self.addCleanup(self.store.close)

    def account(self):
        return self.store.get("shop.Account", str(uuid.uuid4()))

    def test_calls_and_reads(self):
        account = self.account()
        self.assertEqual(100, account.call("deposit", 100))
        self.assertIsNone(account.call("withdraw", 30))
        self.assertEqual(70, account.read("balance"))
        self.assertEqual(100, account.read("balance", at=1))
        self.assertEqual(70, account.state()["state"]["balance"])
        self.assertEqual("balance", account.diff(1, 2)["differences"][0]["path"])
        entries = account.history(results=True)["entries"]
        self.assertEqual(100, entries[0]["returned"])
        self.assertTrue(account.delete())
        self.assertFalse(account.delete())

    def test_keys_of_all_kinds(self):
        for key in ("two words", "long:7", 'a"b\\c', "", 7, -7, stoa.Int(7), uuid.uuid4()):
            account = self.store.get("shop.Account", key)
            before = account.call("balance")
            self.assertEqual(before + 1, account.call("deposit", 1), key)
        seven = self.store.get("shop.Account", 7)
        self.assertEqual(seven, self.store.get("shop.Account", stoa.Key("long:7")))
        with self.assertRaises(TypeError):
            self.store.get("shop.Account", 1.5)

    def test_problems_have_their_classes(self):
        account = self.account()
        with self.assertRaises(stoa.Thrown) as thrown:
            account.call("withdraw", 1)
        self.assertEqual("there are only 0", thrown.exception.detail)
        self.assertTrue(thrown.exception.exception.endswith("Overdrawn"))
        with self.assertRaises(stoa.BadRequest):
            account.call("deposit", "much")
        with self.assertRaises(stoa.NotFound):
            account.call("none")
        made = self.store.create("shop.Account", str(uuid.uuid4()), 50)
        self.assertEqual(50, made.read("balance"))
        with self.assertRaises(stoa.AlreadyExists):
            self.store.create("shop.Account", stoa.Key(made.ref.key), 60)
        with self.assertRaises(TypeError):
            account.call("deposit", object())
        with self.assertRaises(stoa.Unavailable):
            stoa.connect("http://127.0.0.1:1", timeout=0.1).types()

    def test_transactions(self):
        one, other = self.account(), self.account()
        one.call("deposit", 10)
        calls = [one.calling("withdraw", 4), other.calling("deposit", 4, result=int)]
        self.assertEqual([None, 4], self.store.transact(calls, once=True, timeout=5))
        with self.assertRaises(stoa.Thrown) as thrown:
            self.store.transact([other.calling("deposit", 1), one.calling("withdraw", 100)])
        self.assertEqual(1, thrown.exception.call)
        reads = [one.calling("balance"), other.calling("balance")]
        self.assertEqual([6, 4], self.store.transact(reads, read_only=True))

    def test_calls_of_many_threads_are_made_once(self):
        account = self.account()
        store = stoa.connect(URL, once=True)
        self.addCleanup(store.close)
        same = store.get("shop.Account", stoa.Key(account.ref.key))
        threads = [threading.Thread(target=same.call, args=("deposit", 1)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(8, account.read("balance"))

    def test_events_go_on_behind_the_last_one(self):
        account = self.account()
        account.call("deposit", 1)
        with account.events() as events:
            account.call("deposit", 2)
            account.call("deposit", 3)
            self.assertEqual([[2], [3]], [next(events).data["arguments"] for _ in range(2)])
        with account.events(last="1") as events:
            self.assertEqual("2", next(events).id)

    def test_values_under_keys(self):
        key = str(uuid.uuid4())
        self.assertIsNone(self.store.value(key))
        with self.store.puts(key) as events:
            self.assertEqual({"exists": False}, next(events).data)
            self.store.put(key, {"a": [1, 2.5, None, True]})
            self.assertEqual({"a": [1, 2.5, None, True]}, next(events).data["value"])
        self.assertEqual({"a": [1, 2.5, None, True]}, self.store.value(key))
        self.assertTrue(self.store.remove(key))
        self.assertFalse(self.store.remove(key))

    def test_looks_in(self):
        self.account().call("deposit", 1)
        self.assertIn("shop.Account", [one["type"] for one in self.store.types()])
        self.assertTrue(self.store.objects("shop.Account", max=1)["objects"])
        self.assertEqual(1, self.store.status()["groups"])
        self.assertIn("calls", self.store.top(millis=20))


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def test_calls_at_once_and_events(self):
        async with stoa.aio.connect(URL) as store:
            account = store.get("shop.Account", str(uuid.uuid4()))
            async with await account.events() as events:
                answers = await asyncio.gather(*(account.call("deposit", 1) for _ in range(5)))
                self.assertEqual([1, 2, 3, 4, 5], sorted(answers))
                seen = []
                async for event in events:
                    seen.append(event.id)
                    if len(seen) == 5:
                        break
                self.assertEqual(["1", "2", "3", "4", "5"], seen)
            self.assertEqual([5], await store.transact([account.calling("balance")]))
            with self.assertRaises(stoa.Thrown):
                await account.call("withdraw", 6)
            self.assertEqual(5, await account.read("balance"))
            self.assertTrue(await account.delete())


class GeneratedTest(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        path = os.path.join(folder.name, "shop.py")
        assert generate.main([URL, "-o", path]) == 0
        spec = importlib.util.spec_from_file_location("shop", path)
        cls.shop = importlib.util.module_from_spec(spec)
        sys.modules["shop"] = cls.shop
        spec.loader.exec_module(cls.shop)

    def test_values_of_all_kinds_pass_both_ways(self):
        shop = self.shop
        with stoa.connect(URL) as store:
            catalog = store.get(shop.Catalog, str(uuid.uuid4()))
            item = uuid.uuid4()
            price = shop.Money(decimal.Decimal("12.50"), "EUR")
            catalog.price_UUID_HttpShop_Money(item, price)
            self.assertEqual(price, catalog.price_UUID(item))
            self.assertIsNone(catalog.price_UUID(uuid.uuid4()))
            self.assertEqual({str(item): price}, catalog.prices())
            slot = shop.Slot("a", 9)
            painted = catalog.paint([(slot, shop.Color.RED)], once=True)
            self.assertEqual([(slot, shop.Color.RED)], painted)
            account = store.get(shop.Account, "generated")
            catalog.own(account)
            self.assertEqual(account.ref, catalog.owner())
            shape = shop.Group([shop.Circle(1.5), shop.Group([])])
            grown = shop.Group([shop.Circle(3.0), shop.Group([])])
            self.assertEqual(grown, catalog.grown(shape, 2.0))
            time = datetime.datetime(2026, 11, 26, 14, 30, tzinfo=datetime.timezone.utc)
            echoed = catalog.echo(b"\x00\x01", time, [1, 2], [2**53 + 1], float("nan"), "x")
            self.assertEqual(["AAE=", "2026-11-26T14:30:00Z", [1, 2]], echoed[:3])
            self.assertEqual([str(2**53 + 1)], echoed[3])
            large = account.deposit(2**60)
            self.assertEqual(large, account.balance())
            account.withdraw(large)

    async def test_async_classes(self):
        async with stoa.aio.connect(URL) as store:
            account = store.get(self.shop.AsyncAccount, str(uuid.uuid4()))
            self.assertEqual(3, await account.deposit(3))
            self.assertEqual(3, await account.balance())


if __name__ == "__main__":
    unittest.main()
