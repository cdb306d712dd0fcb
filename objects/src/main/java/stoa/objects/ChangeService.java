package stoa.objects;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.Changes;
import stoa.LogAddress;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.front.CallNumbers;
import stoa.front.ChangeQuery;
import stoa.front.Service;
import stoa.front.types.SharedMethod;
import stoa.store.Store;
import stoa.store.changes.ChangeFollower;
import stoa.store.changes.LoggedChange;
import stoa.store.records.Records;

/// The changes of objects, as a server tells them to its clients; `docs/wire.md` has the form.
/// Thread-safe. It keeps nothing between two questions but the states of the objects that the
/// answers came to.
public final class ChangeService {
  /// The kind of a put on an object; the client tells calls from other puts.
  public static final int PUT = 1;

  /// The kind of a call of code that is no longer active: its method and each argument by itself.
  public static final int CALLED = 2;

  /// The kind of a deletion.
  public static final int DELETED = 3;

  /// The kind of an object that is present.
  public static final int PRESENT = 4;

  /// Marks a change that creates the object.
  public static final int CREATES = 1;

  /// Marks a change with an answer.
  public static final int ANSWER = 2;

  /// Marks a change with the state before it.
  public static final int BEFORE = 4;

  /// Marks a change with the state after it.
  public static final int AFTER = 8;

  private static final int ENTRIES = 256;

  // The pages without a change that one answer covers at most.
  private static final int PAGES_MAX = 64;

  private final LocalChanges changes;
  private final Catalog catalog;
  private final Store store;

  ChangeService(LocalChanges changes, Catalog catalog, Store store) {
    this.changes = changes;
    this.catalog = catalog;
    this.store = store;
  }

  private LocalChanges changes() {
    return changes;
  }

  /// Writes the changes from one log address to another, both inclusive.
  ///
  /// @param bytesMax about how many bytes to write
  public void scan(ChangeQuery query, LogAddress from, LogAddress to, int bytesMax, Encoder out) {
    long end = changes().logged().complete(to);
    var page = new Page(query);
    LogAddress next = from;
    for (int pages = 0; next.counter() <= end && page.bytes() < bytesMax; pages++) {
      if (pages == PAGES_MAX) break; // nothing matches here: the reader asks again
      LoggedChange.Page read =
          changes().logged().read(next, end, LocalChanges.asked(query), entries(query));
      read.slots().forEach(page::add);
      next = read.next();
    }
    page.write(out);
    log(out.u8(next.counter() <= end ? 1 : 0), next);
  }

  private static int entries(ChangeQuery query) {
    return query.detail() == Changes.Detail.STATES ? ENTRIES / 16 : ENTRIES;
  }

  /// Writes later changes, and waits for the first one.
  ///
  /// @param bytesMax about how many bytes to write
  public void follow(ChangeQuery query, LogAddress from, int bytesMax, long waitMillis, Encoder out)
      throws InterruptedException {
    var page = new Page(query);
    ChangeFollower follower = changes().logged().follow(from, LocalChanges.asked(query), PAGES_MAX);
    LogAddress next;
    LogAddress level;
    try {
      long wait = TimeUnit.MILLISECONDS.toNanos(waitMillis);
      LoggedChange.Slot slot = follower.next(wait);
      next = follower.reached();
      while (slot != null) {
        page.add(slot);
        next = behind(slot.address());
        if (page.bytes() >= bytesMax) break;
        slot = follower.poll();
        if (slot == null) next = follower.reached();
      }
      level = follower.level();
    } finally {
      follower.close();
    }
    page.write(out);
    log(out, next).u8(level == null ? 0 : 1);
    if (level != null) log(out, level);
  }

  private static LogAddress behind(LogAddress address) {
    return new LogAddress(address.epoch(), address.counter() + 1);
  }

  /// Writes objects that are present at a log address.
  ///
  /// @param type where this begins, as the part before says; empty for the first one
  /// @param bytesMax about how many bytes to write
  public void present(
      ChangeQuery query, LogAddress at, String type, long from, int bytesMax, Encoder out) {
    LocalChanges.PresentPart part = changes().presentPart(query, at, type, from, bytesMax);
    var told = new ArrayList<byte[]>();
    for (LoggedChange.Present one : part.objects()) {
      byte[] state = state(one.key(), one.state());
      if (state != null) told.add(present(one, state));
    }
    out.varint(told.size());
    told.forEach(out::raw);
    String next = part.type();
    out.u8(next == null ? 0 : 1).text(next == null ? "" : next).varint(part.from());
  }

