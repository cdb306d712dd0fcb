package stoa.trials;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import stoa.Appended;
import stoa.Closed;
import stoa.DeadlineExceeded;
import stoa.Follower;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.Stoa;
import stoa.StoaException;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.sim.Chance;

/// Appends to a few streams, to one or to several at once, follows the log, and checks the records
/// of both.
///
/// Thread-safe; a [Worker] has one owner.
final class RecordedStreams {
  /*
   * (1) An acknowledged append is in the log once, whole, at the addresses that its caller received.
   *     One with an unknown outcome is there whole or not at all, and a refused one is not.
   * (2) An append that began after another one had ended has a greater log address.
   * (3) Streams are dense, and have the order of the log; the follower has seen the same log.
   */
  private static final List<StreamKey> STREAMS =
      IntStream.range(0, 5).mapToObj(i -> StreamKey.of("recorded " + i)).toList();

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /// An append, and when it began and ended on the clock of all.
  private static final class Append {
    private final Set<StreamKey> streams;
    private final long began;
    private long ended = Long.MAX_VALUE;
    private boolean refused;
    private @Nullable Appended given;

    private Append(Set<StreamKey> streams, long began) {
      this.streams = streams;
      this.began = began;
    }
  }

  private final AtomicLong clock = new AtomicLong();
  private final Map<String, Append> appends = new TreeMap<>(); // guarded by itself
  private final Consumer<String> reached;
  private final Thread following;
  private final List<LogSlot.Written> followed = new ArrayList<>(); // owned by following
  private final AtomicReference<@Nullable LogAddress> end = new AtomicReference<>();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  /// @param stoa the store whose log is followed, to its end
  /// @param reached counts the actions, by name
  RecordedStreams(Stoa stoa, Consumer<String> reached) {
    this.reached = reached;
    following = Thread.ofVirtual().start(() -> follow(stoa.streams()));
  }

  private static LogSlot.@Nullable Written recorded(LogSlot.Written slot) {
    var mine = slot.entries().stream().filter(entry -> STREAMS.contains(entry.stream())).toList();
    return mine.isEmpty() ? null : new LogSlot.Written(slot.address(), mine);
  }

  // ---- the follower

  /// Follows the log until its last recorded entry. Begins again behind the last one that it has
  /// seen when no server answers.
  private void follow(StreamStore streams) {
    LogAddress next = StreamStore.BEGINNING;
    while (!isOver()) {
      try (Follower<LogSlot.Written> follower = streams.follow(next)) {
        while (!isOver()) {
          LogSlot.Written found = follower.next(Duration.ofMillis(200)).orElse(null);
          if (found == null) continue;
          next = new LogAddress(found.address().epoch(), found.address().counter() + 1);
          LogSlot.Written mine = recorded(found);
          if (mine != null) followed.add(mine);
        }
      } catch (Closed over) {
        return;
      } catch (StoaException later) {
        reached.accept("the follower of the log began again");
      } catch (InterruptedException | RuntimeException | Error failed) {
        failure.set(failed);
        return;
      }
    }
  }

  private boolean isOver() {
    LogAddress last = end.get();
    if (last == null) return false;
    return followed.isEmpty()
        ? last.equals(StreamStore.BEGINNING)
        : followed.getLast().address().compareTo(last) >= 0;
  }

  // ---- appends

  /// Returns one thread that appends.
  Worker worker(String name, Stoa stoa, Chance chance) {
    return new Worker(name, stoa, chance);
  }

  /// One thread that appends.
  final class Worker {
    private final String name;
    private final Stoa stoa;
    private final Chance chance;
    private int count;

    private Worker(String name, Stoa stoa, Chance chance) {
      this.name = name;
      this.stoa = stoa;
      this.chance = chance;
    }

    /// Appends once; returns whether that was acknowledged.
    boolean turn() {
      String text = name + "." + ++count;
      int streams = chance.percent(40) ? chance.between(2, 3) : 1;
      int first = chance.below(STREAMS.size());
      var data = new HashMap<StreamKey, byte[]>();
      for (int i = 0; i < streams; i++) {
        data.put(STREAMS.get((first + i) % STREAMS.size()), text.getBytes(UTF_8));
      }
      var append = new Append(Set.copyOf(data.keySet()), clock.incrementAndGet());
      synchronized (appends) {
        appends.put(text, append);
      }
      try {
        append.given = stoa.streams().append(data);
        append.ended = clock.incrementAndGet();
        reached.accept(streams == 1 ? "an append" : "an append to several streams");
        return true;
      } catch (UnknownOutcome unknown) {
        reached.accept("an append with an unknown outcome");
      } catch (Unavailable | DeadlineExceeded nothing) {
        append.refused = true;
        reached.accept("an append refused: " + nothing.getClass().getSimpleName());
      }
      return false;
    }
  }

  // ---- the check

