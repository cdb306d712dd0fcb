package stoa.trials;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.DeadlineExceeded;
import stoa.Gone;
import stoa.Stoa;
import stoa.StoaException;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.View;
import stoa.sim.Chance;
import stoa.sim.check.CounterModel;
import stoa.sim.check.Linearizability;
import stoa.sim.check.QueueModel;
import stoa.sim.check.RegisterModel;
import stoa.sim.check.Serializability;
import stoa.sim.check.TransactionHistory;
import stoa.sim.world.Recorder;

/// Calls on a few objects and keys from many threads, with their answers and times, and the check
/// of these.
///
/// Thread-safe; a [Worker] has one owner.
final class RecordedWork {
  /// The number of counters, `counter 0` the first.
  static final int COUNTERS = 2;

  /// The number of registers, `register 0` the first.
  static final int REGISTERS = 3;

  private static final int QUEUES = 4;
  private static final int ERASABLES = 3;
  private static final int SERIES = 3;
  // The number of transactions after which a thread uses new lists: long ones have long answers.
  private static final int SERIES_TRANSACTIONS = 8;

  /*
   * (1) A call that was refused, because it was not sent, was taken back, or its object is deleted,
   *     has no place in the history. One with an unknown outcome stays open to its end.
   * (2) Each counter's answers are its sums, so a call that ran twice leaves a sum that no caller
   *     received; the reads at the end, after all calls, show it if nothing else does.
   * (3) All objects but the erasable ones live on, so that Gone may come from those alone.
   */
  private final List<Recorder<CounterModel.Input, Long>> counters = recorders(COUNTERS);
  private final List<Recorder<RegisterModel.Input, RegisterModel.Output>> registers =
      recorders(REGISTERS);
  private final List<Recorder<QueueModel.Input, Optional<Long>>> queues = recorders(QUEUES);
  private final Recorder<ErasableModel.Input, Long> erasables = new Recorder<>();
  private final TransactionHistory transactions = new TransactionHistory();
  private final Set<String> blocks = new ConcurrentSkipListSet<>();
  private final AtomicLong unique = new AtomicLong();
  private final SortedMap<String, Long> places = Collections.synchronizedSortedMap(new TreeMap<>());
  private final RecordedKeys keys;
  private final RecordedBlobs blobs = new RecordedBlobs(this::reached);
  private final RecordedStreams streams;
  private final CallerProgress progress;
  private final BooleanSupplier areOfThisRelease;

  /// @param stoa the store at which the witnesses of puts listen, to its end
  /// @param progress the turns of the workers
  /// @param areOfThisRelease whether all servers are of this release by now: others may have no
  ///   blobs, and keep streams elsewhere
  RecordedWork(Stoa stoa, CallerProgress progress, BooleanSupplier areOfThisRelease) {
    this.progress = progress;
    this.areOfThisRelease = areOfThisRelease;
    keys = new RecordedKeys(stoa, this::reached);
    streams = new RecordedStreams(stoa, this::reached);
  }

  private static <I, O> List<Recorder<I, O>> recorders(int count) {
    var all = new ArrayList<Recorder<I, O>>();
    for (int i = 0; i < count; i++) all.add(new Recorder<>());
    return List.copyOf(all);
  }

  /// The result of a call for its caller.
  sealed interface Told<O> {
    /// It answered.
    record Answered<O>(O output) implements Told<O> {}

    /// It certainly has no effect.
    record Refused<O>() implements Told<O> {}

    /// The outcome is unknown.
    record Unknown<O>() implements Told<O> {}
  }

  /// A call that has begun.
  interface Begun<O> {
    /// Waits for its answer, and records the result.
    Told<O> end(Callable<O> answer) throws Exception;
  }

  /// Makes a call, and records the result.
  ///
  /// @param reached counts the actions, by name
  static <I, O> Told<O> call(
      Recorder.Client<I, O> client, I input, Callable<O> body, Consumer<String> reached)
      throws Exception {
    return begin(client, input, reached).end(body);
  }

  /// Records that a call begins.
  ///
  /// @param reached counts the actions, by name
  static <I, O> Begun<O> begin(Recorder.Client<I, O> client, I input, Consumer<String> reached) {
    var open = client.begin(input);
    return answer -> {
      try {
        O output = answer.call();
        open.returned(output);
        return new Told.Answered<>(output);
      } catch (StoaException | CompletionException e) {
        Throwable cause = e instanceof CompletionException ? e.getCause() : null;
        Throwable why = cause == null ? e : cause;
        return switch (why) {
          case UnknownOutcome _ -> {
            reached.accept("a call with an unknown outcome");
            yield new Told.Unknown<>();
          }
          case Gone _, Unavailable _, DeadlineExceeded _ -> {
            open.refused();
            reached.accept("a call refused: " + why.getClass().getSimpleName());
            yield new Told.Refused<>();
          }
          default -> throw e;
        };
      }
    };
  }

  /// Returns how often each action was done, by name.
  SortedMap<String, Long> places() {
    return new TreeMap<>(places);
  }

