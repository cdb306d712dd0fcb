package stoa.store;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;

/// The puts that have put to other keys and have not ended. Every batch notes their keys, so that
/// after a crash those can go on at once, before anybody sees half of what they do.
///
/// Thread-safe.
///
/// ```
/// note:  nothing, or count varint, and for each key: space text, name sized
/// ```
final class Unfinished {
  /// A key as the log names it.
  ///
  /// @param space the key's space
  /// @param name its name there
  record Name(String space, byte[] name) {}

  private record Put(StreamId stream, long address) {}

  private static final byte[] NOTHING = {};

  /// Stands for whatever put of a key an earlier process noted.
  private static final long EARLIER = 0;

  private final ConcurrentHashMap<Put, Name> puts = new ConcurrentHashMap<>();

  /// What an earlier process noted last.
  Unfinished(byte[] note) {
    if (note.length == 0) return;
    var in = new Decoder(note);
    for (long left = in.varint(); left > 0; left--) {
      var name = new Name(in.text(), in.sized());
      var key = new Key(name.space, name.name, name.space);
      puts.put(new Put(key.stream(), EARLIER), name);
    }
  }

  /// The keys that an earlier process noted and that have not gone on yet.
  List<Name> earlier() {
    var names = new ArrayList<Name>();
    puts.forEach((put, name) -> {
      if (put.address == EARLIER) names.add(name);
    });
    return names;
  }

  /// A key has gone on.
  void resumed(Key key) {
    puts.remove(new Put(key.stream(), EARLIER));
  }

  /// A put is about to put to another key.
  void begins(Key key, long address) {
    puts.putIfAbsent(new Put(key.stream(), address), new Name(key.space(), key.name()));
  }

  /// A put has ended, or was taken back.
  void ends(Key key, long address) {
    if (!puts.isEmpty()) puts.remove(new Put(key.stream(), address));
  }

  /// What a batch notes.
  byte[] note() {
    if (puts.isEmpty()) return NOTHING;
    var names = new LinkedHashMap<StreamId, Name>();
    puts.forEach((put, name) -> names.put(put.stream, name));
    var out = new Encoder(64).varint(names.size());
    names.values().forEach(name -> out.text(name.space).sized(name.name));
    return out.toBytes();
  }
}
