package stoa.sim.scenario;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.BatchOutcome;
import stoa.log.Entry;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.log.Token;
import stoa.sim.check.Demand;
import stoa.sim.world.PoweredLog;
import stoa.sim.world.SimulatedLeader;

/// The obligations of every implementation of [stoa.log.BatchLog], as cases that run one by one,
/// each on a fresh log.
///
/// A case throws [AssertionError] when the implementation breaks the contract. Independent of test
/// frameworks, so that any module can check its implementation.
public final class BatchLogContract {
  private static final StreamId A = StreamId.of("contract/a");
  private static final StreamId B = StreamId.of("contract/b");

  private BatchLogContract() {}

  /// One demand.
  ///
  /// @param name the demand, as a sentence
  /// @param body checks it on a fresh log without random failures
  public record Case(String name, Body body) {
    /// The check of a case.
    @FunctionalInterface
    public interface Body {
      /// Runs the check.
      void run(PoweredLog log);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /// Returns all cases.
  public static List<Case> cases() {
    return List.of(
        new Case("a committed batch is in the leader's streams", BatchLogContract::visible),
        new Case("every replica comes to the same streams", BatchLogContract::replicasAgree),
        new Case("an entry keeps its addresses, kind, time and payload", BatchLogContract::content),
        new Case("entries of one batch and stream follow each other", BatchLogContract::run),
        new Case("an append to several streams has one log address", BatchLogContract::several),
        new Case("an absent entry is null and an absent stream is empty", BatchLogContract::absent),
        new Case("the last mark at or below an address is found", BatchLogContract::marks),
        new Case(
            "the last checkpoint at or below an address is found", BatchLogContract::checkpoint),
        new Case("a scan visits its range in order until told to stop", BatchLogContract::scan),
        new Case("a repeated batch is void and changes nothing", BatchLogContract::repeat),
        new Case("a batch of an older term is void", BatchLogContract::olderTerm),
        new Case("a batch without entries opens a term", BatchLogContract::emptyBatch),
        new Case("a batch of a sealed epoch is void", BatchLogContract::sealed),
        new Case(
            "sealing for an epoch reached already changes nothing", BatchLogContract::resealed),
        new Case("a seal survives a loss of power", BatchLogContract::sealSurvives),
        new Case("what is committed survives a loss of power", BatchLogContract::survives),
        new Case("the tail is the same after a loss of power", BatchLogContract::tailSurvives),
        new Case(
            "a repeat is void after a loss of power too", BatchLogContract::repeatAfterRestart),
        new Case("what is written and synced survives a loss of power", BatchLogContract::synced),
        new Case(
            "of what is written, a beginning survives a loss of power",
            BatchLogContract::beginning),
        new Case("a checkpoint is whole or gone after a loss of power", BatchLogContract::kept));
  }

  private static void visible(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    commit(leader, leader.batch(A, "one"));
    commit(leader, leader.batch(A, "two"));
    equal(List.of("one", "two"), payloads(leader.log().streams(), A));
  }

  private static void replicasAgree(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    for (int i = 0; i < 10; i++) {
      commit(leader, leader.batch(List.of(Map.entry(A, "a" + i), Map.entry(B, "b" + i))));
    }
    settle(log);
    for (var streams : log.replicas()) {
      equal(entries(leader.log().streams(), A), entries(streams, A));
      equal(entries(leader.log().streams(), B), entries(streams, B));
      equal(10L, streams.last(A));
    }
  }

  private static void content(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    commit(leader, leader.batch(A, "first"));
    byte[] payload = new byte[70_000];
    for (int i = 0; i < payload.length; i++) payload[i] = (byte) (i * 31);
    Batch template = leader.batch(A, "");
    var entry = new Entry(A, 2, 0, 123_456_789, (byte) 9, payload, null);
    var batch =
        new Batch(
            template.token(), template.term(), template.sequence(), 123_456_789, List.of(entry));
    commit(leader, batch);
    settle(log);
    for (var streams : log.replicas()) {
      StoredEntry stored = present(streams.read(A, 2));
      equal(2L, stored.address());
      equal(batch.token().first(), stored.log());
      equal(123_456_789L, stored.nowMicros());
      equal((byte) 9, stored.kind());
      Demand.that(java.util.Arrays.equals(payload, stored.payload()), "the payload is as it was");
    }
  }

