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

  /// Releases the snapshot: the device may reclaim the bytes that only it sees. Does nothing when
  /// it was released before.
  public void release() {
    objects.run(objects.release(id(), number));
  }

  @Override
  public String toString() {
    return "snapshot " + number + " of object " + id();
  }
}