  /// Begins or finds a subscription, and writes it.
  public void subscribe(String name, long ageSecondsMax, Encoder out) {
    write(changes().subscribe(name, ageSecondsMax), out);
  }

  /// Moves a subscription forward.
  public void acknowledge(String name, LogAddress position) {
    changes().acknowledge(name, position);
  }

  /// Writes all subscriptions.
  public void subscriptions(Encoder out) {
    List<Service.Subscribed> all = changes().subscriptions();
    out.varint(all.size());
    for (Service.Subscribed one : all) write(one, out);
  }

  /// Ends a subscription; returns whether there was one.
  public boolean unsubscribe(String name) {
    return changes().unsubscribe(name);
  }

  private static void write(Service.Subscribed one, Encoder out) {
    log(out.text(one.name()), one.position()).varint(one.ageSecondsMax());
  }

  private byte[] present(LoggedChange.Present one, byte[] state) {
    var out = new Encoder(state.length + 96).u8(PRESENT).u8(AFTER);
    place(out, one.key(), one.version(), one.micros());
    return out.sized(state).toBytes();
  }

  private static void place(Encoder out, Key key, long version, long micros) {
    out.text(key.space()).sized(key.name()).varint(version).varint(micros);
  }

  private static Encoder log(Encoder out, LogAddress address) {
    return out.varint(address.epoch()).varint(address.counter());
  }

  private byte @Nullable [] state(Key key, byte[] checkpoint) {
    return LocalChanges.told(catalog, store, catalog.typeNamed(key.space()), key, checkpoint);
  }

  /// The changes of one answer. One thread uses it.
  private final class Page {
    private final ChangeQuery query;
    private final Encoder slots = new Encoder(1_024);
    private int count;

    private Page(ChangeQuery query) {
      this.query = query;
    }

    private int bytes() {
      return slots.size();
    }

    private void add(LoggedChange.Slot slot) {
      List<LoggedChange> told = slot.changes().stream().filter(LocalChanges::isOfState).toList();
      if (told.isEmpty()) return;
      count++;
      log(slots, slot.address()).varint(told.size());
      for (LoggedChange change : told) change(change);
    }

    private void change(LoggedChange change) {
      boolean answers = query.detail() != Changes.Detail.CALLS && change.answer() != null;
      byte[] answer = answers ? java.util.Objects.requireNonNull(change.answer()).encoded() : null;
      byte[] before = told(change.key(), change.before());
      byte[] after = told(change.key(), change.after());
      Records.Put put = change.put();
      byte[] earlier = put == null ? null : ofEarlierCode(change.key(), put);
      slots.u8(put == null ? DELETED : earlier == null ? PUT : CALLED);
      int flags = put != null && put.begins() ? CREATES : 0;
      if (answer != null) flags |= ANSWER;
      if (before != null) flags |= BEFORE;
      if (after != null) flags |= AFTER;
      slots.u8(flags);
      place(slots, change.key(), change.entry().address(), change.entry().nowMicros());
      if (earlier != null) slots.raw(earlier);
      else if (put != null) slots.sized(put.value());
      for (byte[] part : Arrays.asList(answer, before, after)) {
        if (part != null) slots.sized(part);
      }
    }

    private byte @Nullable [] told(Key key, byte @Nullable [] checkpoint) {
      return checkpoint == null ? null : state(key, checkpoint);
    }

    private void write(Encoder out) {
      out.varint(count).raw(slots.array(), 0, slots.size());
    }
  }

  /// Returns a call of code that is not the active one; null when the put is none.
  private byte @Nullable [] ofEarlierCode(Key key, Records.Put put) {
    ObjectType now = catalog.typeNamed(key.space());
    ObjectType then = catalog.typeAt(key.space(), put.code());
    if (then.code().equals(now.code())) return null;
    if (!CallNumbers.isMethod((int) new Decoder(put.value()).varint())) return null;
    var in = new Decoder(put.value());
    ObjectType.Called called = then.called(in);
    if (called == null) return null;
    SharedMethod method = called.method();
    @Nullable Object[] arguments =
        then.marshaller().arguments(method, put.value(), in.position(), put.value().length);
    var out = new Encoder(put.value().length + 64).text(method.id()).varint(arguments.length);
    for (@Nullable Object argument : arguments) out.sized(then.marshaller().value(argument));
    return out.toBytes();
  }
}
