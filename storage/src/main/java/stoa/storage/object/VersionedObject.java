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
/// attribute, the highest version that wrote it is the visible one. So two objects with the same
/// versions are the same, whatever the order of the writes.
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
  /// up to a limit for the device. While one is open, the device reclaims no space that was written
  /// since its first part; the device aborts one that keeps too much in this way. See
  /// [DeviceConfig#transactions()][stoa.storage.disk.DeviceConfig#transactions()].
  ///
  /// @param version at least 1
  /// @throws IllegalStateException when too many are open
  public WriteTransaction begin(long version) {
    VersionedObjects.requireVersion(version);
    return objects.begin(this, version);
  }

  /// Begins to write a version whose number the commit determines, the next one: for an object
  /// whose versions are all assigned by this device. So versions become visible in their order.
  public WriteTransaction begin() {
    return objects.begin(this, VersionedObjects.NEXT);
  }

  /// Writes the remaining bytes of `data` at `offset` as a version of its own: durable and visible
  /// on return. Returns whether it changed the object; if not, this version was applied before.
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

  /// Begins a [#write(long, long, ByteBuffer)], which is done when the future completes. The bytes
  /// must not change before. Waits only while writes of more than 64 MiB are in progress.
  public CompletableFuture<Boolean> writeAsync(long version, long offset, ByteBuffer data) {
    VersionedObjects.requireVersion(version);
    return objects.submit(objects.write(id(), version, offset, data)).copy();
  }

  /// Writes the remaining bytes of `data` at `offset` as the next version, and returns its number:
  /// for an object whose versions are all assigned by this device.
  public long write(long offset, ByteBuffer data) {
    var write = objects.write(id(), VersionedObjects.NEXT, offset, data);
    objects.run(write);
    return write.version();
  }

  /// Writes like [#write(long, ByteBuffer)], and may use the reserved room: for notes about a
  /// deletion.
  public void note(long offset, ByteBuffer data) {
    objects.runReserved(objects.write(id(), VersionedObjects.NEXT, offset, data));
  }

  /// Begins a [#write(long, ByteBuffer)], which is done when the future completes. The bytes must
  /// not change before. Waits only while writes of more than 64 MiB are in progress.
  public CompletableFuture<Long> writeAsync(long offset, ByteBuffer data) {
    var write = objects.write(id(), VersionedObjects.NEXT, offset, data);
    return objects.submit(write).thenApply(changed -> write.version());
  }

  /// Counts versions as applied, without writing anything: for writes that never come, or whose
  /// bytes are hidden. A later write of one of them changes nothing. Durable on return. Returns
  /// whether it changed the object.
  ///
  /// @throws IllegalArgumentException when there is no version
  public boolean skip(VersionState versions) {
    if (versions.highest() == 0) throw new IllegalArgumentException("there is no version to skip");
    return objects.run(objects.skip(id(), versions));
  }

  /// Returns the least version above all applied ones and those of open transactions. A
  /// [#write(long, long, ByteBuffer)] in progress may not count yet.
  public long nextVersion() {
    long open = objects.highestOpen(id());
    return 1 + Math.max(open, reads().highest());
  }

  /// Sends the updates that a peer with the versions of `peer` lacks: the bytes and attributes of
  /// the other versions as far as they are visible here, and the numbers of all of them. With
  /// [VersionState#EMPTY] that is the whole object. It sees one moment; the device reclaims no
  /// space meanwhile.
  ///
  /// @throws IOException when `to` does
  public void updatesMissingFrom(VersionState peer, OutputStream to) throws IOException {
    new UpdateWriter(objects, id()).write(peer, to);
  }

  /// Sends the missing updates like [#updatesMissingFrom(VersionState, OutputStream)], and the
  /// snapshots that the peer lacks: all of one moment, for [#applyAll].
  ///
  /// @param kept the numbers of the snapshots that the peer has; its versions are not beyond those
  ///   of the other snapshots
  /// @throws IOException when `to` does
  public void updatesMissingFrom(VersionState peer, Set<Long> kept, OutputStream to)
      throws IOException {
    new UpdateWriter(objects, id()).writeAll(peer, kept, to);
  }

  /// Brings this object up to date with the sender of `updates`, and its snapshots too. If the
  /// updates end too early, the applied ones are correct, and may be continued.
  ///
  /// @throws IOException as [#apply] does, and when this object has a version that a sent snapshot
  ///   lacks: then delete the object here, and send it as a whole
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

  /// Brings this object up to date with the sender of `updates`: visible at once and durable on
  /// return. Applying updates twice, or older ones, changes nothing. Reads to the end of the
  /// updates, not of the stream.
  ///
  /// @throws IOException when `updates` does, or ends too early
  /// @throws IllegalArgumentException when the bytes are no updates, or damaged ones; then nothing
  ///   has changed
  public void apply(InputStream updates) throws IOException {
    new UpdateReader(objects, this).read(updates);
  }

  /// Takes a snapshot, which keeps the present state of the object until its release. It costs the
  /// space of later overwritten bytes. At most 64 of an object.
  ///
  /// @throws IllegalStateException when the object does not exist, or has too many snapshots
  public ObjectSnapshot snapshot() {
    var note = objects.snapshot(id(), 0);
    objects.run(note);
    return new ObjectSnapshot(objects, id(), note.position());
  }

  /// Takes a snapshot under the caller's number, like [#snapshot()]. Returns whether there was none
  /// of this number. Either the device assigns the numbers of all snapshots of an object, or the
  /// caller does. A caller never uses a number twice, and gives newer snapshots greater numbers.
  ///
  /// @throws IllegalStateException when the object does not exist, or has too many snapshots
  public boolean keep(long number) {
    if (number < 1) throw new IllegalArgumentException("snapshot " + number + "; the least is 1");
    return objects.run(objects.snapshot(id(), number));
  }

  /// Returns the snapshot of a number, see [ObjectSnapshot#number()]. This looks nothing up: a
  /// missing snapshot behaves like a released one.
  public ObjectSnapshot snapshot(long number) {
    if (number < 1) throw new IllegalArgumentException("snapshot " + number + "; the least is 1");
    return new ObjectSnapshot(objects, id(), number);
  }

  /// Returns the snapshots, oldest first.
  public List<ObjectSnapshot> snapshots() {
    var result = new ArrayList<ObjectSnapshot>();
    for (long number : reads().snapshots()) result.add(new ObjectSnapshot(objects, id(), number));
    return List.copyOf(result);
  }

  /// Deletes the object: its bytes, its attributes and the memory of its versions. Open
  /// transactions on it can no longer commit. Returns whether it existed.
  ///
  /// @throws IllegalStateException when it has snapshots
  public boolean delete() {
    return objects.run(objects.deletion(id()));
  }

  /// Returns the size of the object. Takes time in proportion to its extents.
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
