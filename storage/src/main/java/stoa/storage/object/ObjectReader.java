package stoa.storage.object;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// A readable versioned object: its present state, or a snapshot of it.
///
/// A read sees every transaction whose commit had returned when the read began, each whole or not
/// at all, and no change that a power loss could undo. It waits for no writer (VOSD paper, section
/// II-D, where overlapping reads are undefined; here one call sees one moment). An object that does
/// not exist reads as empty. Thread-safe.
public abstract sealed class ObjectReader permits VersionedObject, ObjectSnapshot {
  private final ObjectReads reads;

  ObjectReader(ObjectReads reads) {
    this.reads = reads;
  }

  final ObjectReads reads() {
    return reads;
  }

  /// Returns the id of the object.
  public final StreamId id() {
    return reads.id();
  }

  /// Returns whether the object has any version.
  public final boolean exists() {
    return reads.exists();
  }

  /// Returns the end of the last byte of data; 0 when there is none.
  public final long size() {
    return reads.size();
  }

  /// Fills the remaining room of `target` with the bytes from `offset` on. Bytes that were never
  /// written, were truncated or lie beyond the end read as zero.
  ///
  /// @throws stoa.storage.disk.CorruptData when stored bytes are damaged; the message names the
  ///   file and the position. The contents of `target` are then undefined; other bytes stay
  ///   readable
  /// @throws stoa.storage.disk.ReadFailed when the disk cannot be read
  public final void read(long offset, ByteBuffer target) {
    reads.read(offset, target);
  }

  /// Begins a [#read(long, ByteBuffer)], which is done when the future completes: with nothing, or
  /// with the exception of a read. The caller must not use the target before. The read sees what is
  /// visible when it is done, at least what was when it began. Some threads of the device read, or
  /// its executor; when 1,024 reads wait for these, the caller's thread does its own. So dependent
  /// actions may read too.
  ///
  /// @throws IllegalArgumentException when the bytes end beyond the greatest offset
  public final CompletableFuture<Void> readAsync(long offset, ByteBuffer target) {
    return reads.readAsync(offset, target);
  }

  /// Returns the `length` bytes from `offset` on, like [#read(long, ByteBuffer)].
  public final byte[] read(long offset, int length) {
    var bytes = new byte[length];
    read(offset, ByteBuffer.wrap(bytes));
    return bytes;
  }

  /// Visits the extents between `from` and `to`, `to` excluded, with the version that covers each,
  /// in ascending order, until the visitor returns false (VOSD paper, section II-B, the history).
  /// It leaves out bytes that no version covers.
  public final void history(long from, long to, HistoryVisitor visitor) {
    reads.history(from, to, visitor);
  }

  /// Returns all extents of [#history(long, long, HistoryVisitor)]. For an object with many extents
  /// prefer the visitor.
  public final List<CoveredBytes> history() {
    return reads.history();
  }

  /// Returns the value of an attribute, or null when there is none of this name.
  public final byte @Nullable [] attribute(String name) {
    return reads.attribute(name);
  }

  /// Returns all attributes by name.
  public final SortedMap<String, byte[]> attributes() {
    return reads.attributes();
  }

  /// Returns the visible versions.
  public final VersionState versionState() {
    return reads.versionState();
  }

  /// Receives the extents of an object in order.
  @FunctionalInterface
  public interface HistoryVisitor {
    /// Receives one extent; returns whether to go on.
    boolean visit(CoveredBytes extent);
  }

  /// Bytes that one version covers.
  ///
  /// @param offset the first byte
  /// @param length the number of bytes; up to the end of all offsets after a truncation
  /// @param version the version whose write is visible there
  /// @param content whether the version wrote data or removed it
  public record CoveredBytes(long offset, long length, long version, Content content) {}

  /// The effect of a version on some bytes.
  public enum Content {
    /// Data was written.
    DATA,
    /// Data was removed; the bytes read as zero.
    HOLE
  }
}