  private void reached(String place) {
    places.merge(place, 1L, Long::sum);
  }

  /// Returns one thread that calls.
  ///
  /// @param stoa the store that it calls
  /// @param chance determines the calls
  Worker worker(String name, Stoa stoa, Chance chance) {
    return new Worker(name, stoa, chance);
  }

  /// Reads everything once more, then checks all records.
  ///
  /// @throws AssertionError with an inconsistency
  void require(Stoa stoa) throws Exception {
    var last = worker("last", stoa, new Chance(0));
    for (int i = 0; i < COUNTERS; i++) last.read(i);
    for (int i = 0; i < QUEUES; i++) while (last.take(i)) reached("rest of a queue taken");
    for (int i = 0; i < ERASABLES; i++) last.erasable("erasable " + i, 20);
    for (String block : blocks) last.transaction(block, List.of(0, 1, 2), TxOptions.reading());
    for (var counter : counters) Linearizability.require(new CounterModel(), counter.history());
    for (var register : registers) Linearizability.require(new RegisterModel(), register.history());
    for (var queue : queues) Linearizability.require(new QueueModel(), queue.history());
    Linearizability.require(new ErasableModel(), erasables.history());
    Serializability.require(transactions.transactions());
    keys.require(stoa);
    blobs.require(stoa);
    streams.require(stoa);
  }

  /// One thread of the work.
  final class Worker {
    private final String name;
    private final Stoa stoa;
    private final Chance chance;
    private final List<Recorder.Client<CounterModel.Input, Long>> counter;
    private final List<Recorder.Client<RegisterModel.Input, RegisterModel.Output>> register;
    private final List<Recorder.Client<QueueModel.Input, Optional<Long>>> queue;
    private final Recorder.Client<ErasableModel.Input, Long> erasable;
    private final RecordedKeys.Worker key;
    private final RecordedBlobs.Worker blob;
    private final RecordedStreams.Worker stream;
    private final long[] seen = new long[COUNTERS];
    private int transaction;

    private Worker(String name, Stoa stoa, Chance chance) {
      this.name = name;
      this.stoa = stoa;
      this.chance = chance;
      counter = counters.stream().map(recorder -> recorder.client(name)).toList();
      register = registers.stream().map(recorder -> recorder.client(name)).toList();
      queue = queues.stream().map(recorder -> recorder.client(name)).toList();
      erasable = erasables.client(name);
      key = keys.worker(name, stoa, chance.of("keys"));
      blob = blobs.worker(name, stoa, chance.of("blobs"));
      stream = streams.worker(name, stoa, chance.of("streams"));
    }

    /// Takes turns, until they are over, or one fails.
    ///
    /// @return true, for an executor
    boolean progress() throws Exception {
      try {
        while (!progress.areOver()) {
          turn();
          progress.taken();
        }
      } finally {
        progress.end();
      }
      return true;
    }

    /// Makes the next calls.
    void turn() throws Exception {
      switch (chance.below(16)) {
        case 0, 1 -> increment(chance.below(COUNTERS));
        case 2 -> {
          if (chance.percent(50)) read(chance.below(COUNTERS));
          else cached(chance.below(COUNTERS));
        }
        case 3, 4 -> register(chance.below(REGISTERS));
        case 5, 6 -> queue(chance.below(QUEUES));
        case 7 -> erasable("erasable " + chance.below(ERASABLES), chance.below(100));
        case 8, 9 -> key.turn();
        case 10, 11 -> {
          if (areOfThisRelease.getAsBoolean() && blob.turn()) progress.answered();
        }
        case 12, 13 -> {
          if (areOfThisRelease.getAsBoolean() && stream.turn()) progress.answered();
        }
        default -> transaction();
      }
    }

    private <I, O> @Nullable O call(Recorder.Client<I, O> client, I input, Callable<O> body)
        throws Exception {
      var told = RecordedWork.call(client, input, body, RecordedWork.this::reached);
      if (!(told instanceof Told.Answered<O>(O output))) return null;
      progress.answered();
      return output;
    }

    private Recorded.Counter counter(int index) {
      return stoa.get(Recorded.Counter.class, "counter " + index);
    }

    private void increment(int index) throws Exception {
      long by = chance.between(1, 3);
      var input = new CounterModel.Input.Increment(by);
      saw(index, call(counter.get(index), input, () -> counter(index).add(by)));
    }

    private void read(int index) throws Exception {
      var input = new CounterModel.Input.Read();
      saw(index, call(counter.get(index), input, () -> counter(index).value()));
    }

    /// Reads through a cached view, which may be old, but shows at least the calls that this thread
    /// knows of. The sums of a counter only grow.
    private void cached(int index) {
      var shared = counter(index);
      try {
        long told = seen[index];
        long value = stoa.view(Recorded.Counter.class, stoa.ref(shared), new View.Cached()).value();
        seen[index] = value;
        reached("a cached view read");
        if (value >= told) return;
        throw new AssertionError(
            "%s: counter %d was %d, and a cached view shows %d then"
                .formatted(name, index, told, value));
      } catch (StoaException e) {
        reached("a cached view refused: " + e.getClass().getSimpleName());
      }
    }

