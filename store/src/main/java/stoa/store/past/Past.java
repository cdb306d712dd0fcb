package stoa.store.past;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.store.calls.Pace;
import stoa.store.records.KeyRefusals;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.Materialized;
import stoa.store.running.QuestionRequest;
import stoa.store.running.StoreTransaction;
import stoa.store.running.WorkingCopy;

/// A key as it was at a place in the log. Thread-safe; an instance keeps no state in memory.
public final class Past {
  private final Playback playback;
  private final Key key;
  private final long counter;
  private final long others;

  // The address of the last visible change, when a later change has the same log address; 0
  // otherwise.
  private final long within;

  // How many ticks a question may take; 0 when the store's limit applies.
  private final int ticks;

  Past(Playback playback, Key key, long counter, long others, long within, int ticks) {
    this.playback = playback;
    this.key = key;
    this.counter = counter;
    this.others = others;
    this.within = within;
    this.ticks = ticks;
  }

  /// Returns the same past with a time limit for each question.
  public Past within(Duration timeMax) {
    return new Past(
        playback, key, counter, others, within, playback.runs().limits.ownTicks(timeMax));
  }

  /// Returns the stream address at which the key's generation had begun, 0 when the key was absent.
  public long generation() {
    return version().generation();
  }

  /// Returns [#generation()] for a reader with a time limit.
  ///
  /// @throws stoa.DeadlineExceeded when a call in progress, or the earlier calls that this executes
  ///   again, take longer
  public long generation(Duration timeMax) {
    return version(playback.runs().limits.endAfter(timeMax)).generation();
  }

  /// Returns the stream address of the last visible put or deletion, 0 when there was none.
  public long position() {
    return version().position();
  }

  /// Returns the state as the handler encodes it for a checkpoint; no bytes when the key was
  /// absent.
  public byte[] encoded() {
    KeyVersion version = version(lateTick());
    if (version.isAbsent()) return new byte[0];
    Handler free = version.take();
    Handler handler =
        free == null ? told(() -> playback.versions().another(key, version, lateTick())) : free;
    byte[] encoded = handler.checkpoint();
    playback.versions().give(version, handler);
    return encoded;
  }

  private KeyVersion version() {
    return version(0);
  }

  private KeyVersion version(int lateTick) {
    Versions versions = playback.versions();
    KeyVersion known = within == 0 ? versions.known(key, counter) : null;
    if (known != null) return known;
    return told(() ->
        within == 0
            ? versions.at(key, counter, lateTick)
            : versions.between(key, within, lateTick));
  }

  /// Returns the tick at which the time of a new question is over; 0 for none.
  private int lateTick() {
    return playback.runs().limits.end(ticks);
  }

  /// Returns a copy of the state on which a transaction works.
  ///
  /// @param tail the last address of the stream
  public WorkingCopy copy(long tail) {
    KeyVersion version = version();
    Materialized.State copied = version.copy();
    if (copied == null) {
      copied = version.state().withOwn(told(() -> playback.versions().another(key, version, 0)));
    }
    HandlerFactory factory = playback.runs().factory(key);
    return new WorkingCopy(key, factory, copied, tail);
  }

  /// Asks the handler as it was; asks a new handler when the key was absent. The calling thread
  /// runs it.
  ///
  /// @param pace how long the question is expected to run: a short question may hold up the key
  /// @throws stoa.Gone when the key was not as expected
  public Answer get(@Nullable Object query, Existence existence, Pace pace) {
    playback.checkOpen();
    int late = lateTick();
    if (!pace.isShort() || within != 0) {
      return ask(version(late), query, existence, null, null, List.of(), 0, late);
    }
    var found =
        told(
            () -> playback.versions().at(key, counter, late, live -> look(live, query, existence)));
    KeyVersion version = found.version();
    return version == null
        ? Objects.requireNonNull(found.found())
        : ask(version, query, existence, null, null, List.of(), 0, late);
  }

  /// Asks for a transaction, like [#get(Object, Existence, Pace)].
  public Answer get(
      @Nullable Object query,
      Existence existence,
      @Nullable StoreTransaction transaction,
      int depth) {
    return ask(version(), query, existence, transaction, null, List.of(), depth, 0);
  }

  /// Asks for a handler of another store, like [#get(Object, Existence, Pace)].
  ///
  /// @param callers the keys whose handlers wait for the question, outermost first
  public Answer get(@Nullable Object query, Existence existence, List<Key> callers) {
    return ask(version(), query, existence, null, null, callers, callers.size(), 0);
  }

  /// Asks for a handler that answers for the past itself, like [#get(Object, Existence, Pace)].
  public Answer get(@Nullable Object query, Existence existence, Execution caller) {
    return ask(version(), query, existence, null, caller, List.of(), caller.depth() + 1, 0);
  }

  private Answer ask(
      KeyVersion version,
      @Nullable Object query,
      Existence existence,
      @Nullable StoreTransaction transaction,
      @Nullable Execution caller,
      List<Key> callers,
      int depth,
      int lateTick) {
    if (existence.wasGone(version.generation(), version.position())) throw KeyRefusals.gone(key);
    Execution execution = execution(version.position(), depth);
    execution.caller = caller;
    execution.callers = callers;
    execution.past = true;
    execution.counter = others;
    execution.transaction = transaction;
    if (version.isAbsent()) {
      Materialized fresh = playback.state(key);
      return told(() -> here(execution, () -> fresh.get(query, existence.opening(), execution)));
    }
    Handler free = version.take();
    Handler handler =
        free == null ? told(() -> playback.versions().another(key, version, lateTick)) : free;
    execution.generation(version.generation());
    boolean sound = false;
    try {
      Answer answer = here(execution, () -> handler.get(query, execution));
      sound = true;
      return answer;
    } catch (Execution.Suspended stopped) {
      throw QuestionRequest.failure(stopped.reason());
    } finally {
      playback.versions().give(version, sound ? handler : null);
    }
  }

  /// Asks the live state, if it is the visible version; returns null when that does not suffice.
  private @Nullable Answer look(Materialized live, @Nullable Object query, Existence existence) {
    if (live.forksCheaply()) return null;
    if (existence.wasGone(live.generation(), live.position())) throw KeyRefusals.gone(key);
    Execution execution = execution(live.position(), 0);
    execution.past = true;
    execution.looking = true;
    try {
      Answer answer = here(execution, () -> live.get(query, existence.opening(), execution));
      return execution.asked ? null : answer;
    } catch (Execution.AsksThePast elsewhere) {
      return null;
    }
  }

  private Execution execution(long address, int depth) {
    return Execution.beside(playback.runs(), key, address, depth);
  }

  private Answer here(Execution execution, Supplier<Answer> handler) {
    return playback.runs().here(execution, ticks, handler);
  }

  private static <T> T told(Supplier<T> asked) {
    try {
      return asked.get();
    } catch (Execution.Suspended stopped) {
      throw QuestionRequest.failure(stopped.reason());
    }
  }
}
