package stoa.front;

import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.Closed;
import stoa.LogAddress;
import stoa.Ref;
import stoa.StreamStore;
import stoa.TooOld;
import stoa.front.proxy.Proxies;
import stoa.spi.Collections;
import stoa.spi.Facade;

/// A stream of changes. One thread reads; any closes.
///
/// @param <T> the type of the objects
final class SharedChanges<T> implements ChangeStream<T> {
  // The package of the objects of which collections consist.
  private static final String COLLECTIONS = "stoa.collections";

  private final Service.Tail<ChangeSet> tail;
  private final @Nullable Present present;

  // Null when a state is what programs see.
  private final @Nullable StateForm form;

  private final Runnable ended;
  private final AtomicBoolean closed = new AtomicBoolean();
  private @Nullable ChangeSet set;
  private int index;
  private LogAddress token;

  /// The objects with which it begins.
  ///
  /// @param objects the rest of them
  /// @param held the moment that they show
  private record Present(Iterator<ChangeSet.One> objects, Service.Pinned held) {}

  /// Returns states as programs see them: those of collections as collections.
  @FunctionalInterface
  private interface StateForm {
    /// Returns the state as programs see it.
    ///
    /// @param object the object
    /// @param state its state, of the class of the object
    /// @param version of the object in this state
    Object of(Ref<?> object, Object state, long version);
  }

  private SharedChanges(
      Service.Tail<ChangeSet> tail,
      @Nullable Present present,
      @Nullable StateForm form,
      LogAddress token,
      Runnable ended) {
    this.tail = tail;
    this.present = present;
    this.form = form;
    this.token = token;
    this.ended = ended;
  }

  /// Opens a stream.
  ///
  /// @param ended runs once, on close
  static <T> SharedChanges<T> open(SharedStoa stoa, Changes<T> what, Runnable ended) {
    Service service = stoa.service();
    Service.ChangeLog log = service.changes();
    String type = null;
    byte[] key = null;
    T object = what.object();
    StateForm form = null;
    Facade facade = object instanceof Facade some ? some : null;
    Facade.Parts parts = facade == null ? null : facade.parts();
    if (facade != null && parts != null) {
      var _ = stoa.changing(facade.shared());
      type = parts.type();
      form = (_, state, version) -> parts.part().through(lens(state, version));
    } else if (object != null) {
      SharedCall live = stoa.changing(object);
      type = live.key().space();
      key = live.key().name();
      if (facade != null) form = (_, state, version) -> facade.through(lens(state, version));
    } else if (what.type() != null) {
      type = log.typeOf(what.type());
    } else {
      form = (ref, state, version) -> collection(stoa, ref, state, version);
    }
    ChangeQuery query =
        parts == null
            ? new ChangeQuery(type, key, what.detail(), 0)
            : new ChangeQuery(type, key, what.detail(), 0, parts.hasKey());
    return switch (what.start()) {
      case Changes.Start.Now() -> {
        LogAddress now = service.streams().tail();
        Service.Tail<ChangeSet> later = log.follow(query, behind(now));
        yield new SharedChanges<>(later, null, form, now, ended);
      }
      case Changes.Start.After(LogAddress token) -> {
        LogAddress tail = service.streams().tail();
        // Counters rise over epochs.
        if (token.counter() > tail.counter()) throw cutOff(token, tail);
        Service.Tail<ChangeSet> behind = log.follow(query, behind(token));
        yield new SharedChanges<>(behind, null, form, token, ended);
      }
      case Changes.Start.Beginning() -> {
        long now = service.streams().tail().counter();
        LogAddress begin = StreamStore.BEGINNING;
        Service.Tail<ChangeSet> all = log.follow(query.passing(now), begin);
        yield new SharedChanges<>(all, null, form, begin, ended);
      }
      case Changes.Start.Present() -> {
        Service.Pinned held = service.pin(null, null);
        try {
          LogAddress at = held.address();
          ChangeQuery states = query.with(Changes.Detail.STATES);
          var objects = new Present(log.present(states, at), held);
          Service.Tail<ChangeSet> behind = log.follow(query, behind(at));
          yield new SharedChanges<>(behind, objects, form, at, ended);
        } catch (RuntimeException | Error failed) {
          held.release().run();
          throw failed;
        }
      }
    };
  }

  private static TooOld cutOff(LogAddress token, LogAddress tail) {
    return new TooOld(
        "there is no change at "
            + token
            + ": the log ends at "
            + tail
            + ", so the store was restored as of an earlier moment; begin anew with the present"
            + " states (Changes.fromPresent)");
  }

