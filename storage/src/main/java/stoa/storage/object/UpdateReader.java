package stoa.storage.object;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.base.StreamId;
import stoa.storage.index.IndexEntry;

/// Applies the updates of an [UpdateWriter]. One owner uses it.
final class UpdateReader {
  /*
   * It writes the data as it comes, like a transaction; the last step makes all of it visible, each
   * extent under its own version, and adds the versions.
   */
  // The most extents of one update.
  private static final int EXTENTS_MAX = 4 << 20;

  private final VersionedObjects objects;
  private final VersionedObject object;
  private final CRC32C crc = new CRC32C();
  private final CRC32C all = new CRC32C();
  private final List<Extent> extents = new ArrayList<>();
  private final List<Attribute> attributes = new ArrayList<>();
  private VersionState versions = VersionState.EMPTY;

  private record Extent(WriteTransaction.Part part, long version) {}

  private record Attribute(long slot, long version, byte @Nullable [] item) {}

  UpdateReader(VersionedObjects objects, VersionedObject object) {
    this.objects = objects;
    this.object = object;
  }

  void read(InputStream from) throws IOException {
    var in = new DataInputStream(from);
    if (in.readLong() != UpdateFormat.MAGIC) {
      throw new IllegalArgumentException("these bytes are no updates of an object");
    }
    int version = in.readInt();
    if (version != UpdateFormat.VERSION) {
      throw new IllegalArgumentException(
          "the updates have format version %d; this program reads version %d: use the program that wrote them"
              .formatted(version, UpdateFormat.VERSION));
    }
    try (var parts = objects.begin(object, 1)) { // only holds its parts; it has no version
      try {
        while (frame(in, parts)) {
          // Each call takes one.
        }
      } catch (EOFException e) {
        throw new EOFException(
            "the updates of object %s end before they are complete".formatted(object.id()));
      } catch (Decoder.MalformedException e) {
        throw damaged(object.id());
      }
      if (versions.highest() > 0) commit(parts);
    }
  }

  private boolean frame(DataInputStream in, WriteTransaction parts) throws IOException {
    int kind = in.readUnsignedByte();
    int length = in.readInt();
    if (length < 0 || length > UpdateFormat.FRAME_BYTES_MAX) throw damaged(object.id());
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) throw new EOFException();
    crc.reset();
    crc.update(kind);
    crc.update(bytes);
    if (in.readInt() != (int) crc.getValue()) throw damaged(object.id());
    long before = all.getValue();
    all.update(kind);
    all.update(bytes);
    var frame = new Decoder(bytes);
    switch (kind) {
      case UpdateFormat.VERSIONS -> versions = VersionState.decode(frame);
      case UpdateFormat.DATA -> {
        long offset = frame.varint();
        long version = frame.varint();
        var data = ByteBuffer.wrap(bytes, frame.position(), frame.remaining());
        check(offset, data.remaining(), version);
        extents.add(new Extent(parts.part(offset, data), version));
      }
      case UpdateFormat.HOLE -> {
        long offset = frame.varint();
        long version = frame.varint();
        long size = frame.varint();
        check(offset, size, version);
        extents.add(new Extent(new WriteTransaction.Part(offset, size, true), version));
      }
      case UpdateFormat.ATTRIBUTE -> {
        long slot = frame.varint();
        long version = frame.varint();
        check(slot, 1, version);
        byte[] item = frame.raw(frame.remaining());
        if (AttributeName.slot(AttributeName.name(item)) != slot) throw damaged(object.id());
        attributes.add(new Attribute(slot, version, item));
      }
      case UpdateFormat.REMOVED_ATTRIBUTE -> {
        long slot = frame.varint();
        long version = frame.varint();
        check(slot, 1, version);
        attributes.add(new Attribute(slot, version, null));
      }
      case UpdateFormat.END -> {
        if (frame.varint() != before) throw damaged(object.id());
        return false;
      }
      default -> throw damaged(object.id());
    }
    if (extents.size() > EXTENTS_MAX) {
      throw new IllegalArgumentException(
          "the updates for object %s have more than %d extents; have them sent in parts, each for a peer state that has the versions of the others already"
              .formatted(object.id(), EXTENTS_MAX));
    }
    return true;
  }

  /// Refuses values that no sender sends: impossible offsets, and versions that were not announced.
  private void check(long offset, long length, long version) {
    boolean within = offset >= 0 && length >= 0 && offset <= Long.MAX_VALUE - length;
    if (!within || !versions.contains(version)) throw damaged(object.id());
  }

  private void commit(WriteTransaction parts) {
    parts.awaitParts();
    var pieces = new Pieces();
    var piece = new IndexEntry();
    for (var extent : extents) {
      var part = extent.part;
      if (part.hole) {
        pieces.add(piece.set(part.offset, 0, 0, part.length, extent.version, IndexEntry.HOLE));
      } else {
        VersionedObjects.addPieces(
            pieces, part.offset, part.length, part.positions, extent.version);
      }
    }
    var change = objects.bring(object.id(), parts.birth(), versions, pieces);
    for (var attribute : attributes) change.put(attribute.slot, attribute.version, attribute.item);
    objects.run(change);
  }

  private static IllegalArgumentException damaged(StreamId object) {
    return new IllegalArgumentException(
        "the updates for object %s are damaged; have them sent again".formatted(object));
  }
}
