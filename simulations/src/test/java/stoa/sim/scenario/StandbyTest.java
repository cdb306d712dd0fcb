package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Call;
import stoa.Diverged;
import stoa.KeyHandler;
import stoa.ListenerLimits;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.View;
import stoa.base.StreamId;
import stoa.log.CatchUp;
import stoa.log.LocalBatchLog;
import stoa.log.Streams;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.Part;
import stoa.objects.Standby;
import stoa.sim.Chance;
import stoa.sim.code.CodeChange;
import stoa.sim.code.CodeChanges;
import stoa.sim.code.CompiledProgram;
import stoa.sim.world.ShippedLog;
import stoa.sim.world.SimulatedThreads;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.replicas.Divergence;
import stoa.store.replicas.FollowerWork;
import stoa.store.replicas.LogUnit;

/// Replicas that follow, on devices of their own.
class StandbyTest {
  enum Color {
    RED,
    GREEN,
    BLUE
  }

  /// Keeps what it is told in collections of many kinds.
  @Shared(name = "test.Shelf", key = "id")
  static class Shelf {
    /// How many puts were executed, here or in a replay; no part of any state.
    private static final AtomicInteger EXECUTED = new AtomicInteger();

    private final String id;
    private final Map<String, List<Integer>> byName = new HashMap<>();
    private final Set<String> names = new HashSet<>();
    private final Map<Color, Integer> colors = new EnumMap<>(Color.class);
    private final TreeMap<Integer, String> sorted = new TreeMap<>();

    /// Has room for many and holds few, mostly: what is read back has room for few, and another
    /// order.
    private final Set<String> roomy = new HashSet<>();

    private int adds;
    private double random;
    private long last;

    protected Shelf(String id) {
      this.id = id;
    }

    public int add(int number, String text) {
      EXECUTED.incrementAndGet();
      String name = "n" + number * 7919 % 1_009;
      byName.computeIfAbsent(name, _ -> new ArrayList<>()).add(number);
      names.add(text.substring(0, Math.min(9, text.length())) + number % 333);
      colors.merge(
          number % 3 == 0 ? Color.RED : number % 3 == 1 ? Color.GREEN : Color.BLUE,
          1,
          Integer::sum);
      sorted.put(number % 100, text);
      if (number % 5 == 0) names.removeIf(known -> known.hashCode() % 7 == number % 7);
      if (++adds % 20 == 0) for (int i = 0; i < 500; i++) roomy.add("roomy" + i);
      if (adds % 20 == 1) roomy.removeIf(known -> !known.endsWith("7"));
      if (!roomy.isEmpty()) names.add(List.copyOf(roomy).get(roomy.size() / 2));
      random += Call.random().nextDouble();
      last = Call.now().toEpochMilli();
      // The order of the hash map decides what is kept.
      if (number % 50 == 0 && !byName.isEmpty()) byName.remove(byName.keySet().iterator().next());
      return names.size();
    }

    public int pass(int number, String text, Shelf other) {
      int count = other.add(number, text);
      return add(count, text);
    }

    public void fail(int number) {
      names.add("failed" + number);
      throw new IllegalStateException("no " + number);
    }

    public void overflow(int number) {
      names.add("overflow" + number);
      deeper(number);
    }

    @SuppressWarnings("InfiniteRecursion")
    private int deeper(int number) {
      return 1 + deeper(number + 1);
    }

    @Accessor
    public String all() {
      return id + byName + names + colors + sorted + roomy + random + last;
    }
  }

  /// Goes by what is in this process alone, where nobody looks.
  @Shared(name = "test.Odd", key = "id")
  static class Odd {
    private static final AtomicInteger RUNS = new AtomicInteger();

    private final String id;
    private final List<String> texts = new ArrayList<>();
    private int odd;

    protected Odd(String id) {
      this.id = id;
    }

    public int even(String text) {
      texts.add(text);
      if (texts.size() > 20) texts.removeFirst();
      return texts.size();
    }

    public String ask(Odd other) {
      try {
        return "" + other.even("asked");
      } catch (Diverged told) {
        return "told";
      }
    }

    public int count() {
      odd = RUNS.incrementAndGet();
      return odd;
    }

    @Accessor
    public String all() {
      return id + texts.size() + odd;
    }
  }