    private void saw(int index, @Nullable Long value) {
      if (value != null) seen[index] = Math.max(seen[index], value);
    }

    private void register(int index) throws Exception {
      var shared = stoa.get(Recorded.Register.class, "register " + index);
      var client = register.get(index);
      long value = chance.below(4);
      long expected = chance.below(4);
      boolean local = chance.percent(50);
      switch (chance.below(3)) {
        case 0 ->
            call(
                client,
                new RegisterModel.Input.Read(),
                () ->
                    new RegisterModel.Output.Value(local ? local(shared).value() : shared.value()));
        case 1 ->
            call(
                client,
                new RegisterModel.Input.Write(value),
                () -> {
                  shared.write(value);
                  return new RegisterModel.Output.Done();
                });
        default ->
            call(
                client,
                new RegisterModel.Input.Swap(expected, value),
                () -> new RegisterModel.Output.Swapped(shared.swap(expected, value)));
      }
    }

    /// Returns a view that answers from a copy, with all calls before.
    private Recorded.Register local(Recorded.Register shared) {
      reached("a local view read");
      return stoa.view(Recorded.Register.class, stoa.ref(shared), new View.Local());
    }

    private void queue(int index) throws Exception {
      // More takes than puts: in a short queue the order of two puts shows soon, and the check need
      // not try many orders.
      if (!chance.percent(40)) {
        take(index);
        return;
      }
      long element = unique.incrementAndGet();
      call(
          queue.get(index),
          new QueueModel.Input.Put(element),
          () -> {
            stoa.get(Recorded.Queue.class, "queue " + index).put(element);
            return Optional.empty();
          });
    }

    /// Takes without waiting in the call itself; returns whether there was an element.
    private boolean take(int index) throws Exception {
      var taken =
          call(
              queue.get(index),
              new QueueModel.Input.Take(),
              () ->
                  stoa.async(stoa.get(Recorded.Queue.class, "queue " + index), Recorded.Queue::take)
                      .join());
      return taken != null && taken.isPresent();
    }

    private void erasable(String key, int choice) throws Exception {
      if (choice < 35) {
        var deleted =
            call(
                erasable,
                new ErasableModel.Input.Delete(key),
                () -> stoa.delete(stoa.get(Recorded.Counter.class, key)) ? 1L : 0L);
        if (deleted != null && deleted == 1) reached("an object deleted");
      } else if (choice < 55) {
        call(
            erasable,
            new ErasableModel.Input.Read(key),
            () -> stoa.get(Recorded.Counter.class, key).value());
      } else {
        call(
            erasable,
            new ErasableModel.Input.Add(key, choice),
            () -> stoa.get(Recorded.Counter.class, key).add(choice));
      }
    }

    private void transaction() {
      int first = chance.below(SERIES);
      List<Integer> steps = new ArrayList<>();
      boolean reading = chance.percent(25);
      for (int i = chance.between(2, 4); i > 0; i--) {
        boolean append = !reading && chance.percent(60);
        steps.add((first + i) % SERIES + (append ? SERIES : 0));
      }
      String block = transaction / SERIES_TRANSACTIONS + ".";
      blocks.add(block);
      transaction(block, steps, reading ? TxOptions.reading() : TxOptions.STANDARD);
    }

    /// Runs a transaction. A step below the number of lists reads that list; another one appends to
    /// it.
    private void transaction(String block, List<Integer> steps, TxOptions options) {
      String text = name + "." + transaction++;
      // An attempt begins before its body does: when the body of the previous one has ended.
      var attempts = new ArrayList<TransactionHistory.Open>();
      attempts.add(transactions.begin(text));
      try {
        stoa.transact(
            options,
            () -> {
              var open = attempts.getLast();
              if (attempts.size() > 1) attempts.get(attempts.size() - 2).aborted();
              attempts.add(transactions.begin(text + " again"));
              for (int i = 0; i < steps.size(); i++) {
                String key = "series " + block + steps.get(i) % SERIES;
                var series = stoa.get(Recorded.Series.class, key);
                if (steps.get(i) < SERIES) {
                  open.read(key, series.elements());
                } else {
                  String element = text + "." + attempts.size() + "." + i;
                  open.append(key, element);
                  open.read(key, series.append(element));
                }
              }
              return true;
            });
        attempts.get(attempts.size() - 2).committed();
        progress.answered();
        reached("a transaction committed");
        if (attempts.size() > 2) reached("a transaction tried again");
      } catch (UnknownOutcome e) {
        reached("a transaction with an unknown outcome");
      } catch (StoaException e) {
        if (attempts.size() > 1) attempts.get(attempts.size() - 2).aborted();
        reached("a transaction failed: " + e.getClass().getSimpleName());
      }
      // The last one has never begun.
      attempts.getLast().aborted();
    }
  }
}
