package stoa.storage;

import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import stoa.base.Encoder;
import stoa.base.StreamId;

/// Sends the least that brings a peer level (VOSD paper, section II-B). One owner uses it.
final class UpdateWriter {
  /*
   * A version that is hidden everywhere is sent as a number alone; of the others goes what is visible.
   * Whatever hides them is of a higher version, which the peer has or is sent.
   */
  private final VersionedObjects objects;
  private final StreamId id;
  private final Encoder frame = new Encoder(256);
  private final CRC32C crc = new CRC32C();

  UpdateWriter(VersionedObjects objects, StreamId id) {
    this.objects = objects;
    this.id = id;
  }

  void write(VersionState peer, OutputStream to) throws IOException {
    try (var _ = objects.hold();
        var moment = Moment.now(objects.durable(), id)) {
      var out = new DataOutputStream(to);
      out.writeLong(UpdateFormat.MAGIC);
      out.writeInt(UpdateFormat.VERSION);
      var versions = moment.versionState().minus(peer);
      versions.encode(frame.clear());
      put(UpdateFormat.VERSIONS, out);
      if (versions.highest() > 0) {
        extents(moment, versions, out);
        attributes(moment, versions, out);
      }
      frame.clear();
      put(UpdateFormat.END, out);
      out.flush();
    }
  }

  private void extents(Moment moment, VersionState versions, DataOutputStream out)
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

  private void attributes(Moment moment, VersionState versions, DataOutputStream out)
      throws IOException {
    var found = new Entry();
    for (long slot : moment.slots()) {
      if (!moment.attribute(slot, found) || !versions.contains(found.version)) continue;
      frame.clear().varint(slot).varint(found.version);
      if (!found.isHole()) frame.raw(objects.attribute(id, found));
      put(found.isHole() ? UpdateFormat.REMOVED_ATTRIBUTE : UpdateFormat.ATTRIBUTE, out);
    }
  }

  private void put(int kind, DataOutputStream out) throws IOException {
    crc.reset();
    crc.update(kind);
    crc.update(frame.array(), 0, frame.size());
    out.writeByte(kind);
    out.writeInt(frame.size());
    out.write(frame.array(), 0, frame.size());
    out.writeInt((int) crc.getValue());
  }
}
