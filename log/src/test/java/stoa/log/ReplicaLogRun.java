package stoa.log;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.SimulatedDisk;

/// A run of a replica that has the log of its consensus on its device, with the choices of a seed.
/// It gets the commands that others have committed, and commands that are cut off again; it
/// crashes, is brought level by another replica, which may break off, and forgets the beginning of
/// its log.
///
/// Whenever it is whole, it must show what the other replica showed at the same position, and its
/// log must have what it got.
final class ReplicaLogRun {
  private static final int STEPS = 120;
  private static final List<StreamId> STREAMS =
      List.of(StreamId.of("a"), StreamId.of("b"), StreamId.of("c"));

  /// What the commands up to an index lead to.
  ///
  /// @param last the last address of each stream
  private record Model(
      long fence, long epoch, long term, long sequence, long counter, List<Long> last) {}

  /// A command of a log.
  private record Logged(long term, Command command, Model after) {
    byte[] bytes() {
      return command.toBytes();
    }
  }

  /// What a replica shows.
  private record Shown(BatchLog.Tail tail, List<String> entries) {
    static Shown of(Replica replica) {
      var entries = new ArrayList<String>();
      Streams streams = replica.streams();
      for (StreamId stream : STREAMS) {
        long oldest = streams.oldest(stream);
        entries.add(stream + " " + oldest + "-" + streams.last(stream));
        streams.scan(
            stream,
            Math.max(1, oldest),
            Long.MAX_VALUE,
            entry -> {
              var mark = streams.lastMark(stream, entry.address());
              boolean isMarked = mark != null && mark.address() == entry.address();
              return entries.add(
                  entry.address() + " " + Arrays.toString(entry.payload()) + " " + isMarked);
            });
      }
      BatchLog.Tail tail = replica.tail();
      if (!tail.equals(replica.streams().tail())) throw new AssertionError("it shows " + entries);
      return new Shown(tail, entries);
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Shown(BatchLog.Tail otherTail, List<String> others)
          && tail.counter() == otherTail.counter()
          && tail.sequence() == otherTail.sequence()
          && entries.equals(others);
    }

    @Override
    public int hashCode() {
      return entries.hashCode();
    }
  }

  private final Random random;

  // The other replica, with the commands that are committed, its answers, and what it has shown.
  private final Replica other;
  private final List<Logged> committed = new ArrayList<>();
  private final List<byte[]> answers = new ArrayList<>();
  private final TreeMap<Long, Shown> shown = new TreeMap<>();

  private SimulatedDisk disk;
  private Replica replica;
  private long terms = 1;
  private byte payload;

  // What the log has now, and what it has had since its last sync. All begin with the first index.
  private List<Logged> own = List.of();
  private final List<List<Logged>> since = new ArrayList<>();

  private ReplicaLogRun(long seed) {
    random = new Random(seed);
    disk = new SimulatedDisk(seed);
    replica = open();
    other = new Replica(device(new SimulatedDisk(1)));
    since.add(own);
    commit(new Command.Open(0), new Model(1, 0, 0, 0, 0, List.of(0L, 0L, 0L)));
    commit(new Command.Seal(1, 1), new Model(1, 1, 0, 0, 1, List.of(0L, 0L, 0L)));
  }

  /// Runs it. Returns what is wrong; null for nothing.
  static @Nullable String failure(long seed) {
    try {
      new ReplicaLogRun(seed).run();
      return null;
    } catch (RuntimeException | IOException | AssertionError wrong) {
      return "seed " + seed + ": " + wrong;
    }
  }

