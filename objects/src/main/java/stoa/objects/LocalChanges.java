package stoa.objects;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.Changes;
import stoa.History;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.Ref;
import stoa.StoaException;
import stoa.base.Decoder;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.base.Timing;
import stoa.front.CallNumbers;
import stoa.front.ChangeQuery;
import stoa.front.ChangeSet;
import stoa.front.ClassNames;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedState;
import stoa.front.Service;
import stoa.spi.Collections;
import stoa.store.Store;
import stoa.store.changes.ChangeFollower;
import stoa.store.changes.LoggedChange;
import stoa.store.changes.LoggedChanges;
import stoa.store.records.Records;

/// The port to the changes of the objects of a store in this process. Thread-safe.
final class LocalChanges implements Service.ChangeLog, LoggedChange.Names {
  private static final int PRESENT_BYTES = 1 << 20;

  // The types in whose objects the store itself keeps something.
  private static final Set<String> OWN_TYPES = ownTypes();

  private final Catalog catalog;
  private final Store store;
  private final Part part;
  private final Subscriptions subscriptions;
  private final Timing timing;
  private final LoggedChanges logged;

  LocalChanges(
      Store store, Catalog catalog, Part part, Subscriptions subscriptions, Timing timing) {
    this.store = store;
    this.catalog = catalog;
    this.part = part;
    this.subscriptions = subscriptions;
    this.timing = timing;
    this.logged = store.changes(this);
  }

  private static Set<String> ownTypes() {
    var all = new TreeSet<>(Collections.OWN_TYPES);
    all.add(Part.SERVERS);
    return java.util.Collections.unmodifiableSet(all);
  }

  /// Returns the reader of the log.
  LoggedChanges logged() {
    return logged;
  }

  /// Returns the question of a reader to the store. A reader of all types sees those of programs.
  static LoggedChange.ChangeQuery asked(ChangeQuery query) {
    return asked(query, OWN_TYPES);
  }

  /// Returns the question of a reader to the store.
  ///
  /// @param without the types that a reader of all types does not see
  static LoggedChange.ChangeQuery asked(ChangeQuery query, Set<String> without) {
    LoggedChange.Detail detail =
        switch (query.detail()) {
          case CALLS -> LoggedChange.Detail.CALLS;
          case ANSWERS -> LoggedChange.Detail.ANSWERS;
          case STATES -> LoggedChange.Detail.STATES;
        };
    return new LoggedChange.ChangeQuery(
        query.type(), without, query.key(), detail, query.passUntil());
  }

  // ---- names

  @Override
  public SortedSet<String> spaces() {
    var known = new TreeSet<String>(catalog.codes().types());
    for (String name : catalog.dictionary().after(ClassNames.CLASS)) {
      int end = name.lastIndexOf(' '); // those of values stand alone
      if (end > 0) known.add(name.substring(0, end));
    }
    return known;
  }

  @Override
  public Key key(String space, byte[] name) {
    return catalog.key(space, name);
  }

  @Override
  public boolean isAboutReaders(StreamId stream) {
    return stream.equals(Subscriptions.KEY.stream());
  }

  @Override
  public long oldNotesEnd() {
    return isOrdered() ? subscriptions.oldNotesEnd() : 0;
  }

  @Override
  public boolean isOrdered() {
    return part.addresses() != null;
  }

  @Override
  public boolean awaits(Key key, Records.Put put) {
    if (!CallNumbers.isMethod((int) new Decoder(put.value()).varint())) return false;
    try {
      ObjectType then = catalog.typeAt(key.space(), put.code());
      ObjectType.Called called = then.called(new Decoder(put.value()));
      return called != null && called.method().awaits();
    } catch (StoaException unfit) {
      return true; // an execution tells
    }
  }

  @Override
  public String typeOf(Class<?> face) {
    return catalog.typeOf(face).shared().name();
  }

  // ---- following

