package stoa.objects;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.base.Footprint;
import stoa.front.SharedCall;
import stoa.front.SharedStoa;
import stoa.front.types.IndexedMember;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.spi.Collections;
import stoa.spi.Entered;
import stoa.spi.Indexes;
import stoa.store.calls.Pace;
import stoa.store.running.PutRequest;
import stoa.store.running.Request;
import stoa.store.running.Sequel;

/// Makes the changes of indexes whose answers no caller needs. The changes that objects make in one
/// part of an index, while an earlier call on it is on its way, become one call. Thread-safe.
final class IndexChanges {
  // The most changes of one call, and the most characters of their values and objects, about.
  private static final int CHANGES_MAX = 512;
  private static final int LENGTH_MAX = 1 << 18;

  // The most changes of a call that a thread makes for which others wait.
  private static final int BRIEF_MAX = 32;

  // More than an index has parts.
  private static final int PARTS_MAX = 256;

  private final SharedStoa stoa;

  // Equal ids have the same parts, whatever version of a class has them.
  private final Map<String, AtomicReferenceArray<@Nullable Part>> byId = new ConcurrentHashMap<>();
  private final Map<IndexedMember, AtomicReferenceArray<@Nullable Part>> byMember =
      new ConcurrentHashMap<>();

  IndexChanges(SharedStoa stoa) {
    this.stoa = stoa;
  }

  /// Begins a change of an object's entries.
  ///
  /// @param type the object's class
  /// @param enters whether it gets the value; otherwise it loses it
  void begin(
      SharedType type,
      IndexedMember member,
      String value,
      boolean enters,
      String object,
      Sequel sequel) {
    part(type, member, value).add(value, enters, object, sequel);
  }

  /// Begins a change of an entry of a map.
  ///
  /// @param owner the name under which the indexes of the map are kept
  void begin(String owner, Entered.Change change, Sequel sequel) {
    part(parts(owner, change.index()), owner, change.index(), change.value())
        .add(change.value(), change.enters(), change.entry(), sequel);
  }

  private Part part(SharedType type, IndexedMember member, String value) {
    AtomicReferenceArray<@Nullable Part> parts = byMember.get(member);
    if (parts == null) {
      parts = parts(type.name(), member.id());
      byMember.put(member, parts);
    }
    return part(parts, type.name(), member.id(), value);
  }

  private AtomicReferenceArray<@Nullable Part> parts(String owner, String id) {
    return byId.computeIfAbsent(owner + " " + id, _ -> new AtomicReferenceArray<>(PARTS_MAX));
  }

  private Part part(
      AtomicReferenceArray<@Nullable Part> parts, String owner, String id, String value) {
    int number = indexes().partOf(value);
    Part known = parts.get(number);
    if (known != null) return known;
    Object shared = indexes().part(stoa, owner, id, number);
    var made = new Part(stoa.own(shared));
    return parts.compareAndSet(number, null, made)
        ? made
        : Objects.requireNonNull(parts.get(number));
  }

  private static Indexes indexes() {
    return Collections.installed().indexes();
  }

  /// Changes for one call.
  private static final class Gathered {
    private final List<String> changes = new ArrayList<>();
    private final Set<String> values = new LinkedHashSet<>();
    private final List<Sequel> sequels = new ArrayList<>();
    private int length;

    void add(String value, boolean enters, String object, Sequel sequel) {
      changes.add((enters ? Indexes.ENTERS : Indexes.LEAVES) + value);
      changes.add(object);
      values.add(value);
      sequels.add(sequel);
      length += value.length() + object.length();
    }

    Pace pace() {
      return sequels.size() <= BRIEF_MAX ? Pace.BRIEF : Pace.SHORT;
    }

    boolean isFull() {
      return sequels.size() >= CHANGES_MAX || length >= LENGTH_MAX;
    }
  }

  /// A part of an index.
  private static final class Part implements Supplier<@Nullable Request> {
    private final SharedCall call;
    private final ObjectTarget target;
    private final SharedMethod changes;
    private final SharedMethod change;

    // Guarded by this.
    private final ArrayDeque<Gathered> waiting = new ArrayDeque<>();
    private boolean isBusy;

    private volatile @Nullable Request underWay;

    Part(SharedCall call) {
      this.call = call;
      this.target = (ObjectTarget) call.target();
      this.changes = method(target.shared(), Indexes.CHANGES);
      this.change = method(target.shared(), Indexes.CHANGE);
    }

    private static SharedMethod method(SharedType type, String name) {
      for (SharedMethod method : type.methods()) if (method.name().equals(name)) return method;
      throw new IllegalStateException(type.name() + " has no method " + name);
    }

    @Override
    public @Nullable Request get() {
      return underWay;
    }

    void add(String value, boolean enters, String object, Sequel sequel) {
      sequel.begins(this);
      Gathered mine;
      synchronized (this) {
        Gathered last = waiting.peekLast();
        if (last == null || last.isFull()) {
          last = new Gathered();
          waiting.add(last);
        }
        last.add(value, enters, object, sequel);
        if (isBusy) return;
        isBusy = true;
        mine = waiting.remove();
      }
      send(mine);
    }

    private void send(Gathered some) {
      PutRequest request;
      try {
        request = request(some);
      } catch (RuntimeException | Error failed) {
        ended(some, failure(some, failed), 0);
        return;
      }
      // First: the next one may be under way when the call returns.
      underWay = request;
      some.sequels.getFirst().send(request, done -> sent(some, done));
    }

    private PutRequest request(Gathered some) {
      byte[] put = target.type().call(changes, new @Nullable Object[] {some.changes});
      var footprints = new ArrayList<Footprint>(some.values.size());
      for (String value : some.values) {
        footprints.add(target.footprint(change, new @Nullable Object[] {value, ""}));
      }
      return some.sequels
          .getFirst()
          .request(target.key(), put, some.pace(), footprints, call.existence());
    }

    private RuntimeException failure(Gathered some, Throwable failed) {
      return failed instanceof RuntimeException known
          ? known
          : new CallFailed(target.key() + " gets no changes of " + some.values, failed);
    }

    private void sent(Gathered some, Request done) {
      RuntimeException failure = done.failure();
      if (failure == null && !done.answer().isSilent()) {
        failure = new CallFailed(target.key() + " has refused changes of " + some.values);
      }
      ended(some, failure, done.reach());
    }

    private void ended(Gathered some, @Nullable RuntimeException failure, long reach) {
      Gathered next;
      synchronized (this) {
        next = waiting.poll();
        if (next == null) isBusy = false;
      }
      try {
        if (next != null) send(next);
      } finally {
        for (Sequel sequel : some.sequels) sequel.ends(failure, reach);
      }
    }
  }
}