  /// One replica.
  private static final class Replica {
    final Device device =
        Device.open(
            new MemoryDisk(256 << 20),
            new DeviceConfig(4 << 20, 256 << 10, 256 << 10, 512 << 10),
            Runnable::run);
    final LocalBatchLog log = new LocalBatchLog(device);
    final List<Divergence> told = new ArrayList<>();
    SimulatedThreads threads = new SimulatedThreads(new Chance(1));
    @Nullable FollowerWork standby;

    Standby follow() {
      threads = new SimulatedThreads(new Chance(2));
      var opened =
          EmbeddedEngine.openStandby(
              CONFIG, device, new Streams(device), () -> 1_000_000, threads, Part.WHOLE, told::add);
      standby = opened;
      return opened;
    }

    LogUnit keep(LogUnit.Source source) {
      threads = new SimulatedThreads(new Chance(2));
      var opened = new LogUnit(new Streams(device), threads, source);
      standby = opened;
      return opened;
    }

    /// Takes in what it lacks of a log, one batch after the other.
    void copy(ShippedLog from) {
      boolean more = true;
      while (more) more = copyOne(from);
    }

    boolean copyOne(ShippedLog from) {
      FollowerWork follows = standby;
      boolean more =
          from.ship(
              log,
              batch -> {
                if (follows != null) follows.applied(batch);
              });
      threads.settle();
      return more;
    }
  }

  private static final StoaConfig CONFIG = StoaConfig.of("file:simulated");

  /// One replica that leads.
  private static final class Leader {
    final SimulatedThreads threads = new SimulatedThreads(new Chance(3));
    final ShippedLog log;
    final Stoa stoa;
    long micros = 1_000_000;

    Leader(Replica replica, ShippedLog log) {
      this.log = log;
      stoa =
          EmbeddedEngine.openReplicated(
              CONFIG, replica.device, () -> log, () -> micros += 10, threads, Part.WHOLE);
    }

    <T> T await(Supplier<T> calls) {
      return threads.await(calls);
    }

    void settle() {
      threads.settle();
      threads.tick();
      threads.settle();
      threads.tick();
      threads.settle();
    }
  }

  /// The checkpoints of all streams of a log, on a device.
  private static Map<String, byte[]> checkpoints(Device device, Set<StreamId> seen) {
    var streams = new Streams(device);
    var found = new TreeMap<String, byte[]>();
    for (StreamId stream : seen) {
      Streams.At at = streams.lastCheckpoint(stream, Long.MAX_VALUE);
      while (at != null) {
        found.put(stream + " " + at.address(), at.data());
        at = streams.lastCheckpoint(stream, at.address() - 1);
      }
    }
    return found;
  }

  private static boolean isOver(String where, Streams streams) {
    String[] words = where.split(" ", 2);
    var stream =
        new StreamId(
            Long.parseUnsignedLong(words[0].substring(0, 16), 16),
            Long.parseUnsignedLong(words[0].substring(16), 16));
    Streams.At mark = streams.lastMark(stream, Long.MAX_VALUE);
    return mark == null || mark.address() > Long.parseLong(words[1]);
  }

  private static void assertSameCheckpoints(Replica one, Replica other, ShippedLog log) {
    var leads = checkpoints(one.device, log.seen());
    var follows = checkpoints(other.device, log.seen());
    // Of a generation that is over, a replica that comes later makes none.
    assertTrue(leads.keySet().containsAll(follows.keySet()), () -> leads.keySet() + " " + follows);
    leads.keySet().removeIf(where -> isOver(where, new Streams(one.device)));
    assertTrue(leads.size() >= 3, () -> leads.keySet().toString());
    assertTrue(follows.keySet().containsAll(leads.keySet()));
    leads.forEach((where, bytes) -> assertArrayEquals(bytes, follows.get(where), where));
  }

