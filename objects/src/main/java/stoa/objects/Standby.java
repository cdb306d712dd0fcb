package stoa.objects;

import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.base.Key;
import stoa.log.Batch;
import stoa.log.ByteObject;
import stoa.log.Streams;
import stoa.storage.Device;
import stoa.store.Store;
import stoa.store.replicas.Divergence;
import stoa.store.replicas.FollowerWork;
import stoa.store.replicas.KeyNames;
import stoa.store.threads.Threads;

/// The objects of a store at a replica that does not lead. It executes the leader's calls and makes
/// the same checkpoints, so that this replica can lead at once, and it finds the objects whose
/// class is not deterministic. Thread-safe.
///
/// No client calls its objects, and they call no other objects: the log has the answers that they
/// need. It writes checkpoints to the replica's device, and nothing else.
public final class Standby implements FollowerWork {
  /*
   * The log has the names of the classes. The standby creates the service when the log has a
   * call to execute: the leader has logged the names of its classes before.
   */
  private final StoaConfig config;
  private final Device device;
  private final Clock clock;
  private final Threads threads;
  private final Part part;
  private final Store store;
  private final FollowerWork following;
  private final ReentrantLock making = new ReentrantLock();
  private @Nullable LocalService stoa; // guarded by making

  Standby(
      StoaConfig config,
      Device device,
      Streams streams,
      Clock clock,
      Threads threads,
      Part part,
      Consumer<Divergence> told) {
    this.config = config;
    this.device = device;
    this.clock = clock;
    this.threads = threads;
    this.part = part;
    store = Store.following(LocalService.bounds(config.limits()), streams, clock, threads);
    Sessions.executed(store);
    TreeChildren.executed(store);
    long bytesMax = config.limits().residentBytesMax();
    following = store.compare(threads, new Classes(), bytesMax, told);
  }

  @Override
  public void applied(Batch batch) {
    following.applied(batch);
  }

  @Override
  public Progress progress() {
    return following.progress();
  }

  /// Stops, and ends its threads. On return it writes nothing more to the device, which stays open.
  @Override
  public void close() {
    following.close();
  }

  /// Returns the service, with all classes that the log names.
  private LocalService stoa() {
    making.lock();
    try {
      LocalService known = stoa;
      if (known == null) {
        known =
            new LocalService(
                config,
                store,
                List.of(device),
                id -> ByteObject.on(device, id),
                "a replica that follows has no blobs",
                clock,
                threads,
                part);
        stoa = known;
      } else {
        known.catalog().learnNames();
      }
      return known;
    } finally {
      making.unlock();
    }
  }

  private final class Classes implements KeyNames {
    @Override
    public Key key(String space, byte[] name) {
      return stoa().catalog().key(space, name);
    }

    @Override
    public String method(Key key, byte[] value) {
      return stoa().catalog().methodOf(key, value);
    }
  }
}
