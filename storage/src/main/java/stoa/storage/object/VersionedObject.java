package stoa.storage.object;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import stoa.base.StreamId;

/// An object of a device: a sparse space of bytes and named attributes, written in versions that
/// the caller chooses (VOSD paper, section II).
///
/// Versions may come in any order, with gaps, and more than once: at every byte, and for every
/// attribute, the highest version that wrote it is the visible one. So two objects that were given
/// the same versions are the same, whatever the order was.
///
/// This is a name: it costs nothing, and the object need not exist. An object comes into being with
/// its first version. Thread-safe.
public final class VersionedObject extends ObjectReader {
  private final VersionedObjects objects;

  public VersionedObject(VersionedObjects objects, StreamId id) {
    super(new ObjectReads(objects, id, ObjectReads.NOW));
    this.objects = objects;
  }

  /// Begins to write a version. Any number of transactions may be open at once, on one object too,
  /// up to 65,536 on a device. An open one keeps space from being reclaimed.
  ///
  /// @param version at least 1
  public WriteTransaction begin(long version) {
    VersionedObjects.requireVersion(version);
    return objects.begin(this, version);
  }

  /// Begins to write the version that is next when it is committed: for an object whose versions
  /// are all given by this device. So the order of versions is that in which they become visible.
  public WriteTransaction begin() {
    return objects.begin(this, VersionedObjects.NEXT);
  }

  /// Writes the remaining bytes of `data` at `offset` as a version of its own: durable and visible
  /// on return. Answers whether it changed the object; when not, this version was applied before.
  ///
  /// @throws IllegalArgumentException when the version is below 1, or the bytes end beyond the
  ///   greatest offset
  /// @throws stoa.storage.disk.DiskFull when nothing was written
  /// @throws stoa.storage.disk.DeviceFailed when the outcome is unknown until the device is opened
  ///   again
  public boolean write(long version, long offset, ByteBuffer data) {
    VersionedObjects.requireVersion(version);
    return objects.run(objects.write(id(), version, offset, data));
  }

  /// Begins to do what [#write(long, long, ByteBuffer)] does; it is done when the answer completes.
  /// The bytes must not change before. Waits only while more than 64 MiB are under way.
  public CompletableFuture<Boolean> writeAsync(long version, long offset, ByteBuffer data) {
    VersionedObjects.requireVersion(version);
    return objects.submit(objects.write(id(), version, offset, data)).copy();
  }

  /// Writes the remaining bytes of `data` at `offset` as the next version, and answers which: for
  /// an object whose versions are all given by this device.
  public long write(long offset, ByteBuffer data) {
    var write = objects.write(id(), VersionedObjects.NEXT, offset, data);
    objects.run(write);
    return write.version();
  }

  /// As [#write(long, ByteBuffer)], and takes of the room that is kept for what makes room: for
  /// notes of what is being deleted.
  public void note(long offset, ByteBuffer data) {
    objects.runReserved(objects.write(id(), VersionedObjects.NEXT, offset, data));
  }

  /// Begins to do what [#write(long, ByteBuffer)] does; it is done when the answer completes. The
  /// bytes must not change before. Waits only while more than 64 MiB are under way.
  public CompletableFuture<Long> writeAsync(long offset, ByteBuffer data) {
    var write = objects.write(id(), VersionedObjects.NEXT, offset, data);
    return objects.submit(write).thenApply(changed -> write.version());
  }

  /// The least version above all that were applied, and those of open transactions. A [#write(long,
  /// long, ByteBuffer)] that is under way may not be counted yet.
  public long nextVersion() {
    long open = objects.highestOpen(id());
    return 1 + Math.max(open, reads().highest());
  }

  /// Sends what a peer lacks that has the versions of `peer`: the bytes and attributes of those
  /// versions as far as they are visible here, and the numbers of all of them. With
  /// [VersionState#EMPTY] that is the whole object. Sees one moment; space is not reclaimed
  /// meanwhile.
  ///
  /// @throws IOException when `to` does
  public void updatesMissingFrom(VersionState peer, OutputStream to) throws IOException {
    new UpdateWriter(objects, id()).write(peer, to);
  }