  private static void work(Leader leader, int from, int to) {
    leader.await(() -> {
      Stoa stoa = leader.stoa;
      for (int i = from; i < to; i++) {
        int number = i;
        Shelf shelf = stoa.get(Shelf.class, "s" + i % 3);
        Shelf other = stoa.get(Shelf.class, "s" + (i + 1) % 3);
        String text = "text " + i % 17 + "x".repeat(i % 11 * 90);
        switch (i % 10) {
          case 0 -> shelf.pass(i, text, other);
          case 1 -> assertThrows(IllegalStateException.class, () -> shelf.fail(number));
          case 2 -> {
            if (i % 100 == 2) assertThrows(stoa.CallFailed.class, () -> shelf.overflow(number));
          }
          case 3 -> {
            int count =
                stoa.transact(() -> {
                  shelf.add(number, text);
                  return other.add(number + 1, text);
                });
            assertTrue(count > 0);
          }
          case 4 -> {
            if (i % 500 == 4) stoa.delete(shelf);
          }
          case 5 -> stoa.store().put("key" + i % 2, text);
          default -> shelf.add(i, text);
        }
      }
      return true;
    });
    leader.settle();
  }

  private static String all(Leader leader) {
    return leader.await(() -> {
      var all = new StringBuilder();
      for (int i = 0; i < 3; i++) all.append(leader.stoa.get(Shelf.class, "s" + i).all());
      return all.toString();
    });
  }

  @Test
  void makesTheSameCheckpointsByteForByte() {
    var one = new Replica();
    var other = new Replica();
    var leader = new Leader(one, new ShippedLog(one.log));
    Standby standby = other.follow();
    for (int i = 0; i < 20; i++) {
      work(leader, i * 100, i * 100 + 100);
      other.copy(leader.log);
    }
    assertTrue(checkpoints(one.device, leader.log.seen()).size() >= 6, "there are checkpoints");
    assertSameCheckpoints(one, other, leader.log);
    assertEquals(List.of(), other.told);
    assertTrue(standby.progress().compared() >= 6);
    assertEquals(0, standby.progress().waiting());
  }

  @Test
  void makesTheCheckpointsThatTrimsLogAndLeadsFromThem() {
    var one = new Replica();
    var other = new Replica();
    var plain = new Replica();
    var leader = new Leader(one, new ShippedLog(one.log));
    Standby standby = other.follow();
    for (int i = 0; i < 40; i++) {
      // Less than what comes in front of a checkpoint otherwise.
      work(leader, i * 25, i * 25 + 25);
      int shelf = i % 3;
      leader.await(() -> {
        var history = leader.stoa.history(leader.stoa.get(Shelf.class, "s" + shelf));
        long version = history.version();
        assertEquals(version, history.trim(version));
        assertEquals(1, history.entries(version, version).size());
        return true;
      });
      if (i % 2 == 0) leader.settle();
      if (i % 5 != 3) other.copy(leader.log);
    }
    work(leader, 5_000, 5_030);
    other.copy(leader.log);
    plain.copy(leader.log);
    assertEquals(List.of(), other.told);
    assertTrue(standby.progress().compared() >= 20);
    var leads = checkpoints(one.device, leader.log.seen());
    leads.keySet().removeIf(where -> isOver(where, new Streams(one.device)));
    var follows = checkpoints(other.device, leader.log.seen());
    assertTrue(leads.size() >= 2, () -> leads.keySet().toString());
    assertTrue(follows.keySet().containsAll(leads.keySet()), () -> leads.keySet() + " " + follows);
    leads.forEach((where, bytes) -> assertArrayEquals(bytes, follows.get(where), where));
    String states = all(leader);
    standby.close();
    var next = new Leader(other, leader.log.continuedOn(other.log));
    assertEquals(states, all(next));
    // From the beginning, every logged checkpoint is made again.
    var slow = new Leader(plain, leader.log.continuedOn(plain.log));
    assertEquals(states, all(slow));
    work(next, 6_000, 6_050);
    work(slow, 6_000, 6_050);
    assertEquals(all(slow), all(next));
  }

