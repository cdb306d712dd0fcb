package stoa.log;

import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.segment.Commit;

/// The extents of one replica, of which only all replicas together release a part.
///
/// Checkpoints are derived data, and each replica's own.
final class ReplicatedExtents implements Extents {
  /// Tells all replicas what to release.
  interface Releases {
    void trim(StreamId stream, long before);

    void trimLog(long before);
  }

  /// For a replica at which no owner proposes.
  static final Releases NONE =
      new Releases() {
        @Override
        public void trim(StreamId stream, long before) {
          throw new IllegalStateException("only the leader of a group releases what is in it");
        }

        @Override
        public void trimLog(long before) {
          throw new IllegalStateException("only the leader of a group releases its log");
        }
      };

  private final Replica replica;
  private final Extents own;
  private final Releases releases;

  ReplicatedExtents(Replica replica, Releases releases) {
    this.replica = replica;
    this.own = replica.extents();
    this.releases = releases;
  }

  @Override
  public byte @Nullable [] read(StreamId stream, int space, long offset) {
    return own.read(stream, space, offset);
  }

  @Override
  public long floor(StreamId stream, int space, long offset) {
    return own.floor(stream, space, offset);
  }

  @Override
  public Device.@Nullable Extent readFloor(StreamId stream, int space, long offset) {
    return own.readFloor(stream, space, offset);
  }

  @Override
  public void scan(StreamId stream, int space, long from, long to, Device.ExtentVisitor visitor) {
    own.scan(stream, space, from, to, visitor);
  }

  @Override
  public void append(StreamId stream, Commit commit) {
    own.append(stream, commit);
  }

  @Override
  public void trim(StreamId stream, Trim trim) {
    releases.trim(stream, trim.oldest());
  }

  @Override
  public void release(StreamId stream, Trim trim) {
    replica.release(stream);
  }

  @Override
  public void trimLog(long before) {
    releases.trimLog(before);
  }

  @Override
  public long trimmedBefore(StreamId stream, int space) {
    return own.trimmedBefore(stream, space);
  }

  @Override
  public void sync() {
    // The release is in the order of all replicas, and durable there.
  }
}
