package stoa.store.records;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.LogAddress;
import stoa.base.Existence;
import stoa.base.Footprint;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Entry;

/// Decides one batch of the log: which requests it logs, as which entries at which addresses, and
/// which it refuses.
///
/// A draft changes only the [ends of streams][StreamEnd] that it gets, and [#rollBack] restores
/// these. The batch writer owns it, and uses it for one batch after the other.
public final class Draft {
  /*
   * Invariants:
   * (1) A refused request adds no entry, except for a refusal that is itself logged, and changes no
   *     end.
   * (2) The addresses that a stream gets in a batch are dense, and follow its end.
   * (3) An absent key begins, and a generation ends, in the key's own stream and in the directory
   *     of its space, in the same batch. The entries of a transaction share one log address.
   */

  /// A transaction that the batch commits.
  public interface Changes {
    /// Returns the log counter as of which it has read.
    public long counter();

    /// Returns the time of its entries, in microseconds.
    public long nowMicros();

    /// Returns the keys that it has read or written.
    public Collection<? extends StreamEnd> touched();

    /// Returns the parts of a key that it has read or written, or may have changed; none when that
    /// is all of the key.
    default Collection<Footprint> footprints(StreamEnd end) {
      return List.of();
    }

    /// Returns the changes of the transaction, in order.
    List<? extends Change> changes();

    /// Returns the entries that the transaction appends to users' streams, in order.
    default List<Append> appends() {
      return List.of();
    }

    /// Returns the refusal when a key has changed since it was read.
    ///
    /// @param counter the log counter of the change
    RuntimeException aborted(StreamEnd changed, long counter);

    /// Returns the reason for a refusal that does not depend on changes of keys; null for none.
    @Nullable RuntimeException refusal();
  }

  /// A put or deletion of a transaction.
  public interface Change {
    /// Returns the stream of the key.
    StreamEnd end();

    /// Returns the bytes of a put; null for a deletion.
    byte @Nullable [] value();

    /// Returns the number of the code that has executed it; 0 when there is none.
    int code();

    /// Returns the origin that names the transaction.
    Records.Origin origin();

    /// Returns whether it begins a generation.
    boolean begins();

    /// Returns the argument from which the generation's handler is created.
    byte @Nullable [] opening();

    /// Returns whether it is the first on a copy of the state.
    boolean isCopied();

    /// Returns whether its handler used the stream address that the run gave it.
    boolean isAddressed();

    /// Returns whether its handler used the time or random numbers that the run gave it.
    default boolean isTimed() {
      return true;
    }

    /// Returns the part that it changes.
    default Footprint footprint() {
      return Footprint.ALL;
    }

    /// Returns the last address of the stream when the transaction first read it.
    long tail();

    /// Returns the answers to the calls that its handler made.
    List<Answered> answers();

    /// Sets its stream address and its time.
    void placed(long address, long nowMicros);
  }

  /// An entry that a transaction appends to a user's stream.
  ///
  /// @param end the stream
  /// @param data the entry
  @SuppressWarnings("ArrayRecordComponent") // a carrier; no code compares it
  public record Append(StreamEnd end, byte[] data) {}

  /// The answer to a call that the handler of a transaction's put made on another key.
  ///
  /// @param target the other key
  /// @param answer the encoded answer
  @SuppressWarnings("ArrayRecordComponent") // a carrier; no code compares it
  public record Answered(Key target, byte[] answer) {}

  // The changes of a part that a tag stands for: all of them, or those that do not commute.
  private static final int ANY = 0;
  private static final int FIRM = 1;

  // The directories of spaces, by their names: the streams that list the keys of a space.
  private final Function<String, ? extends StreamEnd> directories;

  // The changes of parts in earlier batches, and in this one by their tags.
  private final KeyedChanges keyed = new KeyedChanges();
  private final HashMap<Long, Long> drafted = new HashMap<>();

  private final ArrayList<StreamEnd> touched = new ArrayList<>();

  // The fields of the touched ends before the batch, in the same order. Later batches use the
  // elements again.
  private final ArrayList<StreamEnd.Committed> committed = new ArrayList<>();

  private ArrayList<Entry> entries = new ArrayList<>();
  private long epoch;
  private long last;
  private long micros;
  private int addresses;

  public Draft(Function<String, ? extends StreamEnd> directories) {
    this.directories = directories;
  }