  @Test
  void leadsFromAnyBatchOnWithTheSameStatesAndReplaysLittle() {
    var one = new Replica();
    var leader = new Leader(one, new ShippedLog(one.log));
    var chance = new Chance(7);
    var followers = new ArrayList<Replica>();
    var plain = new ArrayList<Replica>();
    for (int i = 0; i < 6; i++) {
      followers.add(new Replica());
      followers.getLast().follow();
      plain.add(new Replica());
    }
    for (int i = 0; i < 12; i++) {
      work(leader, i * 100, i * 100 + 100);
      for (int f = 0; f < followers.size(); f++) {
        // The last ones are left behind somewhere in the middle.
        int batches = i == 11 ? chance.below(150) : Integer.MAX_VALUE;
        for (int n = 0; n < batches && followers.get(f).copyOne(leader.log); n++) {
          plain.get(f).copyOne(leader.log);
        }
      }
    }
    int least = Integer.MAX_VALUE;
    int most = 0;
    for (int f = 0; f < followers.size(); f++) {
      Replica follower = followers.get(f);
      assertEquals(plain.get(f).log.tail(), follower.log.tail());
      java.util.Objects.requireNonNull(follower.standby).close();
      assertEquals(List.of(), follower.told);
      int before = Shelf.EXECUTED.get();
      var next = new Leader(follower, leader.log.continuedOn(follower.log));
      String states = all(next);
      int replayed = Shelf.EXECUTED.get() - before;
      before = Shelf.EXECUTED.get();
      var slow = new Leader(plain.get(f), leader.log.continuedOn(plain.get(f).log));
      assertEquals(all(slow), states);
      least = Math.min(least, Shelf.EXECUTED.get() - before);
      most = Math.max(most, replayed);
      // And goes on.
      work(next, 5_000, 5_050);
      work(slow, 5_000, 5_050);
      assertEquals(all(slow), all(next));
    }
    // Three objects, of puts of some 500 bytes each: 64 KiB is what comes behind a checkpoint.
    assertTrue(most < 3 * 200, most + " puts were replayed");
    assertTrue(least > 2 * most, "without checkpoints, " + least + " puts are replayed");
  }

  @Test
  void aLogUnitExecutesNothingAndLeadsFromTheCheckpointsOfTheLeader() {
    var one = new Replica();
    var other = new Replica();
    var leader = new Leader(one, new ShippedLog(one.log));
    var chance = new Chance(5);
    var wrong = new AtomicInteger();
    LogUnit unit =
        other.keep((wanted, each) -> {
          var streams = new Streams(one.device);
          for (CatchUp.Wanted asked : wanted) {
            if (chance.below(4) == 0) throw new IOException("nobody is reached");
            Streams.At at = streams.lastCheckpoint(asked.stream(), asked.address());
            byte[] state = at == null || at.address() != asked.address() ? null : at.data();
            if (state != null && chance.below(4) == 0) {
              state = state.clone();
              state[state.length / 2] ^= 1;
              wrong.incrementAndGet();
            }
            each.accept(asked, state);
          }
        });
    int executed = 0;
    for (int i = 0; i < 20; i++) {
      work(leader, i * 100, i * 100 + 100);
      executed = Shelf.EXECUTED.get();
      other.copy(leader.log);
      for (int tick = 0; tick < 50 && unit.progress().waiting() > 0; tick++) {
        other.threads.tick();
        other.threads.settle();
      }
      assertEquals(executed, Shelf.EXECUTED.get());
    }
    assertTrue(wrong.get() > 0);
    assertEquals(0, unit.progress().waiting());
    var leads = checkpoints(one.device, leader.log.seen());
    var keeps = checkpoints(other.device, leader.log.seen());
    assertTrue(keeps.size() >= 3, () -> keeps.keySet() + " of " + leads.keySet());
    keeps.forEach((where, state) -> assertArrayEquals(leads.get(where), state, where));
    unit.close();
    String states = all(leader);
    int before = Shelf.EXECUTED.get();
    assertEquals(states, all(new Leader(other, leader.log.continuedOn(other.log))));
    int replayed = Shelf.EXECUTED.get() - before;
    assertTrue(replayed < executed / 2, replayed + " of " + executed + " puts were replayed");
  }

  @Test
  void catchesUpWhenItIsOpenedLaterOrAgain() {
    var one = new Replica();
    var other = new Replica();
    var leader = new Leader(one, new ShippedLog(one.log));
    work(leader, 0, 600);
    other.copy(leader.log);
    Standby first = other.follow();
    other.threads.step();
    first.close();
    assertTrue(checkpoints(other.device, leader.log.seen()).size() < 6, "it was interrupted");
    work(leader, 600, 1_200);
    other.copy(leader.log);
    Standby second = other.follow();
    other.threads.settle();
    assertEquals(0, second.progress().waiting());
    assertSameCheckpoints(one, other, leader.log);
    assertEquals(List.of(), other.told);
  }

