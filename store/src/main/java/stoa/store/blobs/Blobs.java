package stoa.store.blobs;

import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Closed;
import stoa.Corrupt;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Encoder;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.ByteObject;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceClosed;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DiskFull;
import stoa.storage.disk.StorageException;
import stoa.store.Store;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.Request;
import stoa.store.threads.Tasks;

/// The blobs of a store: keys whose values are bytes on the storage device. Callers write the bytes
/// there, and do not put them.
///
/// This is the primary of the blobs (VOSD paper, section II-E): [ByteObject] gives versions where
/// it writes. That is the device of a lone server, or the leader of replicas, which sends the
/// versions with the bytes. Thread-safe.
public final class Blobs {
  /*
   * The stream of a blob's key tells that the blob exists, as for every key: a put begins a
   * generation, and a deletion ends it. The bytes of each generation are a versioned object of the
   * device, whose id is a hash of key and generation. Bytes that were written to an earlier
   * generation are therefore never seen.
   *
   * Invariants:
   * (1) No thread writes to the object of a generation that is over. A writer is inside the gate of
   *     the key, and has seen from there that the generation is alive; a thread that deletes has
   *     closed the gate.
   * (2) A generation whose object has a version is alive, unless its deletion is in progress: a
   *     deletion is noted before it is logged, and the note goes when the object is gone. To see
   *     that a generation is alive, a look at the device therefore suffices. When the device has no
   *     version yet, or a note, the key's stream decides.
   * (3) A reader checks after it has read whether the generation is alive: then its bytes existed.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Blobs.class);
  private static final byte[] CREATION = {};

  private final Store store;
  private final Function<StreamId, ByteObject> objects;
  private final Tasks tasks;
  private final String space;
  private final Gates gates = new Gates();
  private final Deletions deletions;
  private volatile @Nullable StorageException failed;

  /// Creates the blobs of a store.
  ///
  /// @param objects returns the object of an id
  /// @param tasks run work for which callers do not wait
  /// @param space the space of the blobs' keys
  public Blobs(Store store, Function<StreamId, ByteObject> objects, Tasks tasks, String space) {
    this.store = store;
    this.objects = objects;
    this.tasks = tasks;
    this.space = space;
    this.deletions = new Deletions(object(StreamId.of("stoa/deletions of " + space)));
    store.register(space, BlobHandler.FACTORY);
  }

  /// Returns the space of the blobs' keys.
  public String space() {
    return space;
  }

  /// Ends the deletions that an earlier process has begun. Called once, before any other method.
  ///
  /// @param keys returns the key of a name
  public void resume(Function<byte[], Key> keys) {
    for (Deletions.Noted noted : deletions.earlier()) {
      Key key = keys.apply(noted.deletion().name());
      StreamId id = id(key, noted.deletion().generation());
      deletions.resumed(id);
      try {
        if (store.generation(key) != noted.deletion().generation()) free(id);
        deletions.end(id, noted);
      } catch (StorageException | StoaException failure) {
        LOG.warn("the space of deleted {} is not freed yet: {}", key, failure.getMessage());
      }
    }
  }

  /// Returns a blob, which need not exist. This reads nothing.
  ///
  /// @param unknown the expectation of the key while no generation of it is known
  /// @param generation the generation to use, or 0 when none is known
  public StoredBlob blob(Key key, Existence unknown, long generation) {
    return new StoredBlob(this, store.target(key), unknown, generation);
  }

  /// Creates a blob.
  ///
  /// @throws stoa.AlreadyExists when there is one
  public void create(StoredBlob blob) {
    begin(blob, new Existence.Absent(null));
  }

  /// Returns the generation of a key, 0 when there is no blob.
  public long generation(Key key) {
    return store.generation(key);
  }

  /// Returns the names of the blobs that exist now, in the order in which they were created.
  public Iterator<byte[]> list() {
    return store.list(space);
  }

  /// Deletes a blob and frees its space. Returns whether there was one.
  public boolean delete(StoredBlob blob) {
    StreamId gate = blob.key().stream();
    store.admit();
    gates.close(gate);
    try {
      long known = blob.generation();
      long generation = known == 0 ? store.generation(blob.key()) : known;
      return generation != 0 && delete(blob, generation);
    } catch (StorageException failure) {
      throw told(failure);
    } finally {
      gates.open(gate);
      store.release();
    }
  }

  private boolean delete(StoredBlob blob, long generation) {
    StreamId id = id(blob.key(), generation);
    Deletions.Noted noted = null;
    if (object(id).now().exists() && !deletions.isUnderWay(id)) {
      var deletion = new Deletions.Deletion(blob.key().space(), blob.key().name(), generation);
      noted = deletions.begin(id, deletion);
    }
    boolean deleted = true;
    try {
      store.delete(blob.target(), Terms.expecting(new Existence.Generation(generation)));
    } catch (Gone gone) {
      deleted = false;
    } catch (Unavailable | LimitExceeded | Closed refused) {
      if (noted != null) deletions.end(id, noted);
      throw refused;
    }
    if (noted == null) return deleted;
    try {
      free(id);
      deletions.end(id, noted);
    } catch (StorageException failure) {
      LOG.warn(
          "the space of {} is freed when the store opens again: {}", blob, failure.getMessage());
    }
    return deleted;
  }

  private void free(StreamId id) {
    object(id).delete();
  }

  // ---- for the other classes of blobs

  static StreamId id(Key key, long generation) {
    return StreamId.of(new Encoder(64).text("blob").id(key.stream()).varint(generation).toBytes());
  }

  /// Returns the snapshot with a number of a generation of a blob, whether it is kept or not.
  StoredSnapshot snapshot(StoredBlob blob, long generation, long number) {
    return new StoredSnapshot(blob, generation, object(blob, generation), number);
  }

  /// Reads a blob. The caller is within [#accepted] or [#acceptedAsync].
  ///
  /// @param reading reads the object at one moment
  <T> T read(StoredBlob blob, Function<ByteObject, T> reading) {
    long generation = blob.generation();
    if (generation == 0) generation = ask(blob);
    T result = reading.apply(object(blob, generation));
    if (generation != 0) ensureAlive(blob, generation);
    return result;
  }

  /// Reads a blob of a generation. The caller is within [#accepted] or [#acceptedAsync].
  <T> T read(StoredBlob blob, long generation, Supplier<T> reading) {
    T result = reading.get();
    ensureAlive(blob, generation);
    return result;
  }

  /// Changes a blob; creates it first when it does not exist.
  <T> T write(StoredBlob blob, Function<ByteObject, T> writing) {
    return accepted(() -> {
      ensureUsable();
      StreamId gate = blob.key().stream();
      gates.enter(gate);
      try {
        return writing.apply(object(blob, alive(blob)));
      } catch (StorageException failure) {
        throw toldOfWrite(failure);
      } catch (StoaException failure) {
        throw noted(failure);
      } finally {
        gates.leave(gate);
      }
    });
  }

  /// Changes a blob of a generation.
  <T> T write(StoredBlob blob, long generation, Supplier<T> writing) {
    return accepted(() -> {
      ensureUsable();
      StreamId gate = blob.key().stream();
      gates.enter(gate);
      try {
        ensureAlive(blob, generation);
        return writing.get();
      } catch (StorageException failure) {
        throw toldOfWrite(failure);
      } catch (StoaException failure) {
        throw noted(failure);
      } finally {
        gates.leave(gate);
      }
    });
  }

  /// Begins to change a blob.
  ///
  /// @param generation the generation to change; 0 for the living one, which this begins when there
  ///   is none
  <T> CompletableFuture<T> writeAsync(
      StoredBlob blob, long generation, Function<ByteObject, CompletableFuture<T>> writing) {
    StreamId gate = blob.key().stream();
    var answer = new CompletableFuture<T>();
    try {
      store.admit();
    } catch (StoaException refused) {
      return CompletableFuture.failedFuture(refused);
    }
    gates.enter(gate);
    CompletableFuture<T> done;
    try {
      ensureUsable();
      if (generation != 0) ensureAlive(blob, generation);
      long meant = generation == 0 ? alive(blob) : generation;
      done = writing.apply(object(blob, meant));
    } catch (RuntimeException | Error failure) {
      gates.leave(gate);
      store.release();
      if (failure instanceof StorageException storage) {
        return CompletableFuture.failedFuture(toldOfWrite(storage));
      }
      if (failure instanceof StoaException told) return CompletableFuture.failedFuture(noted(told));
      throw failure;
    }
    var _ =
        done.whenComplete((result, failure) -> {
          gates.leave(gate);
          store.release();
          answer(answer, result, failure);
        });
    return answer;
  }

  /// Runs work that a close of the store waits for.
  <T> T accepted(Supplier<T> work) {
    store.admit();
    try {
      return work.get();
    } catch (StorageException failure) {
      throw told(failure);
    } catch (StoaException failure) {
      throw noted(failure);
    } finally {
      store.release();
    }
  }

  /// Runs work that a close of the store waits for, on another thread.
  <T> CompletableFuture<T> acceptedAsync(Supplier<T> work) {
    try {
      store.admit();
    } catch (StoaException refused) {
      return CompletableFuture.failedFuture(refused);
    }
    var answer = new CompletableFuture<T>();
    Runnable task =
        () -> {
          try {
            answer.complete(work.get());
          } catch (StorageException failure) {
            answer.completeExceptionally(told(failure));
          } catch (StoaException failure) {
            answer.completeExceptionally(noted(failure));
          } catch (RuntimeException | Error failure) {
            answer.completeExceptionally(failure);
          } finally {
            store.release();
          }
        };
    if (!onAnswers(answer, task)) store.release();
    return answer;
  }

  private <T> void answer(CompletableFuture<T> answer, T result, @Nullable Throwable failure) {
    var _ =
        onAnswers(
            answer,
            () -> {
              Throwable cause =
                  failure instanceof CompletionException wrapped && wrapped.getCause() != null
                      ? wrapped.getCause()
                      : failure;
              switch (cause) {
                case null -> answer.complete(result);
                case StorageException storage -> answer.completeExceptionally(toldOfWrite(storage));
                case StoaException told -> answer.completeExceptionally(noted(told));
                default -> answer.completeExceptionally(cause);
              }
            });
  }

  private boolean onAnswers(CompletableFuture<?> answer, Runnable task) {
    try {
      tasks.answer(task);
      return true;
    } catch (RejectedExecutionException closed) {
      answer.completeExceptionally(new Closed("the store was closed before the answer was read"));
      return false;
    }
  }

  private ByteObject object(StoredBlob blob, long generation) {
    return object(id(blob.key(), generation));
  }

  private ByteObject object(StreamId id) {
    return objects.apply(id);
  }

  // ---- generations

  /// Returns the generation of a blob; begins one when there is none. The caller is inside the
  /// gate.
  private long alive(StoredBlob blob) {
    long known = blob.generation();
    if (known != 0) {
      ensureAlive(blob, known);
      return known;
    }
    long found = ask(blob);
    return found != 0 ? found : begin(blob, blob.existence());
  }

  /// @throws Gone when a generation is over
  void ensureAlive(StoredBlob blob, long generation) {
    StreamId id = id(blob.key(), generation);
    if (!deletions.isUnderWay(id) && object(id).now().exists()) return;
    var existence = new Existence.Generation(generation);
    var _ = store.get(blob.target(), CREATION, Terms.expecting(existence).at(Pace.SHORT)).answer();
  }

  /// Returns the living generation, 0 when there is none.
  private long ask(StoredBlob blob) {
    Request request =
        store.get(blob.target(), CREATION, Terms.expecting(blob.existence()).at(Pace.SHORT));
    var _ = request.answer();
    if (request.generation() != 0) blob.generation(request.generation());
    return request.generation();
  }

  private long begin(StoredBlob blob, Existence existence) {
    Request request =
        store.put(blob.target(), Put.of(CREATION), Terms.expecting(existence).at(Pace.SHORT));
    var _ = request.answer();
    blob.generation(request.generation());
    return request.generation();
  }

  // ---- the errors of callers

  private void ensureUsable() {
    StorageException cause = failed;
    if (cause != null) {
      throw new Unavailable("the store has failed; reopen it: " + cause.getMessage(), cause);
    }
  }

  /// Makes the store check whether its log has failed, after an error that suggests it; then the
  /// store answers no more calls.
  private StoaException noted(StoaException failure) {
    if (failure instanceof Unavailable || failure instanceof UnknownOutcome) {
      try {
        store.checkUsable();
      } catch (Unavailable lost) {
        // The store has noted that now, too.
      }
    }
    return failure;
  }

  private StoaException toldOfWrite(StorageException failure) {
    if (!(failure instanceof DeviceFailed)) return told(failure);
    failed = failure;
    return new UnknownOutcome("the log failed: " + failure.getMessage(), failure);
  }

  private static StoaException told(StorageException failure) {
    String text = String.valueOf(failure.getMessage());
    return switch (failure) {
      case CorruptData _ -> new Corrupt(text, failure);
      case DeviceClosed _ -> new Closed("the store is closed", failure);
      case DiskFull _ -> new Unavailable("nothing was written: " + text, failure);
      default -> new Unavailable("the store cannot be read; reopen it: " + text, failure);
    };
  }
}
