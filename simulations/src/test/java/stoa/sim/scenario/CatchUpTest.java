package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import stoa.StoaException;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.CatchUp;
import stoa.log.Consensus;
import stoa.log.Entry;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicatedBatchLog;
import stoa.log.Sequencer;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.sim.Chance;
import stoa.sim.world.PoweredDevice;
import stoa.sim.world.PoweredDisk;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.StorageException;

/// A replica that lags is brought level by one that goes on, while connections break and its power
/// fails.
class CatchUpTest {
  private static final DeviceConfig SMALL = new DeviceConfig(128 << 10, 8 << 10, 8 << 10, 8 << 10);
  private static final int STREAMS = 5;
  private static final int OBJECTS = 3;

  /// One run of a seed.
  private static final class Run {
    private final Chance chance;
    private final PoweredDevice leads;
    private final PoweredDevice lags;
    private final Replica leader;
    private Replica follower;
    private final List<byte[]> commands = new ArrayList<>();
    private final ReplicatedBatchLog log;
    private final Sequencer sequencer;
    private long sequence;
    private long version;
    private final Map<StreamId, TreeMap<Long, byte[]>> written = new HashMap<>();
    private boolean quiet;
    int asked;
    int brokenOff;
    int crashes;
    int gaps;

    Run(int seed) {
      chance = new Chance(seed);
      leads = new PoweredDevice(PoweredDisk.memory(64 << 20), SMALL);
      lags = new PoweredDevice(PoweredDisk.simulated(chance.of("disk"), 60), SMALL);
      leader = new Replica(leads.device());
      follower = new Replica(lags.device());
      log =
          ReplicatedBatchLog.open(
              leader,
              new Consensus() {
                @Override
                public Result propose(byte[] command) {
                  commands.add(command);
                  return new Result.Applied(
                      leader.apply(new Position(1, commands.size()), command));
                }

                @Override
                public void confirm() {}

                @Override
                public int commandBytesMax() {
                  return 1 << 20;
                }
              });
      log.seal(1);
      sequencer = new Sequencer(1, log.tail().counter());
    }

    void run() {
      work(chance.between(0, 60));
      follow(chance.below(commands.size() + 1));
      // Far enough ahead that pages, pieces and releases are in it.
      work(chance.between(1, 120));
      level();
      work(chance.between(0, 20));
      follow(commands.size());
      // Objects do not come with the commands here: at last nothing is written meanwhile.
      append();
      quiet = true;
      level();
      // Its disk may have lost power after all that it has answered.
      lags.calm();
      crash();
      level();
      verify();
    }

    private void work(int turns) {
      for (int i = 0; i < turns; i++) work();
    }

    private void work() {
      int dice = chance.below(100);
      StreamId stream = StreamId.of("stream " + chance.below(STREAMS));
      long last = log.streams().last(stream);
      if (dice < 60) {
        append();
      } else if (dice < 70 && last > 0) {
        long address = 1L + chance.below((int) last);
        if (address >= log.streams().oldest(stream)) {
          log.streams().checkpoint(stream, address, state(stream, address));
        }
      } else if (dice < 80 && last > 0) {
        log.streams().trim(stream, 1L + chance.below((int) last));
      } else if (dice < 85) {
        log.streams().trimLog(chance.below((int) log.tail().counter() + 1));
      } else {
        var object = leads.device().object(1 + chance.below(OBJECTS));
        if (dice < 87) object.delete();
        else
          object.write(
              ++version, chance.below(1_000), ByteBuffer.wrap(new byte[1 + chance.below(900)]));
      }
    }

    private void append() {
      int count = chance.between(1, 3);
      List<Entry> entries = new ArrayList<>();
      Map<StreamId, Long> addresses = new HashMap<>();
      for (int i = 0; i < count; i++) {
        int number = chance.below(STREAMS);
        StreamId stream = StreamId.of("stream " + number);
        long address = addresses.merge(stream, log.streams().last(stream) + 1, (a, _) -> a + 1);
        byte[] payload = new byte[chance.below(400)];
        for (int at = 0; at < payload.length; at++) payload[at] = (byte) chance.below(256);
        // Streams of users have no marks.
        byte[] mark = number > 0 && (address == 1 || chance.percent(5)) ? new byte[] {7} : null;
        entries.add(new Entry(stream, address, i, 1, (byte) 1, payload, mark));
        written.computeIfAbsent(stream, _ -> new TreeMap<>()).put(address, payload);
      }
      var token = sequencer.grant(count);
      log.append(new Batch(token, log.term(), ++sequence, 1, entries), _ -> {});
    }