  @Test
  void anObjectThatDiffersIsFoundAndNamedAndQuarantinedAndOthersGoOn() {
    var one = new Replica();
    var other = new Replica();
    var leader = new Leader(one, new ShippedLog(one.log));
    other.follow();
    long version =
        leader.await(() -> {
          Odd odd = leader.stoa.get(Odd.class, "a");
          for (int i = 0; i < 30; i++) odd.even("x".repeat(100));
          odd.count();
          long at = leader.stoa.history(odd).version();
          for (int i = 0; i < 30; i++) odd.even("y".repeat(100));
          leader.stoa.get(Odd.class, "b").even("z");
          return at;
        });
    for (int i = 0; i < 10 && other.told.isEmpty(); i++) {
      leader.settle();
      other.copy(leader.log);
    }
    assertEquals(1, other.told.size(), other.told::toString);
    Divergence evidence = Divergence.of(other.told.getFirst().toBytes());
    assertEquals(other.told.getFirst().refusal().getMessage(), evidence.refusal().getMessage());
    assertEquals(version, evidence.first());
    assertEquals(List.of("count()"), evidence.methods());

    var service = ObjectService.of(leader.stoa, _ -> false);
    assertTrue(leader.await(() -> service.operator().quarantine(evidence)));
    leader.await(() -> {
      Odd odd = leader.stoa.get(Odd.class, "a");
      var refused = assertThrows(Diverged.class, () -> odd.even("no"));
      String text = String.valueOf(refused.getMessage());
      assertTrue(text.contains("test.Odd[a]"), text);
      assertTrue(text.contains("at version " + version + " (count())"), text);
      assertThrows(Diverged.class, odd::all);
      assertThrows(
          Diverged.class, () -> leader.stoa.transact(() -> leader.stoa.get(Odd.class, "a").all()));
      assertThrows(
          Diverged.class,
          () -> leader.stoa.view(Odd.class, leader.stoa.ref(odd), new View.Local()).all());
      assertEquals("told", leader.stoa.get(Odd.class, "c").ask(odd));
      assertEquals("a200", leader.stoa.history(odd).at(version - 1).all());
      assertEquals(2, leader.stoa.get(Odd.class, "b").even("on"));
      return true;
    });
    // A follower knows it too, and does not report it again.
    other.copy(leader.log);
    other.told.clear();
    for (int i = 0; i < 200; i++) other.threads.tick();
    other.threads.settle();
    assertEquals(List.of(), other.told);

    // It is so after a fail-over, until the state of who leads is accepted.
    java.util.Objects.requireNonNull(other.standby).close();
    var next = new Leader(other, leader.log.continuedOn(other.log));
    var there = ObjectService.of(next.stoa, _ -> false);
    assertEquals(1, there.operator().diverged().size());
    int accepted =
        next.await(() -> {
          Odd odd = next.stoa.get(Odd.class, "a");
          assertThrows(Diverged.class, () -> odd.even("no"));
          assertTrue(there.operator().accept("test.Odd[a]"));
          assertFalse(there.operator().accept("test.Odd[a]"));
          return odd.even("yes");
        });
    assertEquals(20, accepted);
    String states = next.await(() -> next.stoa.get(Odd.class, "a").all());
    next.settle();

    // And then they agree again.
    one = new Replica();
    one.follow();
    one.copy(next.log);
    one.told.clear(); // of what was before
    for (int i = 0; i < 200; i++) one.threads.tick();
    one.threads.settle();
    assertEquals(List.of(), one.told);
    assertFalse(
        next.await(() -> there.operator().quarantine(evidence)), "a later state was accepted");
    one.copy(next.log);
    java.util.Objects.requireNonNull(one.standby).close();
    var third = new Leader(one, next.log.continuedOn(one.log));
    assertEquals(states, third.await(() -> third.stoa.get(Odd.class, "a").all()));
    assertEquals(List.of(), ObjectService.of(third.stoa, _ -> false).operator().diverged());
  }

  /// Keeps what it caught; one that is called `none` cannot be constructed.
  @Shared(name = "test.Catcher", key = "id")
  static class Catcher {
    private final String id;
    private final List<Throwable> caught = new ArrayList<>();

