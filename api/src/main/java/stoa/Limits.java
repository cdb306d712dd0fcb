package stoa;

import java.time.Duration;
import java.util.function.Consumer;

/// The bounds within which a store works. The store refuses what exceeds one with [LimitExceeded]
/// before it logs anything, except where a component says otherwise.
///
/// @param callTimeMax how long one method may run, and a caller waits; a logged verdict takes back
///   a longer call, and its object returns to the state before it. The thread of a call that never
///   returns is lost until the program ends
/// @param callBytesMax the encoded size of one call's arguments, or of its answer
/// @param queuedCallsMax accepted calls without an answer, over the whole store
/// @param residentBytesMax the encoded size of the objects in memory, of which a quarter is for
///   their past and for local and cached views; idle objects beyond it leave memory. In the client
///   of a server, the encoded size of the states for such views
/// @param memoryBytesMax the size of a `memory:` store's log, which holds the objects and blobs,
///   and of their past what [Keep] says. A full store reclaims what it does not need, and refuses a
///   call for which there is still no room with [Unavailable] before it logs the call. It keeps a
///   sixteenth for deletions and trims
/// @param diskBytesMax the bytes that the log and the index of a store in files may have on the
///   disk; of a store of several groups, those of each group at the server that leads it. A store
///   at this limit refuses as one on a full disk does. It keeps the last 128 MiB, or a third when
///   that is less, for deletions and trims
/// @param blobBytesMax the bytes of one read or write of a [Blob]; a [BlobWrite] makes one version
///   of any number of writes
/// @param nestingMax how deep calls of objects on objects may go
/// @param transactionObjectsMax how many objects a transaction reads and writes
/// @param transactionBytesMax the encoded size of a transaction's calls that are not accessors,
///   with the answers to their nested calls
/// @param closeTimeMax how long [Stoa#close()] waits for calls in progress
public record Limits(
    Duration callTimeMax,
    int callBytesMax,
    int queuedCallsMax,
    long residentBytesMax,
    long memoryBytesMax,
    long diskBytesMax,
    int blobBytesMax,
    int nestingMax,
    int transactionObjectsMax,
    int transactionBytesMax,
    Duration closeTimeMax) {

  /// Returns the limits of a store that is opened by its URL alone, given the memory of this JVM.
  public static Limits standard() {
    long heap = Runtime.getRuntime().maxMemory();
    return new Limits(
        Duration.ofSeconds(10),
        4 << 20,
        100_000,
        heap / 8,
        heap / 3,
        Long.MAX_VALUE,
        64 << 20,
        64,
        65_536,
        16 << 20,
        Duration.ofSeconds(10));
  }

  public Limits {
    positive("callTimeMax", callTimeMax.toMillis());
    positive("callBytesMax", callBytesMax);
    positive("queuedCallsMax", queuedCallsMax);
    positive("residentBytesMax", residentBytesMax);
    positive("memoryBytesMax", memoryBytesMax);
    positive("diskBytesMax", diskBytesMax);
    positive("blobBytesMax", blobBytesMax);
    positive("nestingMax", nestingMax);
    positive("transactionObjectsMax", transactionObjectsMax);
    positive("transactionBytesMax", transactionBytesMax);
    positive("closeTimeMax", closeTimeMax.toMillis());
  }

  /// These limits with another [#callTimeMax()].
  public Limits withCallTimeMax(Duration value) {
    return with(changed -> changed.callTimeMax = value);
  }

  /// These limits with another [#callBytesMax()].
  public Limits withCallBytesMax(int value) {
    return with(changed -> changed.callBytesMax = value);
  }

  /// These limits with another [#queuedCallsMax()].
  public Limits withQueuedCallsMax(int value) {
    return with(changed -> changed.queuedCallsMax = value);
  }

  /// These limits with another [#residentBytesMax()].
  public Limits withResidentBytesMax(long value) {
    return with(changed -> changed.residentBytesMax = value);
  }

  /// These limits with another [#memoryBytesMax()].
  public Limits withMemoryBytesMax(long value) {
    return with(changed -> changed.memoryBytesMax = value);
  }

  /// These limits with another [#diskBytesMax()].
  public Limits withDiskBytesMax(long value) {
    return with(changed -> changed.diskBytesMax = value);
  }

  /// These limits with another [#blobBytesMax()].
  public Limits withBlobBytesMax(int value) {
    return with(changed -> changed.blobBytesMax = value);
  }

  /// These limits with another [#nestingMax()].
  public Limits withNestingMax(int value) {
    return with(changed -> changed.nestingMax = value);
  }

  /// These limits with another [#transactionObjectsMax()].
  public Limits withTransactionObjectsMax(int value) {
    return with(changed -> changed.transactionObjectsMax = value);
  }

  /// These limits with another [#transactionBytesMax()].
  public Limits withTransactionBytesMax(int value) {
    return with(changed -> changed.transactionBytesMax = value);
  }

  /// These limits with another [#closeTimeMax()].
  public Limits withCloseTimeMax(Duration value) {
    return with(changed -> changed.closeTimeMax = value);
  }

  private Limits with(Consumer<Builder> change) {
    var changed = new Builder(this);
    change.accept(changed);
    return changed.build();
  }

  private static final class Builder {
    private Duration callTimeMax;
    private int callBytesMax;
    private int queuedCallsMax;
    private long residentBytesMax;
    private long memoryBytesMax;
    private long diskBytesMax;
    private int blobBytesMax;
    private int nestingMax;
    private int transactionObjectsMax;
    private int transactionBytesMax;
    private Duration closeTimeMax;

    private Builder(Limits from) {
      callTimeMax = from.callTimeMax;
      callBytesMax = from.callBytesMax;
      queuedCallsMax = from.queuedCallsMax;
      residentBytesMax = from.residentBytesMax;
      memoryBytesMax = from.memoryBytesMax;
      diskBytesMax = from.diskBytesMax;
      blobBytesMax = from.blobBytesMax;
      nestingMax = from.nestingMax;
      transactionObjectsMax = from.transactionObjectsMax;
      transactionBytesMax = from.transactionBytesMax;
      closeTimeMax = from.closeTimeMax;
    }

    private Limits build() {
      return new Limits(
          callTimeMax,
          callBytesMax,
          queuedCallsMax,
          residentBytesMax,
          memoryBytesMax,
          diskBytesMax,
          blobBytesMax,
          nestingMax,
          transactionObjectsMax,
          transactionBytesMax,
          closeTimeMax);
    }
  }

  private static void positive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " is " + value + "; it must be positive");
    }
  }
}