  @Override
  public Service.Tail<ChangeSet> follow(ChangeQuery query, LogAddress from) {
    ChangeFollower follower = logged.follow(from, asked(query), Integer.MAX_VALUE);
    return new Service.Tail<>() {
      @Override
      public @Nullable ChangeSet poll() {
        while (true) {
          LoggedChange.Slot slot = follower.poll();
          if (slot == null) return null;
          ChangeSet set = set(slot, query);
          if (set != null) return set;
        }
      }

      @Override
      public @Nullable ChangeSet next(long nanosMax) throws InterruptedException {
        long deadline = timing.nanoTime() + nanosMax;
        while (true) {
          LoggedChange.Slot slot = follower.next(deadline - timing.nanoTime());
          if (slot == null) return null;
          ChangeSet set = set(slot, query);
          if (set != null) return set;
        }
      }

      @Override
      public @Nullable LogAddress level() {
        return follower.level();
      }

      @Override
      public void close() {
        follower.close();
      }
    };
  }

  private @Nullable ChangeSet set(LoggedChange.Slot slot, ChangeQuery query) {
    var ones = new ArrayList<ChangeSet.One>(slot.changes().size());
    for (LoggedChange change : slot.changes()) {
      if (!isOfState(change) || !query.hasKey().test(change.key().name())) continue;
      ones.add((index, size) -> decoded(change, query.detail(), index, size));
    }
    return ones.isEmpty() ? null : new ChangeSet(slot.address(), ones);
  }

  /// Returns whether an entry changes the object, and not only the place where its calls execute.
  static boolean isOfState(LoggedChange change) {
    if (change.answer() instanceof ObjectAnswer.Lent) return false;
    Records.Put put = change.put();
    if (put == null) return true;
    int number = (int) new Decoder(put.value()).varint();
    if (CallNumbers.isMethod(number)) return true;
    // A put that only enters the object in its indexes, or removes it there, changes no state.
    if (number == CallNumbers.CREATION) return put.begins();
    if (CallNumbers.isLeaving(put.value())) return false;
    return switch (PlacedState.event(put.value())) {
      case History.Event.Lent _, History.Event.Returned _ -> false;
      default -> true;
    };
  }

  // ---- decoding

  /// Returns the type in the code in which the program sees its objects.
  private ObjectType type(String name) {
    try {
      ObjectType own = catalog.program().findNamed(name);
      if (own != null) return own;
    } catch (NotShareable unfit) {
      // the code in the log is another one
    }
    return catalog.typeNamed(name);
  }

  /// Returns a change without answers and states, in the code in which the program sees it.
  Change<?> decoded(LoggedChange change, int index, int size) {
    return decoded(change, Changes.Detail.CALLS, index, size);
  }

  private Change<?> decoded(LoggedChange change, Changes.Detail detail, int index, int size) {
    Key key = change.key();
    ObjectType type = type(key.space());
    ObjectTarget object = catalog.object(type, key);
    var entry = change.entry();
    Instant time = Instant.EPOCH.plus(entry.nowMicros(), ChronoUnit.MICROS);
    Ref<?> ref = catalog.refOf(key);
    var at = new Change.At(ref, entry.address(), entry.log(), time, index, size);
    Object before = state(type, key, change.before());
    Object after = state(type, key, change.after());
    Records.Put put = change.put();
    if (put == null) return new Change.Deleted<>(at, before);
    return switch (object.called(put.value(), put.code())) {
      case History.Event.Called(String method, List<?> arguments) -> {
        Change.Outcome outcome =
            detail == Changes.Detail.CALLS
                ? new Change.Outcome.NotAsked()
                : outcome(object, put, (ObjectAnswer) Objects.requireNonNull(change.answer()));
        yield new Change.Called<>(at, put.begins(), method, arguments, outcome, before, after);
      }
      case History.Event.Changed _ -> new Change.Changed<>(at, before, after);
      default -> new Change.Created<>(at, after);
    };
  }

  private Change.Outcome outcome(ObjectTarget object, Records.Put put, ObjectAnswer answer) {
    ObjectType then = catalog.typeAt(object.key().space(), put.code());
    if (answer instanceof ObjectAnswer.Shared shared) {
      return new Change.Outcome.Returned(object.today(then, shared.value()));
    }
    byte[] encoded = answer.encoded();
    if (encoded[0] == ObjectAnswer.THREW) {
      return new Change.Outcome.Threw(object.marshaller().thrown(encoded, 1, encoded.length));
    }
    return new Change.Outcome.Returned(object.marshaller().value(encoded, 1, encoded.length));
  }

  private @Nullable Object state(ObjectType type, Key key, byte @Nullable [] checkpoint) {
    byte[] state = checkpoint == null ? null : told(catalog, store, type, key, checkpoint);
    return state == null ? null : type.state(state);
  }