  /// Begins a batch.
  ///
  /// @param newEpoch the epoch of its addresses
  /// @param lastCounter the log counter in front of its first address
  /// @param nowMicros its time
  public void begin(long newEpoch, long lastCounter, long nowMicros) {
    drafted.forEach(keyed::record); // those of a batch that was not rolled back
    drafted.clear();
    touched.clear();
    entries = new ArrayList<>(Math.max(1, entries.size()));
    addresses = 0;
    epoch = newEpoch;
    last = lastCounter;
    micros = nowMicros;
  }

  /// Gives the next entries the log address at an offset of the batch.
  public void goTo(int offset) {
    addresses = offset;
  }

  // ---- the result

  /// Returns whether the batch logs nothing.
  public boolean isEmpty() {
    return entries.isEmpty();
  }

  /// Returns the entries of the batch.
  public List<Entry> entries() {
    return entries;
  }

  /// Returns how many log addresses the batch takes.
  public int addresses() {
    return addresses;
  }

  /// Returns the log counter of the last address that the batch has given.
  public long counter() {
    return last + addresses;
  }

  /// Returns the ends that the batch changes.
  public List<StreamEnd> touched() {
    return touched;
  }

  /// Returns whether the batch changes the state of a key.
  public boolean hasChanged(StreamEnd end) {
    return end.nextChange > last;
  }

  /// Returns the time of the batch, in microseconds.
  public long nowMicros() {
    return micros;
  }

  /// Restores the ends of streams when nothing of the batch was written.
  public void rollBack() {
    drafted.clear();
    for (int i = 0; i < touched.size(); i++) touched.get(i).rollBack(committed.get(i));
    touched.clear();
  }

  // ---- requests

  /// Decides a put. If the put is accepted, its address is the [tail][StreamEnd#nextTail] of the
  /// key's end. That is also the [generation][StreamEnd#nextGeneration] when the put begins one.
  /// Its log counter is the last [change][StreamEnd#nextChange] there.
  ///
  /// @param code the number of the code that executes it; 0 when there is none
  /// @return the refusal; null when the batch logs the put
  public @Nullable RuntimeException put(
      StreamEnd end, Existence expected, Records.@Nullable Origin origin, int code, byte[] value) {
    return put(end, expected, origin, code, value, Footprint.ALL);
  }

  /// Decides a put that works on a part of the key's state.
  public @Nullable RuntimeException put(
      StreamEnd end,
      Existence expected,
      Records.@Nullable Origin origin,
      int code,
      byte[] value,
      Footprint footprint) {
    boolean alive = end.nextGeneration != 0;
    switch (expected) {
      case Existence.Any(byte[] opening) -> {
        if (!alive) begin(end, origin, code, opening, value);
      }
      case Existence.Undeleted(byte[] opening) -> {
        if (!alive && end.everDeleted) return KeyRefusals.gone(end.key);
        if (!alive) begin(end, origin, code, opening, value);
      }
      case Existence.Absent(byte[] opening) -> {
        if (alive) return new AlreadyExists(end.key + " exists already");
        begin(end, origin, code, opening, value);
      }
      case Existence.Generation(long generation, _) -> {
        if (end.nextGeneration != generation) return KeyRefusals.gone(end.key);
      }
    }
    boolean begun = !alive && end.nextGeneration != 0;
    if (!begun) add(end, Records.PUT, Records.put(origin, end.behind(), code, value), null);
    changed(end, begun ? Footprint.ALL : footprint.in(code));
    return null;
  }

  /// Notes that the put that was decided last also works on other parts of the key's state.
  public void alsoChanges(StreamEnd end, List<Footprint> others, int code) {
    for (Footprint other : others) changed(end, other.in(code));
  }

  private void begin(
      StreamEnd end,
      Records.@Nullable Origin origin,
      int code,
      byte @Nullable [] opening,
      byte[] value) {
    StreamEnd directory = directories.apply(end.key.space());
    add(directory, Records.LISTED, end.key.name(), null);
    begin(end, directory.nextTail, origin, code, opening, value, addresses++, micros);
  }

  /// Adds a put that begins a generation.
  ///
  /// @param listed the address under which the directory lists it
  private void begin(
      StreamEnd end,
      long listed,
      Records.@Nullable Origin origin,
      int code,
      byte @Nullable [] opening,
      byte[] value,
      int offset,
      long nowMicros) {
    byte[] payload = Records.beginningPut(origin, end.behind(), code, listed, opening, value);
    add(end, Records.PUT, payload, Records.beginMark(listed), offset, nowMicros);
    end.nextGeneration = end.nextTail;
    end.nextListed = listed;
  }

