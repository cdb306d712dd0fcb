package stoa;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// A shared object that is a sparse space of bytes with named attributes. Many callers read and
/// write ranges of it at once (VOSD paper, section II).
///
/// ```java
/// Blob video = stoa.get(Blob.class, "films/42");
/// long version = video.write(4096, bytes);
/// byte[] part = video.read(0, 1 << 20);
/// ```
///
/// [Stoa#get], [Stoa#create], [Stoa#find], [Stoa#list], [Stoa#ref] and [Stoa#delete] treat a blob
/// like other shared objects. The first write, or the first [#begin()], creates it. It has no
/// constructor arguments. A deleted blob is [Gone], and the store frees its bytes, attributes and
/// snapshots. As an argument, an answer, or a field of another shared object, a blob travels as its
/// reference.
///
/// # Versions
///
/// Every write makes a version. The first version of a blob is 1, and each later one has the next
/// number (a write that found the disk full may leave its number out). A write gets its version
/// together with its place in the store's log. The log becomes durable and visible from its
/// beginning on, so versions become visible in their order: a reader that has seen version 7 sees
/// every version up to 7 from then on. A write that has returned is durable, and every read that
/// begins afterwards sees it. A write that begins afterwards has a higher version. So operations on
/// one blob are linearizable. At every byte, readers see the highest version that wrote it.
///
/// Callers may choose the versions instead, for all writes of a blob ([#begin(long)]; VOSD paper,
/// section II-B). Such writes may come in any order, with gaps, and more than once: at every byte
/// the highest version that wrote it is visible, so blobs with the same versions have the same
/// bytes. A caller that got [UnknownOutcome] simply repeats the write under its version.
///
/// A write is not a logged call. The storage device stores its bytes once, outside the history of
/// calls, and no caller waits for another's range. Overwritten bytes are gone, unless a
/// [#snapshot()] keeps them. [Stoa#history] and [Stoa#async] refuse blobs; use the methods here.
///
/// # Inside other shared objects
///
/// A method of a shared object may keep, pass on and answer a blob. It cannot read or write one:
/// the log of the call would not contain the bytes, so a replay would see others. A class that does
/// so is [NotShareable] where its bytecode shows it; otherwise the call throws
/// [IllegalStateException]. Read and write in the caller, and pass the method what it needs.
///
/// Thread-safe. Beside the exceptions of [BlobReader], methods that write throw [Unavailable] when
/// the disk is full or has failed (they wrote nothing), [UnknownOutcome] when the disk failed
/// during the call, and [LimitExceeded] when more than [Limits#queuedCallsMax()] calls are in
/// progress.
public interface Blob extends BlobReader {
  /// Writes bytes at an offset. They are durable and visible on return.
  ///
  /// @return the version
  /// @throws LimitExceeded when there are more than [Limits#blobBytesMax()] bytes; write them in
  ///   several parts of one [#begin()]
  /// @throws IllegalArgumentException when the range is not within the valid offsets
  long write(long offset, byte[] bytes);

  /// Writes the remaining bytes of `bytes` at an offset; as [#write(long, byte[])].
  long write(long offset, ByteBuffer bytes);

  /// Begins to write the remaining bytes of `bytes` at an offset. The future completes with the
  /// version when they are durable and visible. The caller must not change them before. Writes that
  /// one thread begins in this way get versions in the order of their beginning. Waits only while
  /// more than 64 MiB are in progress.
  CompletableFuture<Long> writeAsync(long offset, ByteBuffer bytes);

  /// Removes all bytes from `size` on. It never makes the blob longer.
  ///
  /// @return the version
  /// @throws IllegalArgumentException when the size is negative
  long truncate(long size);

  /// Sets an attribute.
  ///
  /// @param name 1 to 255 bytes in UTF-8
  /// @param value at most 64 KiB
  /// @return the version
  /// @throws IllegalArgumentException when name or value is too long, or the name contains half of
  ///   a surrogate pair
  long attribute(String name, byte[] value);

  /// Removes an attribute.
  ///
  /// @return the version
  long removeAttribute(String name);

  /// Begins a write of several ranges and attributes that become visible at once, as one version.
  ///
  /// @throws LimitExceeded when 65,536 writes are open in the store
  BlobWrite begin();

  /// Begins a write whose version the caller chooses. When the blob has this version already, its
  /// commit changes nothing. Where bytes, or an attribute, have a higher version, they keep it.
  ///
  /// @param version from 1 to 2^63 - 2; different writes need different ones
  /// @throws LimitExceeded when 65,536 writes are open in the store
  BlobWrite begin(long version);

  /// Writes bytes at an offset under a version that the caller chooses: [#begin(long)], the write
  /// and its commit.
  default void write(long version, long offset, byte[] bytes) {
    try (BlobWrite write = begin(version)) {
      write.write(offset, bytes);
      var _ = write.commit();
    }
  }

  /// Counts versions as written, without writing: for writes that never come, or whose bytes are
  /// hidden by higher versions. A later write under one of these versions changes nothing.
  ///
  /// @throws LimitExceeded when there are more than 65,536 ranges
  void skip(BlobVersions versions);

  /// Brings this blob up to date with another one whose callers choose the versions, in any store:
  /// copies the bytes of the versions that this one lacks, each under its version, and counts the
  /// others as written. Attributes are not copied. It takes a snapshot of the other blob meanwhile.
  /// After an exception, what was copied is right, and another call goes on.
  ///
  /// @return the versions that this one lacked
  /// @throws IllegalStateException when the other blob has no version
  /// @throws LimitExceeded when the versions to copy have more than 1,048,576 extents
  BlobVersions copyMissing(Blob from);

  /// Replaces all bytes by those of a stream, to its end, as one version. Takes some mebibytes of
  /// memory. Attributes stay.
  ///
  /// @return the version
  /// @throws IOException when the stream throws it; then the blob is unchanged
  long copyFrom(InputStream from) throws IOException;

  /// Keeps the blob as it is now, until the snapshot is released.
  ///
  /// @throws IllegalStateException when the blob has no version yet
  /// @throws LimitExceeded when it has 64 snapshots; release some
  BlobSnapshot snapshot();

  /// Returns the snapshots that were not released, oldest first.
  List<BlobSnapshot> snapshots();

  /// Returns the snapshot of a version.
  ///
  /// @throws TooOld when there is none
  BlobSnapshot at(long version);
}