  private static Device device(SimulatedDisk disk) {
    var config = new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10);
    return Device.open(disk, config, Runnable::run);
  }

  private Replica open() {
    return new Replica(device(disk), Replica.LogPlace.DEVICE);
  }

  private ReplicaLog log() {
    return Objects.requireNonNull(replica.log());
  }

  private boolean percent(int part) {
    return random.nextInt(100) < part;
  }

  private void run() throws IOException {
    for (int step = 0; step < STEPS; step++) {
      switch (random.nextInt(20)) {
        case 0, 1, 2, 3 -> commit();
        case 4, 5, 6, 7 -> replicate(1 + random.nextInt(4));
        case 8, 9, 10 -> diverge();
        case 11, 12, 13, 14, 15 -> apply();
        case 16 -> catchUp(percent(60));
        case 17 -> crash();
        case 18 -> forget();
        default -> replica.sync();
      }
      judge();
    }
    for (int life = 0; life < 2; life++) {
      replicate(Integer.MAX_VALUE);
      for (long left = committed.size() - replica.applied().index(); left > 0; left--) apply();
      require(replica.applied().index() == committed.size(), "it is at " + replica.applied());
      require(replica.complete(), "it is not whole");
      judge();
      crash();
    }
  }

  private void judge() {
    if (!replica.isWhole()) return;
    Shown expected = shown.get(replica.applied().index());
    if (expected == null) return;
    Shown found = Shown.of(replica);
    require(found.equals(expected), "it shows " + found + " and not " + expected);
  }

  private static void require(boolean holds, String what) {
    if (!holds) throw new AssertionError(what);
  }

  // ---- commands

  private void commit() {
    Model before = committed.getLast().after();
    Logged next = next(before, committed.size() + 1, terms);
    commit(next.command(), next.after());
  }

  private void commit(Command command, Model after) {
    committed.add(new Logged(terms, command, after));
    var at = new Position(terms, committed.size());
    answers.add(other.apply(at, command.toBytes()));
    shown.put(at.index(), Shown.of(other));
  }

  /// Returns a command, which may have no effect.
  private Logged next(Model before, long index, long term) {
    int kind = random.nextInt(20);
    int stream = random.nextInt(STREAMS.size());
    if (kind < 2) {
      boolean wins = kind == 0;
      var command = new Command.Open(wins ? before.fence() : before.fence() - 1);
      long fence = wins ? index : before.fence();
      return new Logged(
          term,
          command,
          new Model(
              fence,
              before.epoch(),
              before.term(),
              before.sequence(),
              before.counter(),
              before.last()));
    }
    if (kind == 2) return new Logged(term, new Command.Nothing(), before);
    if (kind == 3) {
      long epoch = before.epoch() + 1;
      return new Logged(
          term,
          new Command.Seal(before.fence(), epoch),
          new Model(before.fence(), epoch, 0, 0, before.counter() + 1, before.last()));
    }
    if (kind == 4) {
      long last = before.last().get(stream);
      long first = last == 0 ? 0 : 1 + random.nextLong(last);
      var command = new Command.Trim(before.fence(), STREAMS.get(stream), first);
      return new Logged(term, command, before);
    }
    return kind < 9
        ? new Logged(term, new Command.Write(withoutEffect(before)), before)
        : effective(before, term);
  }

  private Logged effective(Model before, long term) {
    int count = 1 + random.nextInt(3);
    var last = new ArrayList<>(before.last());
    var entries = new ArrayList<Entry>();
    for (int i = 0; i < count; i++) {
      int stream = random.nextInt(STREAMS.size());
      last.set(stream, last.get(stream) + 1);
      entries.add(entry(stream, last.get(stream), i));
    }
    long sequence = before.term() == before.fence() ? before.sequence() + 1 : 1;
    var token = new Token(new LogAddress(before.epoch(), before.counter() + 1), count);
    var batch = new Batch(token, before.fence(), sequence, 1, entries);
    var after =
        new Model(
            before.fence(),
            before.epoch(),
            before.fence(),
            sequence,
            before.counter() + count,
            List.copyOf(last));
    return new Logged(term, new Command.Write(batch), after);
  }

  private Entry entry(int stream, long address, int offset) {
    byte[] mark = address % 3 == 0 ? new byte[] {1} : null;
    return new Entry(
        STREAMS.get(stream), address, offset, 1, (byte) 1, new byte[] {++payload}, mark);
  }

  /// Returns a batch of an earlier epoch or owner, or one that repeats an earlier one.
  private Batch withoutEffect(Model before) {
    int stream = random.nextInt(STREAMS.size());
    long address = Math.max(1, before.last().get(stream) + random.nextInt(3) - 1);
    boolean isEarlier = percent(50);
    long epoch = isEarlier ? before.epoch() - 1 : before.epoch();
    long term = isEarlier ? before.fence() : before.fence() - 1;
    var token = new Token(new LogAddress(epoch, Math.max(1, before.counter())), 1);
    return new Batch(token, term, 1, 1, List.of(entry(stream, address, 0)));
  }

  // ---- the log

  private void append(Logged next) {
    var at = new Position(next.term(), own.size() + 1);
    log().append(new ReplicaLog.Item.Ordered(at, next.bytes()));
    var all = new ArrayList<>(own);
    all.add(next);
    become(all);
  }

  private void become(List<Logged> all) {
    own = List.copyOf(all);
    since.add(own);
  }

  private void sync() {
    log().sync();
    since.clear();
    since.add(own);
  }

  private int common() {
    int common = 0;
    while (common < Math.min(own.size(), committed.size())
        && own.get(common).equals(committed.get(common))) common++;
    return common;
  }

  private void replicate(int most) {
    int common = common();
    if (common < own.size()) {
      log().cut(common + 1);
      become(own.subList(0, common));
    }
    for (int i = 0; i < most && own.size() < committed.size(); i++) {
      append(committed.get(own.size()));
    }
    if (percent(70)) sync();
  }

  /// Lets this replica lead for a while, in vain.
  private void diverge() {
    if (own.size() < 2 || own.size() < replica.applied().index()) return;
    terms++;
    for (int i = random.nextInt(3); i >= 0; i--) {
      append(next(own.getLast().after(), own.size() + 1, terms));
    }
    terms++;
    if (percent(70)) sync();
  }

  private void apply() {
    int next = Math.toIntExact(replica.applied().index());
    if (next >= common()) return;
    Logged logged = committed.get(next);
    boolean isWhole = replica.isWhole();
    byte[] answer = replica.apply(new Position(logged.term(), next + 1), logged.bytes());
    require(!isWhole || Arrays.equals(answer, answers.get(next)), "another answer at " + next);
    replica.complete();
  }

  /// Lets the log begin later.
  private void forget() {
    replica.sync();
    int index = Math.min(common(), Math.toIntExact(replica.applied().index()));
    log().head(new byte[] {1}, index);
    sync();
  }

  private void catchUp(boolean breaksOff) throws IOException {
    if (replica.applied().index() >= other.applied().index()) return;
    int left = breaksOff ? 2 + random.nextInt(4) : Integer.MAX_VALUE;
    var questions = new int[] {left};
    try (Supply supply = other.supply()) {
      CatchUp.run(
          replica,
          question -> {
            if (questions[0]-- == 0) throw new IOException("broken off");
            var answer = new ByteArrayOutputStream();
            supply.answer(question, answer);
            return new ByteArrayInputStream(answer.toByteArray());
          });
    } catch (IOException brokenOff) {
      if (!breaksOff) throw brokenOff;
      since.clear();
      since.add(own); // the catch-up has synced
      return;
    }
    int to = Math.toIntExact(replica.applied().index());
    if (common() < to) {
      log().cut(to + 1);
      become(committed.subList(0, to));
    }
    log().head(new byte[] {1}, to);
    sync();
  }

  private void crash() {
    disk = percent(50) ? disk.crash() : disk.kill();
    replica = open();
    List<ReplicaLog.Item> found = log().entries();
    long end =
        found.isEmpty()
            ? Math.max(0, replica.device().trimmedBefore(ReplicaLog.RECORD, 0) - 1)
            : found.getLast().at().index();
    own =
        since.reversed().stream()
            .filter(all -> has(all, found, end))
            .findFirst()
            .orElseThrow(() -> new AssertionError("the log has " + found));
    since.clear();
    since.add(own);
  }

  private static boolean has(List<Logged> all, List<ReplicaLog.Item> found, long end) {
    if (all.size() != end) return false;
    for (ReplicaLog.Item item : found) {
      Position at = item.at();
      Logged logged = all.get(Math.toIntExact(at.index()) - 1);
      boolean isSame =
          item instanceof ReplicaLog.Item.Released
              || (item instanceof ReplicaLog.Item.Ordered(_, byte[] command)
                  && Arrays.equals(command, logged.bytes()));
      if (!isSame || logged.term() != at.term()) return false;
    }
    return true;
  }
}
