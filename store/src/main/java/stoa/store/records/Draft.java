package stoa.store.records;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.LogAddress;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.log.Entry;

/// Decides one batch of the log: which of the requests it logs, as which entries at which
/// addresses, and which it refuses.
///
/// A draft acts on nothing but the [ends of streams][StreamEnd] that it is given, and [#rollBack]
/// gives these back as they were. The leader owns it, and uses it for one batch after the other.
public final class Draft {
  /*
   * Invariants:
   * (1) What is refused adds no entry, but for a refusal that is logged itself, and changes no end.
   * (2) The addresses that a stream gets in a batch are dense, and follow its end.
   * (3) A key that is absent begins, and a generation ends, in its own stream and in the directory of its
   *     space, in the same batch. The entries of a transaction share one log address.
   */

  /// A transaction that the batch is to commit.
  public interface Changes {
    /// The log counter as of which it has read.
    public long counter();

    /// The time of its entries, in microseconds.
    public long nowMicros();

    /// The keys that it has read or written.
    public Collection<? extends StreamEnd> touched();

    /// What it changes, in order.
    List<? extends Change> changes();

    /// The refusal when a key has changed since it was read.
    ///
    /// @param counter the log counter of the change
    RuntimeException aborted(StreamEnd changed, long counter);

    /// Why it is refused although no key has changed; null when it is not.
    @Nullable RuntimeException refusal();
  }

  /// A put or deletion of a transaction.
  public interface Change {
    /// The stream of the key.
    StreamEnd end();

    /// What is put; null for a deletion.
    byte @Nullable [] value();

    /// The number of the code that has executed it; 0 when there is none.
    int code();

    /// Which transaction makes it.
    Records.Origin origin();

    /// Whether it begins a generation.
    boolean begins();

    /// What the generation's handler is created from.
    byte @Nullable [] opening();

    /// Whether it is the first on a copy of the state.
    boolean isCopied();

    /// Whether its handler went by the stream address that it was told.
    boolean isAddressed();

    /// The last address of the stream when the transaction came to know it.
    long tail();

    /// The answers to the calls that its handler made.
    List<Answered> answers();

    /// It has got its stream address.
    void placed(long address);
  }

  /// The answer to a call that the handler of a transaction's put made on another key.
  ///
  /// @param target the other key
  /// @param answer what it answered
  @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by nobody
  public record Answered(Key target, byte[] answer) {}

  /// The directories of spaces, by their names: the streams that list the keys of a space.
  private final Function<String, ? extends StreamEnd> directories;

