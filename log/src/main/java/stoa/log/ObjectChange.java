package stoa.log;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.object.VersionState;

/// A change of one versioned object at all replicas of a group. It states the result, not an action
/// on the present contents, so a repeated one has no effect.
sealed interface ObjectChange {
  /*
   *   kind u8, object id, then
   *   1 WRITE    version, offset, length, all varint; bytes
   *   2 CUT      version varint, size varint
   *   3 FINISH   version varint; where to cut + 1 varint, or 0; the staged object's number varint, or 0;
   *              number of attributes varint, for each name text and value sized; number of removed
   *              ones varint, for each name text
   *   4 KEEP     number varint
   *   5 RELEASE  number varint
   *   6 DELETE
   *   7 SKIP     the versions, sized, as VersionState.toBytes
   */

  /// The upper half of the ids of objects that have the parts of changes in progress. They come
  /// before others, whose parts they are: see [Supply].
  long STAGED = 1;

  /// Returns the changed object.
  StreamId id();

  /// Returns the object that has the parts of an open change.
  ///
  /// @param number never given twice
  static StreamId staged(long number) {
    return new StreamId(STAGED, number);
  }

  /// Writes bytes as a version.
  record Write(StreamId id, long version, long offset, ByteBuffer data) implements ObjectChange {}

  /// Removes the bytes from an offset on, as a version.
  record Cut(StreamId id, long version, long size) implements ObjectChange {}

  /// Ends a change of several parts: the contents of the staged object become a version, and it is
  /// deleted.
  ///
  /// @param cut from where on bytes are removed before that; -1 for none
  /// @param staged its number; 0 when there is none
  record Finish(
      StreamId id,
      long version,
      long cut,
      long staged,
      SortedMap<String, byte[]> attributes,
      List<String> removed)
      implements ObjectChange {}

  /// Makes a snapshot.
  record Keep(StreamId id, long number) implements ObjectChange {}

  /// Releases a snapshot.
  record Release(StreamId id, long number) implements ObjectChange {}

  /// Deletes the object with its snapshots.
  record Delete(StreamId id) implements ObjectChange {}

  /// Counts versions as written.
  record Skip(StreamId id, VersionState versions) implements ObjectChange {}

  /// Adds this change to a command.
  default void write(Encoder out) {
    switch (this) {
      case Write(StreamId id, long version, long offset, ByteBuffer data) -> {
        out.u8(1).id(id).varint(version).varint(offset).varint(data.remaining());
        if (data.hasArray()) {
          out.raw(data.array(), data.arrayOffset() + data.position(), data.remaining());
        } else {
          var copy = new byte[data.remaining()];
          data.duplicate().get(copy);
          out.raw(copy);
        }
      }
      case Cut(StreamId id, long version, long size) ->
          out.u8(2).id(id).varint(version).varint(size);
      case Finish finish -> {
        out.u8(3).id(finish.id).varint(finish.version).varint(finish.cut + 1);
        out.varint(finish.staged).varint(finish.attributes.size());
        finish.attributes.forEach((name, value) -> out.text(name).sized(value));
        out.varint(finish.removed.size());
        finish.removed.forEach(out::text);
      }
      case Keep(StreamId id, long number) -> out.u8(4).id(id).varint(number);
      case Release(StreamId id, long number) -> out.u8(5).id(id).varint(number);
      case Delete(StreamId id) -> out.u8(6).id(id);
      case Skip(StreamId id, VersionState versions) -> out.u8(7).id(id).sized(versions.toBytes());
    }
  }

  /// Reads the next change of a command. Its bytes are those of the command.
  static ObjectChange read(Decoder in) {
    int kind = in.u8();
    StreamId id = in.id();
    return switch (kind) {
      case 1 -> {
        long version = in.varint();
        long offset = in.varint();
        int length = Math.toIntExact(in.varint());
        int at = in.position();
        in.skip(length);
        yield new Write(id, version, offset, ByteBuffer.wrap(in.array(), at, length));
      }
      case 2 -> new Cut(id, in.varint(), in.varint());
      case 3 -> finish(id, in);
      case 4 -> new Keep(id, in.varint());
      case 5 -> new Release(id, in.varint());
      case 6 -> new Delete(id);
      case 7 -> new Skip(id, VersionState.fromBytes(in.sized()));
      default ->
          throw new IllegalArgumentException(
              "a change of the unknown kind %d; all servers need the version that made it"
                  .formatted(kind));
    };
  }

  private static Finish finish(StreamId id, Decoder in) {
    long version = in.varint();
    long cut = in.varint() - 1;
    long staged = in.varint();
    var attributes = new TreeMap<String, byte[]>();
    for (int left = in.count(); left > 0; left--) attributes.put(in.text(), in.sized());
    var removed = new ArrayList<String>();
    for (int left = in.count(); left > 0; left--) removed.add(in.text());
    return new Finish(id, version, cut, staged, attributes, removed);
  }
}
