package stoa.test;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.opentest4j.AssertionFailedError;
import stoa.NotShareable;
import stoa.Stoa;
import stoa.sim.check.Linearizability;
import stoa.sim.check.ObjectModel;
import stoa.sim.check.Verdict;
import stoa.sim.world.Recorder;

/// Checks of shared classes and their stores, for tests. Thread-safe; each check waits until it is
/// done.
public final class StoaAssertions {
  private static final int THREADS_MAX = 64;
  private static final Duration WORK_TIME_MAX = Duration.ofSeconds(60);

  private StoaAssertions() {}

  // ---- concurrent calls

  /// Runs calls of several threads on a new object, and checks that the answers are those of the
  /// plain class: there is an order of the calls, each at a moment between its beginning and its
  /// end, in which a plain instance gives the same answers. The threads may make their calls while
  /// servers are killed or cut off.
  ///
  /// ```java
  /// assertLinearizable(stoa, Stock.class, "apples", 4, caller -> {
  ///   for (int i = 0; i < 25; i++) caller.call("take 1", stock -> stock.take(1));
  /// });
  /// ```
  ///
  /// The answers alone decide, so that some calls should read. On the plain instance,
  /// [stoa.Call#now()] and [stoa.Call#random()] give other values than in the store; a class whose
  /// answers depend on them is no matter for this check. A hundred calls of four threads are enough
  /// to find most errors, and quick.
  ///
  /// The check covers the calls on one object. It refuses a call that calls other objects; for a
  /// transaction over several objects, write a [Simulation].
  ///
  /// @param key of an object that does not exist yet
  /// @param threads how many make calls at the same time, 1 to 64
  /// @param workload what each of them does
  /// @throws AssertionError with the calls that have an order, and the call that has no place in
  ///   it; or when the threads do not end within a minute, or have made more calls than the check
  ///   can order
  /// @throws IllegalArgumentException when the object exists, the number of threads is none, or a
  ///   call needs another object
  public static <T> void assertLinearizable(
      Stoa stoa, Class<T> type, Object key, int threads, Workload<T> workload) {
    assertLinearizable(stoa, type, key, List.of(), threads, workload);
  }

  /// Checks the calls on an object as [#assertLinearizable(Stoa, Class, Object, int, Workload)]
  /// does, for a class whose constructor takes arguments.
  ///
  /// ```java
  /// assertLinearizable(stoa, Show.class, "gala", List.of(10, 20, 500L), 4, caller -> {
  ///   for (int i = 0; i < 25; i++) caller.call("book", show -> show.book("ada"));
  /// });
  /// ```
  ///
  /// @param arguments of the constructor, after the key where [stoa.Shared#key()] is set, as for
  ///   [Stoa#get]
  /// @throws NotShareable when the class has no constructor for them
  public static <T> void assertLinearizable(
      Stoa stoa, Class<T> type, Object key, List<?> arguments, int threads, Workload<T> workload) {
    if (threads < 1 || threads > THREADS_MAX) {
      throw new IllegalArgumentException(threads + " threads; give 1 to " + THREADS_MAX);
    }
    if (stoa.find(type, key).isPresent()) {
      throw new IllegalArgumentException(
          ("%s[%s] exists, and the check begins with a new object; give another key, and the"
                  + " constructor's arguments to assertLinearizable")
              .formatted(type.getSimpleName(), key));
    }
    var alone = new Alone<>(type, key, arguments);
    String object = "%s[%s]".formatted(type.getSimpleName(), key);
    plain(object, alone::fresh); // before any call, the arguments fit
    var recorder = new Recorder<ObjectModel.Invocation<T>, ObjectModel.Answer>();
    run(stoa.get(type, key, arguments.toArray()), threads, workload, recorder);
    var model =
        new ObjectModel<T>(
            alone::fresh,
            alone::copy,
            instance -> new Shown(alone.state(instance), alone.words(instance)));
    var history = recorder.history();
    // A plain instance runs each call as a store would.
    var verdict = plain(object, () -> alone.run(1, () -> Linearizability.check(model, history)));
    if (verdict instanceof Verdict.Linearizable) return;
    String rest =
        verdict instanceof Verdict.Undecided
            ? "; make fewer calls, or use fewer threads"
            : "\n"
                + "The calls in one lambda count as one. Either they are not one call of a method"
                + " or one transaction, or the class keeps something beside its fields";
    throw new AssertionFailedError("the calls on %s are %s%s".formatted(object, verdict, rest));
  }

  private static <R> R plain(String object, Alone.Body<R> body) {
    try {
      return body.run();
    } catch (Alone.OthersNeeded needed) {
      throw new IllegalArgumentException(
          needed.getMessage()
              + ". assertLinearizable checks the calls on one object, here "
              + object
              + "; for several objects, write a Simulation",
          needed);
    }
  }

