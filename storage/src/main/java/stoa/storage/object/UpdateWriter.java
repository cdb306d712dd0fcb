package stoa.storage.object;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.zip.CRC32C;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.index.IndexEntry;

/// Sends the least that brings a peer up to date (VOSD paper, section II-B). One owner uses it.
final class UpdateWriter {
  /*
   * For a version that is hidden everywhere it sends only the number; for the others it sends the
   * visible bytes. Hidden bytes lie under a higher version, which the peer has or receives.
   */
  private final VersionedObjects objects;
  private final StreamId id;
  private final Encoder frame = new Encoder(256);
  private final CRC32C crc = new CRC32C();
  private final CRC32C all = new CRC32C();

  UpdateWriter(VersionedObjects objects, StreamId id) {
    this.objects = objects;
    this.id = id;
  }

  void write(VersionState peer, OutputStream to) throws IOException {
    try (var _ = objects.hold();
        var moment = ObjectMoment.now(objects.shown(), objects.log(), id)) {
      var out = new DataOutputStream(to);
      write(moment, peer, out);
      out.flush();
    }
  }

  /// Sends for each snapshot that the peer lacks, oldest first, its number, its highest version and
  /// its missing updates; 0 when there are no more; and then the missing updates of the object.
  void writeAll(VersionState peer, Set<Long> kept, OutputStream to) throws IOException {
    try (var _ = objects.hold();
        var view = objects.shown();
        var now = ObjectMoment.now(view.again(), objects.log(), id)) {
      var out = new DataOutputStream(to);
      var sent = peer;
      for (long number : now.snapshots()) {
        if (kept.contains(number)) continue;
        try (var moment = ObjectMoment.of(view.again(), objects.log(), id, number)) {
          if (moment == null) continue; // its object was deleted meanwhile
          out.writeLong(number);
          out.writeLong(moment.highest());
          write(moment, sent, out);
          sent = sent.plus(moment.versionState());
        }
      }
      out.writeLong(0);
      write(now, sent, out);
      out.flush();
    }
  }

  private void write(ObjectMoment moment, VersionState peer, DataOutputStream out)
      throws IOException {
    all.reset();
    out.writeLong(UpdateFormat.MAGIC);
    out.writeInt(UpdateFormat.VERSION);
    var versions = moment.versionState().minus(peer);
    versions.encode(frame.clear());
    put(UpdateFormat.VERSIONS, out);
    if (versions.highest() > 0) {
      extents(moment, versions, out);
      attributes(moment, versions, out);
    }
    frame.clear().varint(all.getValue());
    put(UpdateFormat.END, out);
  }

  private void extents(ObjectMoment moment, VersionState versions, DataOutputStream out)
      throws IOException {
    byte[] data = {};
    try (var sweep = moment.extents(0, Long.MAX_VALUE)) {
      while (sweep.next()) {
        var extent = sweep.extent();
        if (!versions.contains(extent.version)) continue;
        if (extent.isHole()) {
          frame.clear().varint(extent.offset).varint(extent.version).varint(extent.length);
          put(UpdateFormat.HOLE, out);
          continue;
        }
        for (long done = 0; done < extent.length; ) {
          int length = (int) Math.min(UpdateFormat.DATA_BYTES_MAX, extent.length - done);
          if (data.length < length) data = new byte[length];
          objects
              .log()
              .readData(extent.position, extent.skip + done, ByteBuffer.wrap(data, 0, length));
          frame.clear().varint(extent.offset + done).varint(extent.version).raw(data, 0, length);
          put(UpdateFormat.DATA, out);
          done += length;
        }
      }
    }
  }

  private void attributes(ObjectMoment moment, VersionState versions, DataOutputStream out)
      throws IOException {
    var found = new IndexEntry();
    for (long slot : moment.slots()) {
      if (!moment.attribute(slot, found) || !versions.contains(found.version)) continue;
      frame.clear().varint(slot).varint(found.version);
      if (!found.isHole()) frame.raw(objects.attribute(moment.owner(), found));
      put(found.isHole() ? UpdateFormat.REMOVED_ATTRIBUTE : UpdateFormat.ATTRIBUTE, out);
    }
  }

  private void put(int kind, DataOutputStream out) throws IOException {
    crc.reset();
    crc.update(kind);
    crc.update(frame.array(), 0, frame.size());
    all.update(kind);
    all.update(frame.array(), 0, frame.size());
    out.writeByte(kind);
    out.writeInt(frame.size());
    out.write(frame.array(), 0, frame.size());
    out.writeInt((int) crc.getValue());
  }
}
