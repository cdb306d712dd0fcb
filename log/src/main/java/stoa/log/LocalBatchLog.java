package stoa.log;

import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import stoa.LogAddress;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.DiskFull;
import stoa.storage.segment.Commit;

/// The log of a store, or of a shard, with one replica: a batch is one commit of the storage device
/// and one sync, which several batches may share. That commit also materializes it, so the log
/// writes it once.
///
/// One owner proposes; other threads may read the streams, and sync. The caller's own thread writes
/// and syncs.
public final class LocalBatchLog implements BatchLog {
  private final Device device;
  private final Streams streams;
  private final Commit commit = new Commit();
  private final Encoder scratch = new Encoder(1024);
  private volatile Tail tail;
  private volatile long term;

  /// Opens the log on a device, and continues it.
  ///
  /// @throws stoa.Unavailable when the device is a replica's that has commands which it has not
  ///   applied; it states the remedy
  public LocalBatchLog(Device device) {
    this.device = device;
    ReplicaLog.requireApplied(device);
    this.streams = new Streams(device);
    this.tail = streams.tail();
    this.term = tail.term() + 1;
  }

  @Override
  public void append(Batch batch, Consumer<BatchOutcome> done) {
    done.accept(outcome(batch));
  }

  private BatchOutcome outcome(Batch batch) {
    BatchOutcome outcome = write(batch);
    if (!(outcome instanceof BatchOutcome.Committed)) return outcome;
    try {
      device.sync();
    } catch (RuntimeException failed) {
      return new BatchOutcome.Unknown(failed);
    }
    return outcome;
  }

  @Override
  public boolean syncsApart() {
    return device.keepsUnsynced();
  }

  @Override
  public void sync() {
    device.sync();
  }

  @Override
  public BatchOutcome write(Batch batch) {
    Tail before = tail;
    long epoch = batch.token().first().epoch();
    if (epoch != before.epoch()
        || batch.term() < before.term()
        || (batch.term() == before.term() && batch.sequence() <= before.sequence())) {
      return new BatchOutcome.Fenced(before.epoch());
    }
    streams.encode(batch, commit.clear(), scratch);
    try {
      device.appendReserved(commit);
    } catch (DiskFull full) {
      return new BatchOutcome.Refused(full);
    } catch (RuntimeException failed) {
      return new BatchOutcome.Unknown(failed);
    }
    long last = batch.token().first().counter() + batch.token().count() - 1;
    tail = new Tail(epoch, last, batch.term(), batch.sequence(), batch.nowMicros(), batch.note());
    return new BatchOutcome.Committed();
  }

  @Override
  public void makeRoom(long bytes) {
    device.makeRoom(bytes);
  }

  @Override
  public Function<StreamId, ByteObject> objects(Executor executor) {
    return id -> ByteObject.on(device, id);
  }

  @Override
  public void seal(long epoch) {
    Tail before = tail;
    if (epoch <= before.epoch()) return;
    var token = new Token(new LogAddress(epoch, before.counter() + 1), 1);
    Streams.encodeSeal(token, before.nowMicros(), before.note(), commit.clear(), scratch);
    device.appendReserved(commit);
    device.sync();
    tail = new Tail(epoch, before.counter() + 1, 0, 0, before.nowMicros(), before.note());
    term = 1;
  }

  @Override
  public long term() {
    return term;
  }

  @Override
  public void confirm() {
    // No other owner acknowledges anything.
  }

  @Override
  public Tail tail() {
    return tail;
  }

  @Override
  public Streams streams() {
    return streams;
  }

  @Override
  public void close() {
    device.close();
  }
}