  private static void run(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    Batch batch = leader.batch(List.of(Map.entry(A, "x"), Map.entry(B, "y"), Map.entry(A, "z")));
    commit(leader, batch);
    var streams = leader.log().streams();
    equal(List.of("x", "z"), payloads(streams, A));
    equal(batch.token().at(0), present(streams.read(A, 1)).log());
    equal(batch.token().at(1), present(streams.read(B, 1)).log());
    equal(batch.token().at(2), present(streams.read(A, 2)).log());
  }

  private static void several(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    Batch template = leader.batch(List.of(Map.entry(A, ""), Map.entry(A, "")));
    long first = template.token().first().counter();
    long now = template.nowMicros();
    var entries =
        List.of(
            new Entry(A, 1, 0, now, (byte) 1, new byte[] {1}, null),
            new Entry(B, 1, 1, now, (byte) 1, new byte[] {2}, null),
            new Entry(A, 2, 1, now, (byte) 1, new byte[] {3}, null));
    commit(leader, new Batch(template.token(), template.term(), template.sequence(), now, entries));
    settle(log);
    for (var streams : log.replicas()) {
      equal(template.token().at(1), present(streams.read(B, 1)).log());
      equal(template.token().at(1), present(streams.read(A, 2)).log());
      var items = new ArrayList<Streams.LogItem>();
      streams.scanLog(first, first + 10, items::add);
      var one = new Streams.LogItem(template.token().at(0), List.of(new Streams.Place(A, 1)));
      var two =
          new Streams.LogItem(
              template.token().at(1), List.of(new Streams.Place(B, 1), new Streams.Place(A, 2)));
      equal(List.of(one, two), items);
      equal(two, present(streams.at(first + 1)));
      Demand.that(streams.at(first + 2) == null, "nothing is behind the last address");
    }
  }

  private static void absent(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    commit(leader, leader.batch(A, "x"));
    var streams = leader.log().streams();
    equal(0L, streams.last(B));
    Demand.that(streams.read(A, 2) == null, "there is no entry behind the last");
    Demand.that(streams.read(B, 1) == null, "there is no entry in an empty stream");
    Demand.that(streams.lastMark(B, Long.MAX_VALUE) == null, "there is no mark in an empty stream");
    Demand.that(streams.lastCheckpoint(A, Long.MAX_VALUE) == null, "there is no checkpoint yet");
  }

  private static void marks(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    for (int i = 1; i <= 10; i++) commit(leader, leader.batch(A, "e" + i));
    var streams = leader.log().streams();
    Demand.that(streams.lastMark(A, 3) == null, "there is no mark below address 4");
    for (long address : new long[] {4, 7}) {
      var mark = Objects.requireNonNull(streams.lastMark(A, address));
      equal(4L, mark.address());
      equal("mark e4", new String(mark.data(), StandardCharsets.UTF_8));
    }
    equal(8L, Objects.requireNonNull(streams.lastMark(A, Long.MAX_VALUE)).address());
  }

  private static void checkpoint(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    for (int i = 1; i <= 6; i++) commit(leader, leader.batch(A, "e" + i));
    var streams = leader.log().streams();
    streams.checkpoint(A, 2, new byte[] {2});
    streams.checkpoint(A, 5, new byte[] {5});
    Demand.that(streams.lastCheckpoint(A, 1) == null, "there is no checkpoint at or below 1");
    equal(2L, Objects.requireNonNull(streams.lastCheckpoint(A, 4)).address());
    var last = Objects.requireNonNull(streams.lastCheckpoint(A, Long.MAX_VALUE));
    equal(5L, last.address());
    equal((byte) 5, last.data()[0]);
  }

