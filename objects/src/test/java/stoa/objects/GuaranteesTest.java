package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Call;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.threads.Threads;

/// Rows of docs/guide/guarantees.md: what a lone store does when a clock jumps, and which damage of
/// its directory it notices.
class GuaranteesTest {
  private static final String SEGMENT = "segment-00000001";

  @Shared(name = "guarantees.Tally")
  static class Tally {
    private int count;
    private Instant last = Instant.EPOCH;

    public int add() {
      last = Call.now();
      return ++count;
    }

    @Accessor
    public Instant last() {
      return last;
    }
  }

  @Test
  void aClockThatJumpsChangesNoOrderAndTimesOnlyForward() {
    long now = Clock.system().nowMicros();
    var micros = new AtomicLong(now);
    var disk = new SimulatedDisk(1);
    var times = new ArrayList<Instant>();
    // A year forward, two years back, to 1970, and to the present.
    long year = 365L * 86_400 * 1_000_000;
    long[] jumps = {0, year, -2 * year, -micros.get() + year, now - year};
    for (int open = 0; open < 2; open++) {
      try (Stoa stoa =
          EmbeddedEngine.open(StoaConfig.of("file:simulated"), disk, micros::get, Threads.real())) {
        Tally tally = stoa.get(Tally.class, "a");
        for (int i = 0; i < jumps.length; i++) {
          micros.addAndGet(jumps[i]);
          assertEquals(open * jumps.length + i + 1, tally.add());
          times.add(tally.last());
        }
        var history = stoa.history(tally);
        long addresses = 0;
        for (var entry : history.entries(1, history.version())) {
          assertTrue(entry.address().counter() > addresses, entry::toString);
          addresses = entry.address().counter();
        }
        assertEquals(times.getLast(), history.at(history.version()).last());
      }
      micros.set(now);
    }
    // It follows the clock forward, and stands still where the clock goes back.
    Instant start = times.getFirst();
    Instant later = start.plusMillis(year / 1_000);
    for (Instant time : times.subList(1, times.size())) assertEquals(later, time, times::toString);
  }

  /// Returns where the log of a store ends: a segment has zeros behind its last record.
  private static long end(Path directory) throws IOException {
    byte[] bytes = Files.readAllBytes(directory.resolve(SEGMENT));
    int end = bytes.length;
    while (bytes[end - 1] == 0) end--;
    return end;
  }

  private static void copy(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    try (var files = Files.list(from)) {
      for (Path file : files.toList()) Files.copy(file, to.resolve(file.getFileName()));
    }
  }

  private static void cut(Path directory, long end) throws IOException {
    try (var file = new RandomAccessFile(directory.resolve(SEGMENT).toFile(), "rw")) {
      long length = file.length();
      file.setLength(end);
      file.setLength(length);
    }
  }

  private static int next(Path directory) {
    try (Stoa stoa = Stoa.open("file:" + directory)) {
      return stoa.get(Tally.class, "a").add();
    }
  }

  @Test
  void theCutOffEndOfALoneLogLooksLikeACleanEnd(@TempDir Path folder) throws IOException {
    Path whole = folder.resolve("whole");
    Path crashed = folder.resolve("crashed");
    long fifth;
    try (Stoa stoa = Stoa.open("file:" + whole)) {
      Tally tally = stoa.get(Tally.class, "a");
      for (int i = 0; i < 5; i++) tally.add();
      fifth = end(whole);
      for (int i = 0; i < 5; i++) tally.add();
      copy(whole, crashed); // as a crash leaves it
    }
    assertTrue(fifth < end(crashed));
    Path cut = folder.resolve("cut");
    copy(crashed, cut);
    cut(cut, fifth);
    assertEquals(6, next(cut), "five calls are lost, and nothing tells");
    assertEquals(11, next(crashed));
  }

  @Test
  void aDirectorySetBackIsAStoreOfThen(@TempDir Path folder) throws IOException {
    Path data = folder.resolve("data");
    for (int i = 1; i <= 10; i++) assertEquals(i, next(data));
    Path then = folder.resolve("then");
    copy(data, then);
    assertEquals(11, next(data));
    assertEquals(12, next(data));
    // A lone store has nothing to compare with: it goes on where the copy was taken.
    assertEquals(11, next(then));
  }
}
