package stoa.bench.stacksync;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import stoa.stacksync.Chunk;
import stoa.stacksync.CommitInfo;
import stoa.stacksync.ItemChange;
import stoa.stacksync.Metadata;
import stoa.stacksync.Status;
import stoa.stacksync.SyncService;

/// A request to commit changes in the workspace of a user, whose device and workspace have the id
/// of the user; and its form in a queue. Immutable.
record CommitRequest(UUID user, List<ItemChange> changes) {
  CommitRequest {
    changes = List.copyOf(changes);
  }

  /// Commits it, and checks that all of it was new, or was committed by an earlier attempt.
  void commit(SyncService service) {
    for (var answer : CommitLoad.OUTAGE.bridge(() -> service.doCommit(user, user, user, changes))) {
      if (answer instanceof CommitInfo.Committed || answer instanceof CommitInfo.Repeated) continue;
      throw new IllegalStateException("a new item was not committed: " + answer);
    }
  }

  /// Returns its form in a queue.
  byte[] bytes() {
    var bytes = new ByteArrayOutputStream();
    try (var out = new DataOutputStream(bytes)) {
      out.writeLong(user.getMostSignificantBits());
      out.writeLong(user.getLeastSignificantBits());
      out.writeInt(changes.size());
      for (var change : changes) write(change, out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void write(ItemChange change, DataOutputStream out) throws IOException {
    var metadata = change.metadata();
    out.writeLong(change.item());
    out.writeInt(change.version());
    out.writeUTF(metadata.status().name());
    out.writeLong(metadata.parent());
    out.writeUTF(metadata.name());
    out.writeBoolean(metadata.folder());
    out.writeUTF(metadata.mimeType());
    out.writeLong(metadata.sizeBytes());
    out.writeLong(metadata.checksum());
    out.writeInt(metadata.chunks().size());
    for (var chunk : metadata.chunks()) out.writeUTF(chunk.fingerprint());
    out.writeLong(metadata.modifiedAt().toEpochMilli());
  }

  /// Reads its form in a queue.
  static CommitRequest of(byte[] bytes) {
    try (var in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      var user = new UUID(in.readLong(), in.readLong());
      var changes = new ArrayList<ItemChange>();
      int count = in.readInt();
      for (int i = 0; i < count; i++) changes.add(change(in));
      return new CommitRequest(user, changes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ItemChange change(DataInputStream in) throws IOException {
    long item = in.readLong();
    int version = in.readInt();
    var status = Status.valueOf(in.readUTF());
    long parent = in.readLong();
    String name = in.readUTF();
    boolean folder = in.readBoolean();
    String mime = in.readUTF();
    long size = in.readLong();
    long checksum = in.readLong();
    var chunks = new ArrayList<Chunk>();
    int count = in.readInt();
    for (int i = 0; i < count; i++) chunks.add(new Chunk(in.readUTF()));
    var modified = Instant.ofEpochMilli(in.readLong());
    var metadata =
        new Metadata(status, parent, name, folder, mime, size, checksum, chunks, modified);
    return new ItemChange(item, version, metadata);
  }
}