  /// Logs the refusal of a put of another store's handler. A repeated request for the put must get
  /// the same refusal.
  public void refused(StreamEnd end, Records.Origin origin, RuntimeException refusal) {
    byte[] payload = Records.refused(new Records.RefusedCall(origin, Refusal.of(refusal)));
    add(end, Records.REFUSED, payload, null);
  }

  /// Decides a deletion. Its address and log counter are as in [#put].
  ///
  /// @return the refusal; null when the batch logs the deletion
  public @Nullable RuntimeException delete(
      StreamEnd end, Existence expected, Records.@Nullable Origin origin) {
    boolean alive =
        expected instanceof Existence.Generation(long generation, _)
            ? end.nextGeneration == generation
            : end.nextGeneration != 0;
    if (!alive) return KeyRefusals.gone(end.key);
    add(end, Records.DELETE, Records.delete(origin, end.nextListed), Records.endMark());
    changed(end, Footprint.ALL);
    unlist(end, addresses++, micros);
    return null;
  }

  /// Adds an entry that no handler executes. The verdict over the put that began a generation ends
  /// the generation.
  public void note(StreamEnd end, byte kind, byte[] payload) {
    boolean ends = kind == Records.VERDICT && Records.verdict(payload).call() == end.nextGeneration;
    add(end, kind, payload, ends ? Records.endMark() : null);
    if (ends) unlist(end, addresses++, micros);
  }

  /// Adds a checkpoint. The state continues in the shape that the decoded checkpoint has. Its
  /// stream address is the [tail][StreamEnd#nextTail] of the key's end.
  public void checkpoint(StreamEnd end) {
    add(end, Records.CHECKPOINT, new byte[0], null);
    end.nextCheckpoint = last + addresses;
  }

  /// Adds entries of users' streams, at one log address.
  ///
  /// @param origin the client's append; null when a caller in this process appends
  /// @param given receives the stream address of each entry
  /// @return the log address
  public LogAddress append(
      StreamEnd[] ends, Records.@Nullable Origin origin, byte[][] data, long[] given) {
    int offset = addresses++;
    for (int i = 0; i < ends.length; i++) {
      if (origin == null) add(ends[i], Records.DATA, data[i], null, offset, micros);
      else {
        byte[] payload = Records.appended(origin, data[i]);
        add(ends[i], Records.APPENDED, payload, null, offset, micros);
      }
      given[i] = ends[i].nextTail;
    }
    return new LogAddress(epoch, last + 1 + offset);
  }

  /// Decides a transaction. It gets one log address if nothing that it read or wrote has changed
  /// since (vCorfu, section 4.3: conditional tokens): no part of a key, where it has worked on that
  /// part only. Changes of other parts may have come in between, and its own then have the time of
  /// the batch, since time never goes back in a stream. Its log counter is that of the keys that it
  /// changes.
  ///
  /// @return the refusal; null when the batch logs the transaction
  public @Nullable RuntimeException commit(Changes transaction) {
    RuntimeException conflict = conflict(transaction);
    return conflict == null ? commitVoted(transaction) : conflict;
  }

  /// Decides a transaction like [#commit], except that it does not look for changes. The store has
  /// voted for the transaction, and has logged nothing to its keys since. (Of a part of a key this
  /// may have forgotten by now when it changed last.)
  ///
  /// @return the refusal; null when the batch logs the transaction
  public @Nullable RuntimeException commitVoted(Changes transaction) {
    RuntimeException refusal = transaction.refusal();
    if (refusal != null) return refusal;
    int offset = addresses++;
    long now = transaction.nowMicros();
    Set<StreamEnd> moved = moved(transaction);
    for (Change change : transaction.changes()) {
      StreamEnd end = change.end();
      commit(change, offset, moved.contains(end) ? Math.max(now, micros) : now);
      changed(end, change.footprint(), last + 1 + offset);
    }
    // Unlike calls, they have the time of the batch: in a stream, time never goes back.
    for (Append append : transaction.appends()) {
      add(append.end(), Records.DATA, append.data(), null, offset, micros);
    }
    return null;
  }

  /// Returns the keys of which other parts have changed since a transaction read them.
  private static Set<StreamEnd> moved(Changes transaction) {
    Set<StreamEnd> moved = Set.of();
    for (StreamEnd end : transaction.touched()) {
      if (end.lastChange() <= transaction.counter()) continue;
      if (moved.isEmpty()) moved = new HashSet<>();
      moved.add(end);
    }
    return moved;
  }

