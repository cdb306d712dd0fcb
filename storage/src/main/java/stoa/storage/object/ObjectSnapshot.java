package stoa.storage.object;

import stoa.base.StreamId;

/// The state of an object when the snapshot was taken: the versions that it had then. Later
/// versions do not change it, even those below the highest of them. Durable; it lasts until its
/// release.
///
/// Reading a released snapshot throws [IllegalStateException]. Thread-safe.
public final class ObjectSnapshot extends ObjectReader {
  private final VersionedObjects objects;
  private final long number;

  ObjectSnapshot(VersionedObjects objects, StreamId id, long number) {
    super(new ObjectReads(objects, id, number));
    this.objects = objects;
    this.number = number;
  }

  /// Returns a number that no other snapshot of the device has; newer ones have greater numbers.
  public long number() {
    return number;
  }

  /// Makes an object that begins as this snapshot: with its bytes, attributes and versions, without
  /// copying bytes. From then on the two are independent: each takes the versions that it lacks,
  /// and at every byte the highest one is visible, whichever wrote it. Durable on return.
  ///
  /// A fork can be read, written, kept by snapshots and forked like any object. This snapshot lasts
  /// as long as its forks: their bytes are in it.
  ///
  /// @param id of the new object
  /// @throws IllegalStateException when an object with that id exists, the snapshot was released,
  ///   the object has 1,024 forks, or is the eighth object in a chain of forks
  public VersionedObject fork(StreamId id) {
    objects.run(objects.fork(id, id(), number));
    return new VersionedObject(objects, id);
  }

  /// Releases the snapshot: the device may reclaim the bytes that only it sees. Does nothing when
  /// it was released before.
  ///
  /// @throws IllegalStateException when it has forks; delete them first
  public void release() {
    objects.run(objects.release(id(), number));
  }

  @Override
  public String toString() {
    return "snapshot " + number + " of object " + id();
  }
}
