package stoa.storage.object;

import stoa.base.StreamId;

/// An object as it was when the snapshot was made: the versions that it had then, whatever comes
/// later, also versions below the highest of them. Durable; it lasts until it is released.
///
/// Reading a snapshot that was released throws [IllegalStateException]. Thread-safe.
public final class ObjectSnapshot extends ObjectReader {
  private final VersionedObjects objects;
  private final long number;

  ObjectSnapshot(VersionedObjects objects, StreamId id, long number) {
    super(new ObjectReads(objects, id, number));
    this.objects = objects;
    this.number = number;
  }

  /// A number that no other snapshot of the device has; newer ones have greater numbers.
  public long number() {
    return number;
  }

  /// Ends the promise: what only this snapshot sees may be reclaimed. Does nothing when it was
  /// released before.
  public void release() {
    objects.run(objects.release(id(), number));
  }

  @Override
  public String toString() {
    return "snapshot " + number + " of object " + id();
  }
}
