package stoa.storage;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// An object as it was when the snapshot was made: the versions that it had then, whatever comes
/// later, also versions below the highest of them. Durable; it lasts until it is released.
///
/// Reading a snapshot that was released throws [IllegalStateException]. Thread-safe.
public final class ObjectSnapshot implements ObjectReader {
  private final VersionedObjects objects;
  private final StreamId id;
  private final long number;
  private final ObjectReads reads;

  ObjectSnapshot(VersionedObjects objects, StreamId id, long number) {
    this.objects = objects;
    this.id = id;
    this.number = number;
    this.reads = new ObjectReads(objects, id, number);
  }

  @Override
  public StreamId id() {
    return id;
  }

  /// A number that no other snapshot of the device has; newer ones have greater numbers.
  public long number() {
    return number;
  }

  /// Ends the promise: what only this snapshot sees may be reclaimed. Does nothing when it was
  /// released before.
  public void release() {
    objects.run(objects.release(id, number));
  }

  @Override
  public boolean exists() {
    return reads.exists();
  }

  @Override
  public long size() {
    return reads.size();
  }

  @Override
  public void read(long offset, ByteBuffer target) {
    reads.read(offset, target);
  }

  @Override
  public void history(long from, long to, HistoryVisitor visitor) {
    reads.history(from, to, visitor);
  }

  @Override
  public List<CoveredBytes> history() {
    return reads.history();
  }

  @Override
  public byte @Nullable [] attribute(String name) {
    return reads.attribute(name);
  }

  @Override
  public SortedMap<String, byte[]> attributes() {
    return reads.attributes();
  }

  @Override
  public VersionState versionState() {
    return reads.versionState();
  }

  @Override
  public String toString() {
    return "snapshot " + number + " of object " + id;
  }
}
