package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.store.Script.key;
import static stoa.store.Script.put;
import static stoa.store.Script.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import stoa.CallFailed;
import stoa.LogAddress;
import stoa.Unavailable;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.log.Batch;
import stoa.log.BatchOutcome;
import stoa.log.Entry;
import stoa.log.LocalBatchLog;
import stoa.log.Token;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.calls.Terms;
import stoa.store.changes.ChangeFollower;
import stoa.store.changes.LoggedChange;
import stoa.store.records.Records;
import stoa.store.records.Refusal;

/// A reader of changes finds the key of each stream, whatever has become of earlier beginnings of
/// the key.
class LoggedChangesTest {
  private static final LoggedChange.Names NAMES =
      new LoggedChange.Names() {
        @Override
        public Iterable<String> spaces() {
          return List.of("script");
        }

        @Override
        public Key key(String space, byte[] name) {
          return Key.of(space, text(name));
        }

        @Override
        public boolean awaits(Key key, Records.Put put) {
          return false;
        }
      };

  private final LocalBatchLog log =
      new LocalBatchLog(Device.open(new MemoryDisk(64 << 20), DeviceConfig.standard()));

  private static ChangeFollower reader(Store store) {
    var all =
        new LoggedChange.ChangeQuery(
            "script", Set.of(), null, LoggedChange.Detail.CALLS, Long.MAX_VALUE);
    return store.changes(NAMES).follow(new LogAddress(0, 1), all, Integer.MAX_VALUE);
  }

  /// Returns what a reader is told next, up to the end of the log: the values, and `-` for a
  /// deletion.
  private static List<String> told(ChangeFollower reader) {
    var told = new ArrayList<String>();
    for (var slot = reader.poll(); slot != null; slot = reader.poll()) {
      for (LoggedChange change : slot.changes()) {
        Records.Put put = change.put();
        told.add(text(change.key().name()) + " " + (put == null ? "-" : text(put.value())));
      }
    }
    return told;
  }

  @Test
  void tellsOfAKeyThatBeginsAgainAfterItsBeginningWasTakenBack() {
    try (var store = Script.open(log)) {
      ChangeFollower reader = reader(store);
      assertThrows(CallFailed.class, () -> put(store, "k", "overflow"));
      assertEquals(List.of(), told(reader)); // and looks for the key meanwhile
      put(store, "k", "a");
      put(store, "l", "b");
      assertEquals(List.of("k a", "l b"), told(reader));
    }
  }

  @Test
  void tellsOfEarlierGenerationsWhenTheLastBeginningWasTakenBack() {
    try (var store = Script.open(log)) {
      put(store, "k", "a");
      store.delete(store.target(key("k")), Terms.expecting(new Existence.Any(null)));
      assertThrows(CallFailed.class, () -> put(store, "k", "overflow"));
      assertEquals(List.of("k a", "k -"), told(reader(store)));
      put(store, "k", "b");
      assertEquals(List.of("k a", "k -", "k b"), told(reader(store)));
    }
  }

  @Test
  void tellsOfAKeyThatBeginsAfterTheRefusalOfACall() {
    byte[] refused =
        Records.refused(
            new Records.RefusedCall(
                new Records.Origin(key("caller").stream(), 1, 1),
                Refusal.of(new Unavailable("there was no room"))));
    var entry = new Entry(key("k").stream(), 1, 0, 1, Records.REFUSED, refused, null);
    var token = new Token(new LogAddress(log.tail().epoch(), 1), 1);
    log.append(
        new Batch(token, log.term(), 1, 1, List.of(entry)),
        outcome -> assertInstanceOf(BatchOutcome.Committed.class, outcome));
    try (var store = Script.open(log)) {
      ChangeFollower reader = reader(store);
      assertEquals(List.of(), told(reader));
      put(store, "k", "a");
      assertEquals(List.of("k a"), told(reader));
    }
  }

  @Test
  void readsLargeEntriesInPagesThatFitMemory() {
    String large = "x".repeat(1 << 20);
    try (var store = Script.open(log)) {
      var told = new ArrayList<String>();
      for (int i = 0; i < 20; i++) {
        put(store, "k" + i % 3, i + large);
        told.add("k" + i % 3 + " " + i + large);
      }
      var all =
          new LoggedChange.ChangeQuery("script", Set.of(), null, LoggedChange.Detail.STATES, 0);
      var changes = store.changes(NAMES);
      LoggedChange.Page page = changes.read(new LogAddress(0, 1), changes.committed(), all, 1_000);
      assertTrue(page.bytes() < 10 << 20, () -> page.bytes() + " bytes");
      assertEquals(told, told(reader(store)));
    }
  }
}