  /// Sends what a peer lacks as [#updatesMissingFrom(VersionState, OutputStream)] does, and the
  /// snapshots that it has not: all of one moment, for [#applyAll].
  ///
  /// @param kept the numbers of the snapshots that the peer has; its versions are not beyond what
  ///   the others see
  /// @throws IOException when `to` does
  public void updatesMissingFrom(VersionState peer, Set<Long> kept, OutputStream to)
      throws IOException {
    new UpdateWriter(objects, id()).writeAll(peer, kept, to);
  }

  /// Brings this object level with the one that `updates` was sent by, with its snapshots. What an
  /// end that came too early left is right, and may be gone on from.
  ///
  /// @throws IOException as [#apply] does, and when this object has a version that a snapshot that
  ///   is sent has not: then it is to be deleted here, and sent as a whole
  public void applyAll(InputStream updates) throws IOException {
    var in = new DataInputStream(updates);
    for (long number = in.readLong(); number != 0; number = in.readLong()) {
      long highest = in.readLong();
      if (versionState().highest() > highest) {
        throw new IOException("snapshot %d of object %s comes too late".formatted(number, id()));
      }
      apply(in);
      keep(number);
    }
    apply(in);
  }

  /// Brings this object level with the one that `updates` was sent by: visible at once and durable
  /// on return. Applying updates twice, or older ones, changes nothing. Reads to the end of the
  /// updates, not of the stream.
  ///
  /// @throws IOException when `updates` does, or ends too early
  /// @throws IllegalArgumentException when these are no updates, or damaged ones; then nothing was
  ///   changed
  public void apply(InputStream updates) throws IOException {
    new UpdateReader(objects, this).read(updates);
  }

  /// Promises to keep the object as it is now until the snapshot is released. It costs what is
  /// overwritten later. At most 64 of an object.
  ///
  /// @throws IllegalStateException when the object does not exist, or has too many snapshots
  public ObjectSnapshot snapshot() {
    var note = objects.snapshot(id(), 0);
    objects.run(note);
    return new ObjectSnapshot(objects, id(), note.position());
  }

  /// Makes a snapshot under a number of the caller's, as [#snapshot()] does. Answers whether there
  /// was none of this number. All snapshots of an object get their numbers from the device, or all
  /// from the caller, who never gives one twice, and newer ones greater numbers.
  ///
  /// @throws IllegalStateException when the object does not exist, or has too many snapshots
  public boolean keep(long number) {
    if (number < 1) throw new IllegalArgumentException("snapshot " + number + "; the least is 1");
    return objects.run(objects.snapshot(id(), number));
  }

  /// The snapshot of a number, see [ObjectSnapshot#number()]. Nothing is looked up: where it was
  /// released, or never was, that is how it behaves.
  public ObjectSnapshot snapshot(long number) {
    if (number < 1) throw new IllegalArgumentException("snapshot " + number + "; the least is 1");
    return new ObjectSnapshot(objects, id(), number);
  }

  /// The snapshots that are kept, oldest first.
  public List<ObjectSnapshot> snapshots() {
    var result = new ArrayList<ObjectSnapshot>();
    for (long number : reads().snapshots()) result.add(new ObjectSnapshot(objects, id(), number));
    return List.copyOf(result);
  }

  /// Deletes the object: its bytes, its attributes and the memory of its versions. Transactions
  /// that are open on it can not be committed any more. Answers whether it existed.
  ///
  /// @throws IllegalStateException when it has snapshots
  public boolean delete() {
    return objects.run(objects.deletion(id()));
  }

  /// What the object amounts to. Takes time in proportion to its extents.
  public ObjectStat stat() {
    return reads().stat();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof VersionedObject object
        && object.objects == objects
        && object.id().equals(id());
  }

  @Override
  public int hashCode() {
    return id().hashCode();
  }

  @Override
  public String toString() {
    return "object " + id();
  }
}