  private final ArrayList<StreamEnd> touched = new ArrayList<>();
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
    touched.clear();
    entries = new ArrayList<>();
    addresses = 0;
    epoch = newEpoch;
    last = lastCounter;
    micros = nowMicros;
  }

  /// The next entries get the log address at an offset of the batch.
  public void goTo(int offset) {
    addresses = offset;
  }

  // ---- what it has come to

  /// Whether nothing is logged.
  public boolean isEmpty() {
    return entries.isEmpty();
  }

  /// The entries of the batch.
  public List<Entry> entries() {
    return entries;
  }

  /// How many log addresses the batch takes.
  public int addresses() {
    return addresses;
  }

  /// The log counter of the last address that the batch has given.
  public long counter() {
    return last + addresses;
  }

  /// The ends that the batch changes.
  public List<StreamEnd> touched() {
    return touched;
  }

  /// Its time, in microseconds.
  public long nowMicros() {
    return micros;
  }

  /// Nothing of the batch was written.
  public void rollBack() {
    touched.forEach(StreamEnd::rollBack);
    touched.clear();
  }

  // ---- requests

  /// Decides a put. When it is not refused, its address is the [tail][StreamEnd#nextTail] of the
  /// key's end, which is the [generation][StreamEnd#nextGeneration], too, when the put begins it;
  /// its log counter is the last [change][StreamEnd#nextChange] there.
  ///
  /// @param code the number of the code that executes it; 0 when there is none
  /// @return the refusal; null when it is logged
  public @Nullable RuntimeException put(
      StreamEnd end, Existence expected, Records.@Nullable Origin origin, int code, byte[] value) {
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
    changed(end);
    return null;
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

  /// Logs that the put of another store's handler is not executed: asked again, it must not be
  /// either.
  public void refused(StreamEnd end, Records.Origin origin, RuntimeException refusal) {
    byte[] payload = Records.refused(new Records.Refused(origin, Refusal.of(refusal)));
    add(end, Records.REFUSED, payload, null);
  }

  /// Decides a deletion; address and log counter as of [#put].
  ///
  /// @return the refusal; null when it is logged
  public @Nullable RuntimeException delete(
      StreamEnd end, Existence expected, Records.@Nullable Origin origin) {
    boolean alive =
        expected instanceof Existence.Generation(long generation, _)
            ? end.nextGeneration == generation
            : end.nextGeneration != 0;
    if (!alive) return KeyRefusals.gone(end.key);
    add(end, Records.DELETE, Records.delete(origin, end.nextListed), Records.endMark());
    changed(end);
    unlist(end, addresses++, micros);
    return null;
  }

  /// Adds an entry for which nothing is executed. The verdict over the put that began a generation
  /// ends that.
  public void note(StreamEnd end, byte kind, byte[] payload) {
    boolean ends = kind == Records.VERDICT && Records.verdict(payload).call() == end.nextGeneration;
    add(end, kind, payload, ends ? Records.endMark() : null);
    if (ends) unlist(end, addresses++, micros);
  }

  /// Adds a checkpoint, at which the state goes on in the shape that it is decoded to. Its stream
  /// address is the [tail][StreamEnd#nextTail] of the key's end.
  public void checkpoint(StreamEnd end) {
    add(end, Records.CHECKPOINT, new byte[0], null);
    end.nextCheckpoint = last + addresses;
  }

  /// Adds entries of users' streams, at one log address.
  ///
  /// @param given where the stream address of each is written
  /// @return the log address
  public LogAddress append(StreamEnd[] ends, byte[][] data, long[] given) {
    int offset = addresses++;
    for (int i = 0; i < ends.length; i++) {
      add(ends[i], Records.DATA, data[i], null, offset, micros);
      given[i] = ends[i].nextTail;
    }
    return new LogAddress(epoch, last + 1 + offset);
  }

  /// Decides a transaction: it gets one log address, if nothing that it read or wrote has changed
  /// since (vCorfu, section 4.3: conditional tokens). Its log counter is that of the keys that it
  /// changes.
  ///
  /// @return the refusal; null when it is logged
  public @Nullable RuntimeException commit(Changes transaction) {
    RuntimeException conflict = conflict(transaction);
    if (conflict != null) return conflict;
    RuntimeException refusal = transaction.refusal();
    if (refusal != null) return refusal;
    int offset = addresses++;
    long now = transaction.nowMicros();
    for (Change change : transaction.changes()) {
      commit(change, offset, now);
      change.end().nextChange = last + 1 + offset;
    }
    return null;
  }

  /// Why a transaction cannot be committed; null when no key that it read or wrote has changed.
  public static @Nullable RuntimeException conflict(Changes transaction) {
    for (StreamEnd end : transaction.touched()) {
      if (end.lastChange() > transaction.counter()) {
        return transaction.aborted(end, end.lastChange());
      }
      // The transaction has run on a state of another shape in memory.
      if (end.nextCheckpoint > transaction.counter()) {
        return transaction.aborted(end, end.nextCheckpoint);
      }
    }
    for (Change change : transaction.changes()) {
      StreamEnd end = change.end();
      if (change.isAddressed() && end.nextTail != change.tail()) {
        return transaction.aborted(end, end.nextEntry);
      }
    }
    return null;
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
    change.placed(address);
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

  /// The entry that was added last changes the state.
  private void changed(StreamEnd end) {
    end.nextChange = last + addresses;
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
    if (end.touch()) touched.add(end);
    long address = ++end.nextTail;
    end.nextEntry = last + 1 + offset;
    entries.add(new Entry(end.key.stream(), address, offset, nowMicros, kind, payload, mark));
  }
}