  private static LogAddress behind(LogAddress token) {
    return new LogAddress(token.epoch(), token.counter() + 1);
  }

  private void checkOpen() {
    if (closed.get()) throw new Closed("the stream of changes is closed");
  }

  /// Returns the next of the present objects; null when there are no more.
  private ChangeSet.@Nullable One nextPresent() {
    Present begun = present;
    if (begun == null) return null;
    if (begun.objects.hasNext()) return begun.objects.next();
    begun.held.release().run();
    return null;
  }

  @Override
  public Change<T> next() throws InterruptedException {
    while (true) {
      Change<T> found = next(Long.MAX_VALUE);
      if (found != null) return found;
    }
  }

  @Override
  public Optional<Change<T>> next(Duration timeMax) throws InterruptedException {
    return Optional.ofNullable(next(TimeUnit.NANOSECONDS.convert(timeMax)));
  }

  private @Nullable Change<T> next(long nanosMax) throws InterruptedException {
    Change<T> ready = ready();
    if (ready != null) return ready;
    ChangeSet found = tail.next(nanosMax);
    if (found == null) checkOpen();
    if (found == null) level();
    return begin(found);
  }

  @Override
  public Optional<Change<T>> poll() {
    Change<T> ready = ready();
    if (ready != null) return Optional.of(ready);
    ChangeSet found = tail.poll();
    if (found == null) level();
    return Optional.ofNullable(begin(found));
  }

  /// Moves the token on over entries that this does not show.
  private void level() {
    LogAddress reached = tail.level();
    if (reached != null && reached.compareTo(token) > 0) token = reached;
  }

  private @Nullable Change<T> ready() {
    checkOpen();
    ChangeSet.One one = nextPresent();
    if (one != null) return typed(one.at(0, 1));
    return set == null ? null : advance(set);
  }

  private @Nullable Change<T> begin(@Nullable ChangeSet found) {
    if (found == null) return null;
    set = found;
    index = 0;
    return advance(found);
  }

  /// Returns the next change of a transaction. A change that cannot be decoded stays the next one.
  private Change<T> advance(ChangeSet of) {
    List<ChangeSet.One> changes = of.changes();
    Change<T> change = typed(changes.get(index).at(index, changes.size()));
    if (++index == changes.size()) {
      set = null;
      token = of.address();
    }
    return change;
  }

  @SuppressWarnings("unchecked") // Justification: the query asks for objects of this type
  private Change<T> typed(Change<?> change) {
    StateForm seen = form;
    return (Change<T>) (seen == null ? change : through(seen, change));
  }

  /// Returns a change with the states that programs see.
  private static Change<?> through(StateForm form, Change<?> change) {
    Change.At at = change.at();
    Object before = state(form, at.object(), change.before(), at.version() - 1);
    Object after = state(form, at.object(), change.after(), at.version());
    return switch (change) {
      case Change.Called<?> call ->
          new Change.Called<>(
              at, call.creates(), call.method(), call.arguments(), call.outcome(), before, after);
      case Change.Created<?> _ -> new Change.Created<>(at, after);
      case Change.Changed<?> _ -> new Change.Changed<>(at, before, after);
      case Change.Deleted<?> _ -> new Change.Deleted<>(at, before);
      case Change.Present<?> _ -> new Change.Present<>(at, Objects.requireNonNull(after));
    };
  }

  private static @Nullable Object state(
      StateForm form, Ref<?> object, @Nullable Object state, long version) {
    return state == null ? null : form.of(object, state, version);
  }

  private static UnaryOperator<Object> lens(Object state, long version) {
    return proxy -> Proxies.redirect(proxy, new StateCall(state, version));
  }

  /// Returns the collection whose state an object has, or the state of another object.
  private static Object collection(SharedStoa stoa, Ref<?> object, Object state, long version) {
    if (!state.getClass().getPackageName().equals(COLLECTIONS)) return state;
    Facade whole =
        Collections.installed().whole(stoa, object, state.getClass(), lens(state, version));
    return whole == null ? state : whole;
  }

  @Override
  public LogAddress token() {
    if (present != null && present.objects.hasNext()) {
      throw new IllegalStateException(
          "the stream has no token before it has returned all present objects; read them first");
    }
    return token;
  }

  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) return;
    ended.run();
    if (present != null) present.held.release().run();
    tail.close();
  }
}