  /// Returns the state in a checkpoint in the form of the code of a type; null when it has none.
  static byte @Nullable [] told(
      Catalog catalog, Store store, ObjectType type, Key key, byte[] checkpoint) {
    byte[] told = ObjectHandler.told(catalog, store, type, key, checkpoint);
    byte[] plain = ObjectHandler.plain(told);
    if (plain != null) return plain;
    return ObjectHandler.placed(told);
  }

  // ---- subscriptions

  private Subscriptions positions() {
    part.requireFirst("subscriptions to changes");
    return subscriptions;
  }

  @Override
  public Service.Subscribed subscribe(String name, long ageSecondsMax) {
    return positions().subscribe(name, ageSecondsMax);
  }

  @Override
  public void acknowledge(String name, LogAddress position) {
    positions().acknowledge(name, position);
  }

  @Override
  public List<Service.Subscribed> subscriptions() {
    return positions().all();
  }

  @Override
  public boolean unsubscribe(String name) {
    return positions().unsubscribe(name);
  }

  // ---- the present

  @Override
  public Iterator<ChangeSet.One> present(ChangeQuery query, LogAddress at) {
    return new Present(query, at);
  }

  /// A part of the objects that are present at a log address.
  ///
  /// @param objects the objects
  /// @param type the type with which the next part begins; null at the end
  /// @param from where the list of that type goes on
  record PresentPart(List<LoggedChange.Present> objects, @Nullable String type, long from) {}

  /// Returns a part of the objects that are present at a log address.
  ///
  /// @param type where it begins, as the part before says; empty for the first one
  PresentPart presentPart(ChangeQuery query, LogAddress at, String type, long from, int bytesMax) {
    SortedSet<String> types = spaces();
    String only = query.type();
    if (only == null) types.removeAll(OWN_TYPES);
    else types.retainAll(Set.of(only));
    SortedSet<String> rest = types.tailSet(type);
    if (rest.isEmpty()) return new PresentPart(List.of(), null, 0);
    String now = rest.first();
    long begin = now.equals(type) ? Math.max(1, from) : 1;
    LoggedChange.Presents found = logged.present(now, query.key(), at.counter(), begin, bytesMax);
    if (found.next() > 0) return new PresentPart(found.keys(), now, found.next());
    Iterator<String> after = rest.iterator();
    after.next();
    return new PresentPart(found.keys(), after.hasNext() ? after.next() : null, 1);
  }

  private final class Present implements Iterator<ChangeSet.One> {
    private final ChangeQuery query;
    private final LogAddress at;
    private PresentPart part = new PresentPart(List.of(), "", 1);
    private Iterator<LoggedChange.Present> page = List.<LoggedChange.Present>of().iterator();
    private LoggedChange.@Nullable Present ahead;

    private Present(ChangeQuery query, LogAddress at) {
      this.query = query;
      this.at = at;
    }

    @Override
    public boolean hasNext() {
      while (ahead == null) {
        if (page.hasNext()) {
          LoggedChange.Present one = page.next();
          if (query.hasKey().test(one.key().name()) && isConstructed(one)) ahead = one;
          continue;
        }
        String type = part.type();
        if (type == null) return false;
        part = presentPart(query, at, type, part.from(), PRESENT_BYTES);
        page = part.objects().iterator();
      }
      return true;
    }

    /// Returns whether an object has a state: its constructor may have failed.
    private boolean isConstructed(LoggedChange.Present one) {
      Key key = one.key();
      return told(catalog, store, LocalChanges.this.type(key.space()), key, one.state()) != null;
    }

    @Override
    public ChangeSet.One next() {
      if (!hasNext()) throw new NoSuchElementException();
      LoggedChange.Present one = Objects.requireNonNull(ahead);
      ahead = null;
      return (index, size) -> decoded(one, index, size);
    }

    private Change<?> decoded(LoggedChange.Present one, int index, int size) {
      Key key = one.key();
      ObjectType type = LocalChanges.this.type(key.space());
      Instant time = Instant.EPOCH.plus(one.micros(), ChronoUnit.MICROS);
      var place = new Change.At(catalog.refOf(key), one.version(), at, time, index, size);
      Object state = state(type, key, one.state());
      if (state != null) return new Change.Present<>(place, state);
      throw new NotShareable("the constructor of " + key + " failed, so it has no state");
    }
  }
}