  /// Reads everything, then checks all records. The appends have ended.
  ///
  /// @throws AssertionError with an inconsistency
  void require(Stoa stoa) throws InterruptedException {
    List<LogSlot.Written> log = log(stoa.streams());
    requireFollowed(log);
    Map<String, LogSlot.Written> found = new TreeMap<>();
    for (LogSlot.Written slot : log) {
      String text = text(slot.entries().getFirst());
      LogSlot.Written other = found.put(text, slot);
      if (other != null) {
        throw new AssertionError(
            "append %s is there twice, at %s and %s"
                .formatted(text, other.address(), slot.address()));
      }
      requireWhole(text, slot);
    }
    synchronized (appends) {
      appends.forEach((text, append) -> {
        if (append.given != null && !found.containsKey(text)) {
          throw new AssertionError("append " + text + " was acknowledged, and is not there");
        }
      });
    }
    requireInTime(found);
    requireInStreams(stoa.streams(), log);
  }

  private static List<LogSlot.Written> log(StreamStore streams) {
    var log = new ArrayList<LogSlot.Written>();
    streams.scan(
        StreamStore.BEGINNING,
        streams.tail(),
        slot -> {
          LogSlot.Written mine = recorded(slot);
          if (mine == null) return true;
          if (!log.isEmpty() && log.getLast().address().compareTo(mine.address()) >= 0) {
            throw new AssertionError(
                "the log has %s behind %s".formatted(mine.address(), log.getLast().address()));
          }
          return log.add(mine);
        });
    return log;
  }

  private void requireFollowed(List<LogSlot.Written> log) throws InterruptedException {
    end.set(log.isEmpty() ? StreamStore.BEGINNING : log.getLast().address());
    boolean ended = following.join(PATIENCE);
    Throwable failed = failure.get();
    if (failed != null) throw new AssertionError("the follower failed: " + failed, failed);
    if (!ended) throw new AssertionError("the follower has not come to the end of the log");
    var seen = followed.stream().map(RecordedStreams::shown).toList();
    var read = log.stream().map(RecordedStreams::shown).toList();
    if (!seen.equals(read)) {
      throw new AssertionError("the follower saw " + seen + ", and the log is " + read);
    }
  }

  private static String shown(LogSlot.Written slot) {
    var text = new StringBuilder().append(slot.address());
    for (StreamEntry entry : slot.entries()) {
      text.append(' ').append(entry.stream()).append('@').append(entry.address());
      text.append('=').append(text(entry));
    }
    return text.toString();
  }

  private static String text(StreamEntry entry) {
    return new String(entry.data(), UTF_8);
  }

  private void requireWhole(String text, LogSlot.Written slot) {
    Append append;
    synchronized (appends) {
      append = appends.get(text);
    }
    if (append == null) throw new AssertionError("nobody appended " + text);
    if (append.refused) {
      throw new AssertionError("append " + text + " was refused, and is at " + slot.address());
    }
    var streams = new TreeSet<StreamKey>();
    for (StreamEntry entry : slot.entries()) {
      if (!text(entry).equals(text) || !streams.add(entry.stream())) {
        throw new AssertionError("a part of append " + text + " is wrong: " + shown(slot));
      }
    }
    if (!streams.equals(append.streams)) {
      throw new AssertionError(
          "append %s went to %s, and is in %s".formatted(text, append.streams, streams));
    }
    Appended given = append.given;
    if (given == null) return;
    boolean same = given.log().equals(slot.address());
    for (StreamEntry entry : slot.entries())
      same &= given.address(entry.stream()) == entry.address();
    if (!same) {
      throw new AssertionError(
          "append %s was acknowledged as %s, and is %s".formatted(text, given, shown(slot)));
    }
  }

  /// Checks that the log agrees with real time.
  private void requireInTime(Map<String, LogSlot.Written> found) {
    // The events at each time of the clock: an append began, or ended.
    var times = new TreeMap<Long, String>();
    synchronized (appends) {
      for (String text : found.keySet()) {
        Append append = Objects.requireNonNull(appends.get(text));
        times.put(append.began, text);
        if (append.ended != Long.MAX_VALUE) times.put(append.ended, text);
      }
      LogAddress last = StreamStore.BEGINNING;
      String whose = "";
      for (var time : times.entrySet()) {
        String text = time.getValue();
        LogAddress address = Objects.requireNonNull(found.get(text)).address();
        boolean begins = Objects.requireNonNull(appends.get(text)).began == time.getKey();
        if (begins && address.compareTo(last) < 0) {
          throw new AssertionError(
              "append %s began after %s had ended, and is at %s in front of %s"
                  .formatted(text, whose, address, last));
        }
        if (!begins && address.compareTo(last) > 0) {
          last = address;
          whose = text;
        }
      }
    }
  }

  private static void requireInStreams(StreamStore streams, List<LogSlot.Written> log) {
    for (StreamKey stream : STREAMS) {
      var expected = new ArrayList<String>();
      for (LogSlot.Written slot : log) {
        for (StreamEntry entry : slot.entries()) {
          if (entry.stream().equals(stream)) expected.add(slot.address() + " " + text(entry));
        }
      }
      var read = new ArrayList<String>();
      for (StreamEntry entry : streams.readAll(stream)) {
        read.add(entry.log() + " " + text(entry));
        if (entry.address() != read.size()) {
          throw new AssertionError(
              "entry %d of stream %s has the address %d"
                  .formatted(read.size(), stream, entry.address()));
        }
      }
      if (!read.equals(expected)) {
        throw new AssertionError(
            "stream %s is %s, and the log has %s of it".formatted(stream, read, expected));
      }
    }
  }
}
