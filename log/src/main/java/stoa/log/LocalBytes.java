package stoa.log;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.ObjectSnapshot;
import stoa.storage.object.VersionState;
import stoa.storage.object.VersionedObject;
import stoa.storage.object.WriteTransaction;

/// An object of a device that itself gives its versions. Thread-safe.
final class LocalBytes implements ByteObject {
  private final VersionedObject object;

  LocalBytes(VersionedObject object) {
    this.object = object;
  }

  @Override
  public ObjectReader now() {
    return object;
  }

  @Override
  public ObjectReader at(long number) {
    return object.snapshot(number);
  }

  @Override
  public List<ObjectSnapshot> snapshots() {
    return object.snapshots();
  }

  @Override
  public long write(long offset, ByteBuffer data) {
    return object.write(offset, data);
  }

  @Override
  public void note(long offset, ByteBuffer data) {
    object.note(offset, data);
  }

  @Override
  public CompletableFuture<Long> writeAsync(long offset, ByteBuffer data) {
    return object.writeAsync(offset, data);
  }

  @Override
  public ByteChange begin(long version) {
    return new LocalChange(version == 0 ? object.begin() : object.begin(version));
  }

  @Override
  public void skip(VersionState versions) {
    var _ = object.skip(versions);
  }

  @Override
  public long snapshot() {
    return object.snapshot().number();
  }

  @Override
  public void release(long number) {
    object.snapshot(number).release();
  }

  @Override
  public void delete() {
    for (ObjectSnapshot snapshot : object.snapshots()) snapshot.release();
    object.delete();
  }

  private record LocalChange(WriteTransaction transaction) implements ByteChange {
    @Override
    public void write(long offset, ByteBuffer data) {
      transaction.write(offset, data);
    }

    @Override
    public CompletableFuture<Void> writeAsync(long offset, ByteBuffer data) {
      return transaction.writeAsync(offset, data);
    }

    @Override
    public void truncate(long size) {
      transaction.truncate(size);
    }

    @Override
    public void attribute(String name, byte[] value) {
      transaction.attribute(name, value);
    }

    @Override
    public void removeAttribute(String name) {
      transaction.removeAttribute(name);
    }

    @Override
    public long commit() {
      transaction.commit();
      return transaction.version();
    }

    @Override
    public void close() {
      transaction.close();
    }
  }
}