  private static void scan(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    for (int i = 1; i <= 9; i++) commit(leader, leader.batch(A, "e" + i));
    List<Long> seen = new ArrayList<>();
    leader
        .log()
        .streams()
        .scan(
            A,
            3,
            8,
            entry -> {
              seen.add(entry.address());
              return entry.address() < 6;
            });
    equal(List.of(3L, 4L, 5L, 6L), seen);
  }

  private static void repeat(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    Batch first = leader.batch(A, "one");
    commit(leader, first);
    commit(leader, leader.batch(A, "two"));
    voided(leader, first);
    var tail = leader.log().tail();
    var other = new Entry(A, 3, 0, 0, (byte) 1, new byte[] {1}, null);
    voided(
        leader,
        new Batch(
            new Token(first.token().first(), 1),
            first.term(),
            first.sequence(),
            first.nowMicros(),
            List.of(other)));
    equal(tail, leader.log().tail());
    settle(log);
    for (var streams : log.replicas()) equal(List.of("one", "two"), payloads(streams, A));
  }

  private static void olderTerm(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    commit(leader, leader.batch(B, "old"));
    Batch template = leader.batch(A, "late");
    var late =
        new Batch(template.token(), template.term(), 7, template.nowMicros(), template.entries());
    log.restart();
    leader.resume();
    commit(leader, leader.batch(A, "new"));
    voided(leader, late);
    commit(leader, leader.batch(A, "newer"));
    settle(log);
    for (var streams : log.replicas()) equal(List.of("new", "newer"), payloads(streams, A));
  }

  private static void emptyBatch(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    commit(leader, leader.batch(B, "old"));
    Batch late = leader.batch(A, "late");
    log.restart();
    leader.resume();
    commit(leader, leader.batch(List.of()));
    voided(leader, late);
    equal(leader.log().term(), leader.log().tail().term());
    equal(0L, leader.log().streams().last(A));
  }

  private static void sealed(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    commit(leader, leader.batch(A, "before"));
    Batch late = leader.batch(A, "late");
    leader.seal(leader.log().tail().epoch() + 1);
    voided(leader, late);
    commit(leader, leader.batch(A, "after"));
    voided(leader, late);
    settle(log);
    for (var streams : log.replicas()) {
      equal(List.of("before", "after"), payloads(streams, A));
      var addresses = entries(streams, A);
      Demand.that(
          addresses.get(0).log().compareTo(addresses.get(1).log()) < 0,
          "log addresses rise over a seal");
    }
  }

  private static void resealed(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    leader.seal(5);
    commit(leader, leader.batch(A, "x"));
    var tail = leader.log().tail();
    leader.log().seal(5);
    leader.log().seal(4);
    equal(tail, leader.log().tail());
    commit(leader, leader.batch(A, "y"));
  }

  private static void sealSurvives(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    Batch late = leader.batch(A, "late");
    leader.seal(9);
    log.restart();
    equal(9L, log.leader().tail().epoch());
    leader.resume();
    voided(leader, late);
    commit(leader, leader.batch(A, "x"));
  }

  private static void survives(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    List<String> expected = new ArrayList<>();
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 5; i++) {
        String id = round + "/" + i;
        commit(leader, leader.batch(List.of(Map.entry(A, id), Map.entry(B, id))));
        expected.add(id);
      }
      log.restart();
      leader.resume();
      equal(expected, payloads(leader.log().streams(), A));
      equal(expected, payloads(leader.log().streams(), B));
    }
  }

  private static void tailSurvives(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    commit(leader, leader.batch(List.of(Map.entry(A, "x"), Map.entry(B, "y"))));
    var tail = leader.log().tail();
    log.restart();
    equal(tail, log.leader().tail());
  }

  private static void synced(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    if (!leader.log().syncsApart()) return;
    commit(leader, leader.batch(A, "one"));
    write(leader, "two");
    write(leader, "three");
    equal(List.of("one", "two", "three"), payloads(leader.log().streams(), A));
    leader.log().sync();
    var tail = leader.log().tail();
    log.restart();
    leader.resume();
    equal(tail, leader.log().tail());
    write(leader, "four");
    commit(leader, leader.batch(A, "five"));
    log.restart();
    leader.resume();
    equal(List.of("one", "two", "three", "four", "five"), payloads(leader.log().streams(), A));
  }