    protected Catcher(String id) {
      if (id.equals("none")) throw new IllegalArgumentException("there is " + id);
      this.id = id;
    }

    public int fall(int from) {
      try {
        if (from > 0) return fall(from - 1);
        throw new IllegalStateException(id + " fell");
      } catch (IllegalStateException fell) {
        caught.add(fell);
        return caught.size();
      }
    }
  }

  /// Throws at the second put.
  static final class Once implements KeyHandler<String, Throwable> {
    private int puts;

    @Override
    public Throwable handle(Object key, @Nullable String value, @Nullable String before) {
      if (++puts > 1) throw new IllegalArgumentException(value);
      return new IllegalStateException(value);
    }
  }

  @Test
  void exceptionsInAStateAreNoDifference() {
    var one = new Replica();
    var other = new Replica();
    var leader = new Leader(one, new ShippedLog(one.log));
    Standby standby = other.follow();
    leader.await(() -> {
      var store = leader.stoa.store();
      var _ = store.register("key", _ -> {}, new Once());
      var _ = store.register("key", _ -> {}, new Once(), new ListenerLimits(1, 1));
      for (int i = 0; i < 3; i++) store.put("key", "value " + i);
      var _ = ObjectService.of(leader.stoa, _ -> false).sessions().open();
      leader.stoa.get(Catcher.class, "a").fall(3);
      assertThrows(
          IllegalArgumentException.class, () -> leader.stoa.get(Catcher.class, "none").fall(1));
      return true;
    });
    for (int i = 0; i < 10; i++) {
      leader.settle();
      other.copy(leader.log);
    }
    // The two objects, the key and the table of sessions.
    assertTrue(standby.progress().compared() >= 4, standby.progress()::toString);
    assertEquals(List.of(), other.told);
  }

  /// Before and after a class gets another field.
  private static List<CompiledProgram> programs(Path directory) {
    for (CodeChange change : CodeChanges.numbered()) {
      if (!change.name().equals("a field with an initializer")) continue;
      return List.of(
          CompiledProgram.all(directory.resolve("before"), List.of(change.before())).getFirst(),
          CompiledProgram.all(directory.resolve("after"), List.of(change.after())).getFirst());
    }
    throw new AssertionError("no such change");
  }

  @Test
  void aReplicaWithLaterClassesFollowsTheObjectsOfALeaderWithEarlierOnes(@TempDir Path directory) {
    List<CompiledProgram> programs = programs(directory);
    CompiledProgram before = programs.getFirst();
    var one = new Replica();
    var other = new Replica();
    var leader = before.run(() -> new Leader(one, new ShippedLog(one.log)));
    Standby standby = other.follow();
    leader.await(() -> {
      Object thing = leader.stoa.get(before.type("Thing"), "t");
      for (int i = 0; i < 3; i++) {
        var _ = CompiledProgram.call(thing, "run", i);
      }
      return true;
    });
    for (int i = 0; i < 10; i++) {
      leader.settle();
      programs
          .getLast()
          .run(() -> {
            other.copy(leader.log);
            return true;
          });
    }
    assertTrue(standby.progress().compared() >= 1, standby.progress()::toString);
    assertEquals(List.of(), other.told);
  }

  @Test
  void aQuarantineEndsWithTheGeneration() {
    var one = new Replica();
    var other = new Replica();
    var leader = new Leader(one, new ShippedLog(one.log));
    other.follow();
    leader.await(() -> leader.stoa.get(Odd.class, "a").count());
    for (int i = 0; i < 10 && other.told.isEmpty(); i++) {
      leader.settle();
      other.copy(leader.log);
    }
    Divergence evidence = other.told.getFirst();
    var service = ObjectService.of(leader.stoa, _ -> false);
    leader.await(() -> {
      assertTrue(service.operator().quarantine(evidence));
      Odd odd = leader.stoa.get(Odd.class, "a");
      assertThrows(Diverged.class, odd::all);
      assertTrue(leader.stoa.delete(odd));
      assertFalse(service.operator().quarantine(evidence), "its generation is over");
      assertEquals(1, leader.stoa.get(Odd.class, "a").even("new"));
      return true;
    });
    leader.settle();
    other.copy(leader.log);
    assertEquals(1, other.told.size());
  }
}
