package stoa;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// A shared object that is a sparse space of bytes with named attributes, read and written in
/// ranges by many callers at once (VOSD paper, section II).
///
/// ```java
/// Blob video = stoa.get(Blob.class, "films/42");
/// long version = video.write(4096, bytes);
/// byte[] part = video.read(0, 1 << 20);
/// ```
///
/// [Stoa#get], [Stoa#create], [Stoa#find], [Stoa#list], [Stoa#ref] and [Stoa#delete] do with it
/// what they do with other shared objects: it comes to be with the first call that writes, or a
/// [#begin()]; it has no constructor arguments; a deleted one is [Gone], and its bytes, attributes
/// and snapshots are freed. Passed as an argument, answered, or kept in a field of another shared
/// object it travels as its reference.
///
/// # Versions
///
/// Every write makes a version: the first of a blob is 1, and each one after it the next number
/// (one that found the disk full may leave its number out). It is given where the write gets its
/// place in the store's log, and the log becomes durable, and is seen, from its beginning on. So
/// the order of versions is the order in which they come to be seen: who has seen version 7 sees
/// every version up to 7 from then on. A write that has returned is durable and seen by every read
/// that begins afterwards, and a write that begins afterwards has a higher version. In other words,
/// operations on one blob are linearizable. At every byte the highest version that wrote it is the
/// one that is seen.
///
/// A write is not a logged call. Its bytes are stored once, in the storage device, and not in the
/// history of calls, and no caller waits for another's range. Therefore what is overwritten is
/// gone, unless a [#snapshot()] keeps it; [Stoa#history] and [Stoa#async] are refused in favour of
/// the methods here.
///
/// # Inside other shared objects
///
/// A method of a shared object may keep, pass on and answer a blob. It cannot read or write one:
/// that is not logged with the call, so a replay would see other bytes. Such a class is
/// [NotShareable] where its bytecode shows it; else the call throws [IllegalStateException]. Do it
/// in the caller, and hand over what the method needs.
///
/// Thread-safe. Beside what [BlobReader] says, methods that write throw [Unavailable] when the disk
/// is full or has failed (nothing was written), [UnknownOutcome] when it failed during the call,
/// and [LimitExceeded] when more than [Limits#queuedCallsMax()] calls are under way.
public interface Blob extends BlobReader {
  /// Writes bytes at an offset: durable and seen on return.
  ///
  /// @return the version
  /// @throws LimitExceeded when there are more than [Limits#blobBytesMax()]; write them in several
  ///   parts of one [#begin()]
  /// @throws IllegalArgumentException when the range is not within the offsets
  long write(long offset, byte[] bytes);

  /// Writes the remaining bytes of `bytes` at an offset; as [#write(long, byte[])].
  long write(long offset, ByteBuffer bytes);

  /// Begins to write the remaining bytes of `bytes` at an offset; they are durable and seen when
  /// the answer completes, with the version. They must not change before. What one thread begins in
  /// this way gets versions in the order in which it was begun. Waits only while more than 64 MiB
  /// are under way.
  CompletableFuture<Long> writeAsync(long offset, ByteBuffer bytes);

  /// Takes away all bytes from `size` on. It never makes the blob longer.
  ///
  /// @return the version
  /// @throws IllegalArgumentException when the size is negative
  long truncate(long size);

  /// Sets an attribute.
  ///
  /// @param name 1 to 255 bytes in UTF-8
  /// @param value at most 64 KiB
  /// @return the version
  /// @throws IllegalArgumentException when name or value is too long, or the name holds half of a
  ///   surrogate pair
  long attribute(String name, byte[] value);

  /// Removes an attribute.
  ///
  /// @return the version
  long removeAttribute(String name);

  /// Begins a write of several ranges and attributes that are seen at once, as one version.
  ///
  /// @throws LimitExceeded when 65,536 are open in the store
  BlobWrite begin();

  /// Replaces all bytes by those of a stream, to its end, as one version. Takes memory for some
  /// mebibytes. Attributes stay.
  ///
  /// @return the version
  /// @throws IOException when the stream does; then nothing was changed
  long copyFrom(InputStream from) throws IOException;

  /// Promises to keep the blob as it is now.
  ///
  /// @throws IllegalStateException when the blob has no version yet
  /// @throws LimitExceeded when it has 64 snapshots; release some
  BlobSnapshot snapshot();

  /// The snapshots that are kept, oldest first.
  List<BlobSnapshot> snapshots();

  /// The snapshot that keeps a version.
  ///
  /// @throws TooOld when none does
  BlobSnapshot at(long version);
}
