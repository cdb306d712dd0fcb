package stoa.store.running;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.StreamId;

/// The puts that have put to other keys and whose end is not in the log. Every batch notes their
/// keys, so that a process that starts after a crash can resume those puts before any caller sees
/// half of their effects.
///
/// Thread-safe.
///
/// ```
/// note:  nothing, or count varint, and for each key: space text, name sized
/// ```
public final class Unfinished {
  /// A key as the log names it.
  ///
  /// @param space the key's space
  /// @param name its name there
  public record Name(String space, byte[] name) {}

  private record Put(StreamId stream, long address) {}

  private static final byte[] NOTHING = {};

  // The most puts that are noted before they put to other keys.
  private static final int NOTED_MAX = 256;

  // Stands for any put of a key that an earlier process noted.
  private static final long EARLIER = 0;

  /// A put that has begun to put to other keys.
  ///
  /// @param counter a log counter in front of those of its nested puts
  private record Begun(Name name, long counter) {}

  /// A put that has ended, whose last nested answer is on its way into the log.
  private record Settling(Put put, Begun begun, Pending answer) {}

  private final ConcurrentHashMap<Put, Begun> puts = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<Settling> settling = new ConcurrentLinkedQueue<>();

  /// Begins with the last note of an earlier process.
  public Unfinished(byte[] note) {
    if (note.length == 0) return;
    var in = new Decoder(note);
    for (long left = in.varint(); left > 0; left--) {
      var name = new Name(in.text(), in.sized());
      var key = new Key(name.space, name.name, name.space);
      puts.put(new Put(key.stream(), EARLIER), new Begun(name, 0));
    }
  }

  /// Returns one note about all that several notes are about.
  public static byte[] joined(List<byte[]> notes) {
    var all = new Unfinished(NOTHING);
    for (byte[] note : notes) all.puts.putAll(new Unfinished(note).puts);
    return all.note();
  }

  /// Returns the keys that an earlier process noted and that this process has not resumed yet.
  public List<Name> earlier() {
    var names = new ArrayList<Name>();
    puts.forEach((put, begun) -> {
      if (put.address == EARLIER) names.add(begun.name);
    });
    return names;
  }

  /// Notes that this process has resumed a key.
  public void resumed(Key key) {
    puts.remove(new Put(key.stream(), EARLIER));
  }

  /// Notes that this process gave up a put, to resume it later.
  void givenUp(Key key, long address) {
    Begun begun = puts.remove(new Put(key.stream(), address));
    if (begun == null) return;
    puts.merge(
        new Put(key.stream(), EARLIER), begun, (one, two) -> one.counter < two.counter ? one : two);
  }

  /// Returns how many puts have begun and not ended.
  public int size() {
    return puts.size();
  }

  /// Returns whether there is room for a put that has not put to another key yet.
  public boolean hasRoom() {
    return puts.size() < NOTED_MAX;
  }

  /// Notes that a put is about to put to another key.
  ///
  /// @param counter a log counter in front of that nested put
  public void begins(Key key, long address, long counter) {
    var begun = new Begun(new Name(key.space(), key.name()), counter);
    puts.putIfAbsent(new Put(key.stream(), address), begun);
  }

  /// Notes that a put has ended or was taken back.
  ///
  /// @param answer its last nested answer, or null. Until the log has this answer, a crash would
  ///   leave the put unfinished
  public void ends(Key key, long address, @Nullable Pending answer) {
    if (puts.isEmpty()) return;
    var put = new Put(key.stream(), address);
    Begun begun = puts.get(put);
    if (begun != null && answer != null && !answer.isDone()) {
      settling.add(new Settling(put, begun, answer));
    }
    puts.remove(put);
  }

  /// Returns a log counter in front of all nested puts whose answers are not all in the log.
  /// Returns 0 while this process has not resumed every put of an earlier process, since it does
  /// not know their counters, and [Long#MAX_VALUE] when there are no such puts.
  public long leastCounter() {
    dropSettled();
    long least = Long.MAX_VALUE;
    for (Begun begun : puts.values()) least = Math.min(least, begun.counter);
    for (Settling ending : settling) least = Math.min(least, ending.begun.counter);
    return least;
  }

  private void dropSettled() {
    settling.removeIf(ending -> ending.answer.isDone());
  }

  /// Encodes the note for a batch.
  public byte[] note() {
    if (puts.isEmpty() && settling.isEmpty()) return NOTHING;
    dropSettled();
    var names = new LinkedHashMap<StreamId, Name>();
    puts.forEach((put, begun) -> names.put(put.stream, begun.name));
    for (Settling ending : settling) names.put(ending.put.stream, ending.begun.name);
    if (names.isEmpty()) return NOTHING;
    var out = new Encoder(64).varint(names.size());
    names.values().forEach(name -> out.text(name.space).sized(name.name));
    return out.toBytes();
  }
}