  /// The content of an instance, compared by its state.
  private record Shown(Alone.State state, String words) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Shown shown && state.equals(shown.state);
    }

    @Override
    public int hashCode() {
      return state.hashCode();
    }

    @Override
    public String toString() {
      return words;
    }
  }

  private static <T> void run(
      T shared,
      int threads,
      Workload<T> workload,
      Recorder<ObjectModel.Invocation<T>, ObjectModel.Answer> recorder) {
    var began = new CountDownLatch(1);
    var running = new ArrayList<Future<?>>();
    try (var pool = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int number = 0; number < threads; number++) {
        var caller =
            new Caller<>(
                number, new SplittableRandom(number), shared, recorder.client("thread " + number));
        running.add(
            pool.submit(() -> {
              began.await();
              workload.run(caller);
              return caller;
            }));
      }
      began.countDown();
      long end = System.nanoTime() + WORK_TIME_MAX.toNanos();
      for (Future<?> one : running) {
        try {
          one.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException late) {
          pool.shutdownNow();
          throw new AssertionFailedError(
              "the threads have not made their calls within "
                  + WORK_TIME_MAX.toSeconds()
                  + " s; let the workload be smaller, or end the faults earlier",
              late);
        } catch (ExecutionException failed) {
          pool.shutdownNow();
          throw failed(failed);
        }
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new AssertionFailedError("the test was interrupted", stopped);
    }
  }

  private static AssertionError failed(ExecutionException failed) {
    Throwable cause = failed.getCause();
    if (cause instanceof AssertionError told) return told;
    return new AssertionFailedError(
        "the workload of a thread failed with "
            + cause
            + "; when a method of the object may throw this, catch it around caller.call",
        cause);
  }

  // ---- determinism

  /// Makes calls on two instances of a shared class, one after the other, and checks that both come
  /// to the same. Before each call, the second instance becomes a copy of the first one that was
  /// stored and read, as on a replica that goes on from a checkpoint. Both see the same
  /// [stoa.Call#now()] and [stoa.Call#random()].
  ///
  /// ```java
  /// assertDeterministic(Lottery.class, l -> l.enter("ada"), l -> l.enter("bob"), Lottery::draw);
  /// ```
  ///
  /// The class runs by itself, without a store. For one that calls other objects, make the calls in
  /// a [StoaStore] and use [#assertReplaysEqual(StoaStore)].
  ///
  /// @param steps made in this order; the check compares the answer of each call in them
  /// @throws AssertionError with the number of the first step whose answers or states differ; or
  ///   when a store would refuse the class, for example because it reads a clock
  @SafeVarargs
  @SuppressWarnings("varargs") // the list reads them
  public static <T> void assertDeterministic(Class<T> type, Step<? super T>... steps) {
    check(type, "key", List.of(), List.of(steps));
  }

  /// Checks a class as [#assertDeterministic(Class, Step...)] does, when its constructor takes
  /// arguments.
  ///
  /// @param key of the instances
  /// @param arguments of the constructor, after the key where [stoa.Shared#key()] is set, as for
  ///   [Stoa#get]
  @SafeVarargs
  @SuppressWarnings("varargs") // the list reads them
  public static <T> void assertDeterministic(
      Class<T> type, Object key, List<?> arguments, Step<? super T>... steps) {
    check(type, key, arguments, List.of(steps));
  }

  private static <T> void check(
      Class<T> type, Object key, List<?> arguments, List<Step<? super T>> steps) {
    try {
      Determinism.check(new Alone<>(type, key, arguments), type, steps);
    } catch (NotShareable refused) {
      throw new AssertionFailedError(refused.getMessage(), refused);
    }
  }

  /// Makes each two of some calls in both orders, each time on copies of one instance, and checks
  /// that both orders come to the same: calls of methods with [stoa.Commutes] should. The instances
  /// are a new one, and those that the calls leave one after the other.
  ///
  /// ```java
  /// assertCommutes(Tally.class, t -> t.add(3), t -> t.add(-5), t -> t.atLeast(4));
  /// ```
  ///
  /// It finds a method that sets what another one adds to, and one that throws depending on what
  /// was called before it. A list that calls append to has another order then, although its readers
  /// conflict: leave such calls out.
  ///
  /// @param steps a call each
  /// @throws AssertionError with the numbers of the first two steps whose order matters, and how;
  ///   or when a store would refuse the class
  @SafeVarargs
  @SuppressWarnings("varargs") // the list reads them
  public static <T> void assertCommutes(Class<T> type, Step<? super T>... steps) {
    assertCommutes(type, "key", List.of(), steps);
  }

  /// Checks a class as [#assertCommutes(Class, Step...)] does, when its constructor takes
  /// arguments.
  ///
  /// @param key of the instances
  /// @param arguments of the constructor, after the key where [stoa.Shared#key()] is set, as for
  ///   [Stoa#get]
  @SafeVarargs
  @SuppressWarnings("varargs") // the list reads them
  public static <T> void assertCommutes(
      Class<T> type, Object key, List<?> arguments, Step<? super T>... steps) {
    try {
      Determinism.checkOrders(new Alone<>(type, key, arguments), type, List.of(steps));
    } catch (NotShareable refused) {
      throw new AssertionFailedError(refused.getMessage(), refused);
    }
  }

  // ---- replays

  /// Checks that a second store, opened on a copy of the disk, comes to the same state of every
  /// object as the store has. It makes the states from the log, as after a crash.
  ///
  /// @param store open, and without calls in progress
  /// @throws AssertionError with the objects that differ
  public static void assertReplaysEqual(StoaStore store) {
    Replaying.check(store);
  }

  // ---- changed classes

  /// Checks that the classes of today can go on with the objects of a store of an earlier release:
  /// what `./stoa check --data` tells. The store may be among the resources of the test; the check
  /// works on a copy. [StoaStore#saveTo] makes one.
  ///
  /// @param store the directory of the store, which no process has open
  /// @param classes the shared classes of today; none for those that have the names of the stored
  ///   ones
  /// @throws AssertionError with what is refused, and why
  /// @throws IllegalArgumentException when the directory has no store
  public static void assertFits(Path store, Class<?>... classes) {
    Fitting.check(store, List.of(classes));
  }

  /// Fails when there is something to say.
  static void failWith(@Nullable String message) {
    if (message != null) throw new AssertionFailedError(message);
  }
}
