package stoa.storage.object;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// A versioned object as it can be read: as it is now, or as a snapshot keeps it.
///
/// A read sees every transaction whose commit had returned when the read began, each whole or not
/// at all, and nothing that a power loss could take back. It waits for no writer (VOSD paper,
/// section II-D, where overlapping reads are undefined; here one call sees one moment). An object
/// that does not exist reads as empty. Thread-safe.
public abstract sealed class ObjectReader permits VersionedObject, ObjectSnapshot {
  private final ObjectReads reads;

  ObjectReader(ObjectReads reads) {
    this.reads = reads;
  }

  final ObjectReads reads() {
    return reads;
  }

  /// The id of the object.
  public final StreamId id() {
    return reads.id();
  }

  /// Whether the object has any version.
  public final boolean exists() {
    return reads.exists();
  }

  /// Where the last byte of data ends; 0 when there is none.
  public final long size() {
    return reads.size();
  }

  /// Fills the remaining room of `target` with the bytes from `offset` on. What was never written,
  /// was truncated or lies behind the end reads as zero.
  ///
  /// @throws stoa.storage.disk.CorruptData when stored bytes are not what was written; the message
  ///   names the file and the position. `target` then holds nothing to rely on, other bytes stay
  ///   readable
  /// @throws stoa.storage.disk.ReadFailed when the disk cannot be read
  public final void read(long offset, ByteBuffer target) {
    reads.read(offset, target);
  }

  /// The bytes from `offset` on, `length` of them; as [#read(long, ByteBuffer)].
  public final byte[] read(long offset, int length) {
    var bytes = new byte[length];
    read(offset, ByteBuffer.wrap(bytes));
    return bytes;
  }

  /// Visits which version covers which bytes between `from` and `to`, `to` excluded, in ascending
  /// order, until the visitor answers false (VOSD paper, section II-B, the history). Bytes that no
  /// version covers are left out.
  public final void history(long from, long to, HistoryVisitor visitor) {
    reads.history(from, to, visitor);
  }

  /// All that [#history(long, long, HistoryVisitor)] visits. Of an object with many extents prefer
  /// the visitor.
  public final List<CoveredBytes> history() {
    return reads.history();
  }

  /// The value of an attribute, or null when there is none of this name.
  public final byte @Nullable [] attribute(String name) {
    return reads.attribute(name);
  }

  /// All attributes by name.
  public final SortedMap<String, byte[]> attributes() {
    return reads.attributes();
  }

  /// Which versions are visible here.
  public final VersionState versionState() {
    return reads.versionState();
  }

  /// Receives the extents of an object in order.
  @FunctionalInterface
  public interface HistoryVisitor {
    /// One extent; answers whether to go on.
    boolean visit(CoveredBytes extent);
  }

  /// Bytes that one version covers.
  ///
  /// @param offset the first byte
  /// @param length how many; up to the end of all offsets for what a truncation took away
  /// @param version the version whose write is visible there
  /// @param content whether there is data, or the version took it away
  public record CoveredBytes(long offset, long length, long version, Content content) {}

  /// What a version left at some bytes.
  public enum Content {
    /// Data was written.
    DATA,
    /// Data was taken away; the bytes read as zero.
    HOLE
  }
}