  private static void beginning(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    if (!leader.log().syncsApart()) return;
    commit(leader, leader.batch(A, "one"));
    var all = new ArrayList<>(List.of("one"));
    for (int i = 0; i < 10; i++) {
      write(leader, "w" + i);
      all.add("w" + i);
    }
    log.restart();
    leader.resume();
    List<String> found = payloads(leader.log().streams(), A);
    equal(all.subList(0, Math.max(1, found.size())), found);
  }

  private static void write(SimulatedLeader leader, String payload) {
    BatchOutcome outcome = leader.write(leader.batch(A, payload));
    Demand.that(
        outcome instanceof BatchOutcome.Committed, "a batch is written, and not " + outcome);
  }

  private static void repeatAfterRestart(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    Batch batch = leader.batch(A, "one");
    commit(leader, batch);
    log.restart();
    leader.resume();
    voided(leader, batch);
    equal(List.of("one"), payloads(leader.log().streams(), A));
  }

  private static void kept(PoweredLog log) {
    var leader = new SimulatedLeader(log);
    byte[] state = new byte[20_000];
    java.util.Arrays.fill(state, (byte) 3);
    commit(leader, leader.batch(A, "x"));
    leader.log().streams().checkpoint(A, 1, state);
    log.restart();
    leader.resume();
    var checkpoint = leader.log().streams().lastCheckpoint(A, Long.MAX_VALUE);
    Demand.that(
        checkpoint == null
            || (checkpoint.address() == 1 && java.util.Arrays.equals(state, checkpoint.data())),
        "a checkpoint is as it was made, or gone");
    equal(List.of("x"), payloads(leader.log().streams(), A));
  }

  /// Returns the payloads of a stream, as text, from its first address to its last.
  static List<String> payloads(Streams streams, StreamId stream) {
    List<String> payloads = new ArrayList<>();
    streams.scan(
        stream,
        1,
        Long.MAX_VALUE,
        entry -> payloads.add(new String(entry.payload(), StandardCharsets.UTF_8)));
    return payloads;
  }

  /// A stored entry as a comparable value.
  record Seen(long address, stoa.LogAddress log, long nowMicros, byte kind, String payload) {}

  /// Returns the entries of a stream, and reads each address singly as well.
  static List<Seen> entries(Streams streams, StreamId stream) {
    List<Seen> seen = new ArrayList<>();
    streams.scan(stream, 1, Long.MAX_VALUE, entry -> seen.add(seen(entry)));
    for (var entry : seen) equal(entry, seen(present(streams.read(stream, entry.address()))));
    var addresses = new TreeSet<Long>();
    for (var entry : seen) addresses.add(entry.address());
    equal((long) seen.size(), streams.last(stream));
    equal(seen.size(), addresses.size());
    return seen;
  }

  private static Seen seen(StoredEntry entry) {
    return new Seen(
        entry.address(),
        entry.log(),
        entry.nowMicros(),
        entry.kind(),
        new String(entry.payload(), StandardCharsets.UTF_8));
  }

  private static void commit(SimulatedLeader leader, Batch batch) {
    BatchOutcome outcome = leader.propose(batch);
    Demand.that(
        outcome instanceof BatchOutcome.Committed, "the batch is committed, not " + outcome);
    equal(batch.sequence(), leader.log().tail().sequence());
    equal(batch.term(), leader.log().tail().term());
  }

  private static void voided(SimulatedLeader leader, Batch batch) {
    BatchOutcome outcome = leader.propose(batch);
    Demand.that(outcome instanceof BatchOutcome.Fenced, "the batch is void, not " + outcome);
  }

  static void settle(PoweredLog log) {
    while (log.step()) {
      // Until nothing is in progress.
    }
  }

  private static <T> T present(@org.jspecify.annotations.Nullable T entry) {
    if (entry == null) throw new AssertionError("the entry is there");
    return entry;
  }

  private static void equal(Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new AssertionError("the contract demands " + expected + " and has " + actual);
    }
  }
}