    private static byte[] state(StreamId stream, long address) {
      return (stream + "@" + address).getBytes(java.nio.charset.StandardCharsets.UTF_8);
    }

    /// Gives the follower the commands up to one, from where it is.
    private void follow(int to) {
      while (follower.applied().index() < to) {
        int index = (int) follower.applied().index() + 1;
        try {
          follower.apply(new Position(1, index), commands.get(index - 1));
          if (chance.percent(10)) follower.sync();
        } catch (StorageException | StoaException failed) {
          crash();
        }
      }
    }

    private void crash() {
      while (true) {
        crashes++;
        try {
          follower = new Replica(lags.restart());
          return;
        } catch (StorageException | StoaException powerLost) {
          // Once more.
        }
      }
    }

    private void level() {
      int needed = commands.size();
      while (follower.applied().index() < needed || !follower.isWhole()) {
        try (var supply = leader.supply()) {
          CatchUp.run(
              follower,
              question -> {
                asked++;
                if (chance.percent(20)) {
                  brokenOff++;
                  throw new IOException("broken off");
                }
                if (!quiet) work(chance.below(4));
                var answer = new ByteArrayOutputStream();
                supply.answer(question, answer);
                return new ByteArrayInputStream(answer.toByteArray());
              });
        } catch (IOException broken) {
          // Once more.
        } catch (StorageException | StoaException failed) {
          crash();
        }
      }
    }

    private void verify() {
      assertEquals(leader.tail(), follower.tail());
      assertEquals(leader.applied(), follower.applied());
      for (int i = 0; i < STREAMS; i++) verify(StreamId.of("stream " + i));
      for (var replica : List.of(leader, follower)) verifyLog(replica.streams());
      for (int i = 1; i <= OBJECTS; i++) {
        var one = leads.device().object(i);
        var other = lags.device().object(i);
        assertEquals(one.versionState(), other.versionState());
        assertArrayEquals(one.read(0, (int) one.size()), other.read(0, (int) other.size()));
      }
      leader.close();
      follower.close();
    }

    private void verify(StreamId stream) {
      Streams one = leader.streams();
      Streams other = follower.streams();
      assertEquals(one.last(stream), other.last(stream));
      assertEquals(one.oldest(stream), other.oldest(stream));
      var all = written.getOrDefault(stream, new TreeMap<>());
      for (var replica : List.of(one, other)) {
        // From what stays, the state at the oldest version can be made.
        long from = replica.base(stream, Math.max(1, replica.oldest(stream)));
        if (replica.firstKept(stream) > 1) gaps++;
        for (var entry : all.tailMap(Math.max(1, from)).entrySet()) {
          StoredEntry stored = replica.read(stream, entry.getKey());
          assertNotNull(stored, () -> "address " + entry.getKey() + " of " + stream);
          assertArrayEquals(entry.getValue(), stored.payload());
        }
        var checkpoint = replica.lastCheckpoint(stream, Long.MAX_VALUE);
        if (checkpoint != null) {
          assertArrayEquals(state(stream, checkpoint.address()), checkpoint.data());
        }
      }
      // Marks in front of what is released do not count; of the others none is missing.
      for (long at = Math.max(1, one.oldest(stream)); at <= one.last(stream); at++) {
        var mark = one.lastMark(stream, at);
        var same = other.lastMark(stream, at);
        assertEquals(mark == null ? 0 : mark.address(), same == null ? 0 : same.address());
      }
    }

    private static void verifyLog(Streams streams) {
      streams.scanLog(
          streams.firstInLog(),
          Long.MAX_VALUE,
          item -> {
            for (var place : item.places()) {
              StoredEntry entry = streams.read(place.stream(), place.address());
              if (entry != null) assertEquals(item.log(), entry.log());
            }
            return true;
          });
    }
  }

