package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;

class RunningCallsTest {
  private static final StreamId A = StreamId.of("a");
  private static final StreamId B = StreamId.of("b");

  private final ByteBuffer bytes = ByteBuffer.allocate(RunningCalls.BYTES);

  private static RunningCalls.Slot slot(RunningCalls running) {
    var slot = running.slot();
    assertNotNull(slot);
    return slot;
  }

  @Test
  void whatRunsWhenAProcessEndsIsKnownToTheNext() {
    var first = RunningCalls.open(bytes);
    assertFalse(first.hasFailures());
    slot(first).begin(A, 7);
    var ended = slot(first);
    ended.begin(B, 3);
    ended.end();
    var next = RunningCalls.open(bytes);
    assertTrue(next.hasFailures());
    assertEquals(1, next.failures(A, 7));
    assertEquals(0, next.failures(A, 8));
    assertEquals(0, next.failures(B, 3));
  }

  @Test
  void itIsCountedUntilItComesToItsEnd() {
    for (int times = 1; times <= 3; times++) {
      slot(RunningCalls.open(bytes)).begin(A, 7);
      assertEquals(times, RunningCalls.open(bytes).failures(A, 7));
      assertEquals(
          times, RunningCalls.open(bytes).failures(A, 7), "another opening changes nothing");
    }
    var running = RunningCalls.open(bytes);
    running.passed(A, 8);
    assertEquals(3, running.failures(A, 7));
    running.passed(A, 7);
    assertFalse(running.hasFailures());
    assertFalse(RunningCalls.open(bytes).hasFailures());
  }

  @Test
  void anOrderlyEndLeavesNothing() {
    var first = RunningCalls.open(bytes);
    slot(first).begin(A, 7);
    first.close();
    assertFalse(RunningCalls.open(bytes).hasFailures());
  }

  @Test
  void aRunThatEndsBehindAnOrderlyEndChangesNothingOfTheNextOpener() {
    slot(RunningCalls.open(bytes)).begin(A, 7);
    var first = RunningCalls.open(bytes);
    first.close();
    first.passed(A, 7);
    assertEquals(1, RunningCalls.open(bytes).failures(A, 7));
  }

  @Test
  void onlyTheRunThatAThreadBeganLastCounts() {
    var slot = slot(RunningCalls.open(bytes));
    slot.begin(A, 7);
    slot.begin(B, 1);
    assertEquals(List.of(new RunningCalls.Failure(B, 1, 1)), RunningCalls.open(bytes).failures());
  }

  @Test
  void aNoteThatEndsBetweenItsStoresNamesNoRun() {
    var slot = slot(RunningCalls.open(bytes));
    slot.begin(A, 7);
    bytes.putLong(64, B.high()).putLong(72, B.low()); // and not the number
    var next = RunningCalls.open(bytes);
    assertEquals(0, next.failures(A, 7));
    assertEquals(0, next.failures(B, 7));
  }

  @Test
  void aReleasedSlotNotesNothingMore() {
    var running = RunningCalls.open(bytes);
    var slot = slot(running);
    slot.begin(A, 7);
    slot.release();
    slot.begin(A, 8);
    slot.release();
    int free = 0;
    while (running.slot() != null) free++;
    assertEquals(RunningCalls.SLOTS_MAX, free);
    assertFalse(RunningCalls.open(bytes).hasFailures());
  }

  @Test
  void threadsAndFailuresHaveLimits() {
    var first = RunningCalls.open(bytes);
    for (int i = 0; i < RunningCalls.SLOTS_MAX; i++) slot(first).begin(A, i + 1);
    assertNull(first.slot());
    var next = RunningCalls.open(bytes);
    assertEquals(RunningCalls.FAILURES_MAX, next.failures().size());
    assertEquals(1, next.failures(A, RunningCalls.SLOTS_MAX));
    next.forget(A);
    assertFalse(next.hasFailures());
    var slot = slot(next);
    slot.release();
    assertNotNull(next.slot());
  }

  @Test
  void bytesOfAnotherSortAreNoRuns() {
    for (int at = 0; at < RunningCalls.BYTES; at++) bytes.put(at, (byte) 1);
    assertFalse(RunningCalls.open(bytes).hasFailures());
    assertFalse(RunningCalls.open(bytes).hasFailures());
  }

  @Test
  void aDeviceKeepsThemInItsLockFile(@TempDir Path directory) {
    var config = DeviceConfig.standard();
    try (var device = Device.open(new FileDisk(directory), config)) {
      slot(device.running()).begin(A, 7);
    }
    try (var device = Device.open(new FileDisk(directory), config)) {
      assertFalse(device.running().hasFailures());
    }
  }
}