  /// Returns the reason why a transaction cannot commit; null when nothing that it read or wrote
  /// has changed.
  @Nullable RuntimeException conflict(Changes transaction) {
    for (StreamEnd end : transaction.touched()) {
      if (end.lastChange() > transaction.counter()) {
        long changed = lastChange(end, transaction.footprints(end));
        if (changed > transaction.counter()) return transaction.aborted(end, changed);
      }
      // The transaction has run on a state with another shape in memory.
      if (end.nextCheckpoint > transaction.counter()) {
        return transaction.aborted(end, end.nextCheckpoint);
      }
    }
    for (Change change : transaction.changes()) {
      StreamEnd end = change.end();
      if (change.isAddressed() && end.nextTail != change.tail()) {
        return transaction.aborted(end, end.nextEntry);
      }
      if (change.isTimed() && end.lastChange() > transaction.counter()) {
        return transaction.aborted(end, end.lastChange());
      }
    }
    return null;
  }

  /// Returns the log counter of the last change of any of some parts of a key, or a greater one.
  private long lastChange(StreamEnd end, Collection<Footprint> parts) {
    if (parts.isEmpty()) return end.lastChange();
    long last = 0;
    for (Footprint part : parts) last = Math.max(last, lastChange(end, part));
    return last;
  }

  private long lastChange(StreamEnd end, Footprint part) {
    long last = end.lastAgainst(part);
    if (!part.keyed()) return last;
    long tag = tag(end, part);
    return Math.max(last, Math.max(keyed.last(tag), drafted.getOrDefault(tag, 0L)));
  }

  /// Returns the tag of the changes with which a part conflicts. Calls that commute conflict with
  /// those that do not.
  private static long tag(StreamEnd end, Footprint part) {
    return KeyedChanges.tag(end.key.stream(), part.part(), part.commuting() ? FIRM : ANY);
  }

  private void commit(Change change, int offset, long now) {
    StreamEnd end = change.end();
    byte[] value = change.value();
    if (value == null) {
      byte[] payload = Records.delete(change.origin(), end.nextListed);
      add(end, Records.DELETE, payload, Records.endMark(), offset, now);
    } else if (change.begins()) {
      StreamEnd directory = directories.apply(end.key.space());
      add(directory, Records.LISTED, end.key.name(), null, offset, now);
      begin(
          end,
          directory.nextTail,
          change.origin(),
          change.code(),
          change.opening(),
          value,
          offset,
          now);
    } else {
      byte[] payload =
          change.isCopied()
              ? Records.copiedPut(change.origin(), end.behind(), change.code(), value)
              : Records.put(change.origin(), end.behind(), change.code(), value);
      add(end, Records.PUT, payload, null, offset, now);
    }
    long address = end.nextTail;
    change.placed(address, now);
    if (value == null) unlist(end, offset, now);
    int number = 0;
    for (Answered answered : change.answers()) {
      var origin = new Records.Origin(end.key.stream(), address, ++number);
      byte[] payload = Records.answered(origin, answered.target(), answered.answer());
      add(end, Records.ANSWERED, payload, null, offset, now);
    }
  }

  // ---- entries

  /// Ends the generation of a key.
  private void unlist(StreamEnd end, int offset, long nowMicros) {
    byte[] payload = Records.unlisted(end.nextListed);
    add(directories.apply(end.key.space()), Records.UNLISTED, payload, null, offset, nowMicros);
    end.nextGeneration = 0;
    end.nextListed = 0;
    end.everDeleted = true;
  }

  /// Notes that the last added entry changes the state.
  private void changed(StreamEnd end, Footprint footprint) {
    changed(end, footprint, last + addresses);
  }

  private void changed(StreamEnd end, Footprint footprint, long counter) {
    end.changes(footprint, counter);
    if (!footprint.keyed()) return;
    StreamId stream = end.key.stream();
    drafted.put(KeyedChanges.tag(stream, footprint.part(), ANY), counter);
    if (footprint.commuting()) return;
    drafted.put(KeyedChanges.tag(stream, footprint.part(), FIRM), counter);
  }

  private void add(StreamEnd end, byte kind, byte[] payload, byte @Nullable [] mark) {
    add(end, kind, payload, mark, addresses++, micros);
  }

  private void add(
      StreamEnd end,
      byte kind,
      byte[] payload,
      byte @Nullable [] mark,
      int offset,
      long nowMicros) {
    if (!end.isTouched()) touch(end);
    long address = ++end.nextTail;
    end.nextEntry = last + 1 + offset;
    entries.add(new Entry(end.key.stream(), address, offset, nowMicros, kind, payload, mark));
  }

  private void touch(StreamEnd end) {
    int place = touched.size();
    if (place == committed.size()) committed.add(new StreamEnd.Committed());
    end.touch(committed.get(place));
    touched.add(end);
  }
}