  @Test
  void bringsAReplicaLevelThatLagsWhereverItBreaksOff() {
    int asked = 0;
    int brokenOff = 0;
    int crashes = 0;
    int gaps = 0;
    for (int seed = 0; seed < 200; seed++) {
      var run = new Run(seed);
      try {
        run.run();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("seed " + seed + ": " + e, e);
      }
      asked += run.asked;
      brokenOff += run.brokenOff;
      crashes += run.crashes;
      gaps += run.gaps;
    }
    // The rare places were reached.
    assertTrue(asked > 1_000, "questions: " + asked);
    assertTrue(brokenOff > 100, "broken off: " + brokenOff);
    assertTrue(crashes > 50, "crashes: " + crashes);
    assertTrue(gaps > 100, "released streams: " + gaps);
  }

  private static void ask(Replica from, Replica to, int answers) throws IOException {
    var left = new AtomicInteger(answers);
    try (var supply = from.supply()) {
      CatchUp.run(
          to,
          question -> {
            if (left.getAndDecrement() == 0) throw new IOException("broken off");
            var answer = new ByteArrayOutputStream();
            supply.answer(question, answer);
            return new ByteArrayInputStream(answer.toByteArray());
          });
    }
  }

  @Test
  void asksNobodyWhoIsBehindAndIsWholeWhenAllWasApplied() {
    var run = new Run(1);
    run.work(100);
    int half = run.commands.size() / 2;
    run.follow(half);
    var behind = new Replica(new PoweredDevice(PoweredDisk.memory(64 << 20), SMALL).device());
    for (int i = 1; i <= half; i++) behind.apply(new Position(1, i), run.commands.get(i - 1));
    assertThrows(IOException.class, () -> ask(run.leader, run.follower, 3));
    assertFalse(run.follower.isWhole());
    run.follow(run.commands.size());
    assertFalse(run.follower.isWhole());
    assertThrows(IOException.class, () -> ask(behind, run.follower, Integer.MAX_VALUE));
    run.follower.completed();
    assertTrue(run.follower.isWhole());
    assertEquals(run.leader.tail(), run.follower.tail());
    for (int i = 0; i < STREAMS; i++) run.verify(StreamId.of("stream " + i));
    behind.close();
  }

  // The one that is asked later has applied less than the first one, and more than the follower.
  @Test
  void doesNotEndBeforeWhatABrokenOffOneMayHaveBrought() {
    var run = new Run(1);
    run.work(100);
    int half = run.commands.size() / 2;
    run.follow(half / 2);
    var behind = new Replica(new PoweredDevice(PoweredDisk.memory(64 << 20), SMALL).device());
    for (int i = 1; i <= half; i++) behind.apply(new Position(1, i), run.commands.get(i - 1));
    assertThrows(IOException.class, () -> ask(run.leader, run.follower, 3));
    assertThrows(CatchUp.Behind.class, () -> ask(behind, run.follower, Integer.MAX_VALUE));
    behind.close();
  }

  @Test
  void isCompleteOnceItHasAppliedWhatWasSent() {
    for (int seed = 0; seed < 50; seed++) {
      var run = new Run(seed);
      run.lags.calm();
      run.work(100);
      run.follow(run.chance.below(run.commands.size()));
      int sent = run.commands.size();
      int answers = run.chance.between(1, 6);
      assertThrows(IOException.class, () -> ask(run.leader, run.follower, answers));
      run.work(20);
      run.follow(sent - 1);
      assertFalse(run.follower.complete(), "seed " + seed);
      if (run.chance.percent(50)) run.crash();
      run.follow(run.commands.size());
      assertTrue(run.follower.complete(), "seed " + seed);
      assertEquals(run.leader.tail(), run.follower.tail());
      for (int i = 0; i < STREAMS; i++) run.verify(StreamId.of("stream " + i));
      Run.verifyLog(run.follower.streams());
    }
  }

  @Test
  void sendsOnlyWhatIsLacking() throws IOException {
    var run = new Run(1);
    run.work(100);
    run.follow(run.commands.size());
    for (int i = 0; i < 3; i++) run.append();
    long[] sent = new long[1];
    try (var supply = run.leader.supply()) {
      CatchUp.run(
          run.follower,
          question -> {
            var answer = new ByteArrayOutputStream();
            supply.answer(question, answer);
            sent[0] += answer.size();
            return new ByteArrayInputStream(answer.toByteArray());
          });
    }
    long lacking =
        run.written.values().stream()
            .flatMap(all -> all.values().stream())
            .mapToLong(data -> data.length)
            .sum();
    assertTrue(sent[0] < lacking / 2, sent[0] + " bytes of " + lacking);
    run.verify();
  }
}
