package stoa.store.blobs;

import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
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

/// The blobs of a store: keys whose values are bytes on the storage device, which are written there
/// and not put.
///
/// This is their primary (VOSD paper, section II-E): versions are given where [ByteObject] writes,
/// by the device of a lone server, or by the leader of replicas, who tells them with the bytes.
/// Thread-safe.
public final class Blobs {
  /*
   * That a blob exists is in the stream of its key, as for every key: a put begins a generation, a
   * deletion ends it. Its bytes are a versioned object of the device, one for each generation, whose
   * id is a hash of key and generation. So what was written to an earlier generation is never seen.
   *
   * Invariants:
   * (1) Nothing is written to the object of a generation that is over: a writer is inside the gate of
   *     its key and has seen the generation alive from there; who deletes has closed the gate.
   * (2) A generation whose object has a version is alive, unless its deletion is under way: a
   *     deletion is noted before it is logged, and the note goes when the object is gone. So a look
   *     at the device suffices to know that it is; the key's stream is asked when there is nothing
   *     yet, or a note.
   * (3) A reader looks whether the generation is alive after it has read: what it read was there.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Blobs.class);
  private static final byte[] CREATION = {};

  private final Store store;
  private final Function<StreamId, ByteObject> objects;
  private final Executor executor;
  private final String space;
  private final Gates gates = new Gates();
  private final Deletions deletions;
  private volatile @Nullable StorageException failed;

  /// The blobs of a store.
  ///
  /// @param objects the object of an id
  /// @param executor runs what callers do not wait for
  /// @param space of their keys
  public Blobs(
      Store store, Function<StreamId, ByteObject> objects, Executor executor, String space) {
    this.store = store;
    this.objects = objects;
    this.executor = executor;
    this.space = space;
    this.deletions = new Deletions(object(StreamId.of("stoa/deletions of " + space)));
    store.register(space, BlobHandler.FACTORY);
  }

  /// The space of their keys.
  public String space() {
    return space;
  }

  /// Ends the deletions that an earlier process has begun. Called once, before anything else.
  ///
  /// @param keys makes a key of its name
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

  /// A blob. Cheap to make; it need not exist.
  ///
  /// @param unknown what is expected of the key while no generation of it is known
  /// @param generation the generation that is meant, or 0 when none is known
  public StoredBlob blob(Key key, Existence unknown, long generation) {
    return new StoredBlob(this, store.target(key), unknown, generation);
  }

  /// Creates a blob.
  ///
  /// @throws stoa.AlreadyExists when there is one
  public void create(StoredBlob blob) {
    begin(blob, new Existence.Absent(null));
  }

  /// The generation of a key, 0 when there is no blob.
  public long generation(Key key) {
    return store.generation(key);
  }

  /// The names of the blobs that exist now, in the order in which they were created.
  public Iterator<byte[]> list() {
    return store.list(space);
  }

  /// Deletes a blob and frees its space. Answers whether there was one.
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

  /// The snapshot of a number of a generation of a blob, whether it is kept or not.
  StoredSnapshot snapshot(StoredBlob blob, long generation, long number) {
    return new StoredSnapshot(blob, generation, object(blob, generation), number);
  }

  /// Reads a blob. To be called within [#accepted] or [#acceptedAsync].
  ///
  /// @param reading reads one moment
  <T> T read(StoredBlob blob, Function<ByteObject, T> reading) {
    long generation = blob.generation();
    if (generation == 0) generation = ask(blob);
    T result = reading.apply(object(blob, generation));
    if (generation != 0) ensureAlive(blob, generation);
    return result;
  }

  /// Reads a blob of a generation. To be called within [#accepted] or [#acceptedAsync].
  <T> T read(StoredBlob blob, long generation, Supplier<T> reading) {
    T result = reading.get();
    ensureAlive(blob, generation);
    return result;
  }

  /// Changes a blob, which comes to be when there is none.
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
  /// @param generation 0 for the one that is alive, which is begun when there is none
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

  /// Does what is under way until it returns.
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

  /// Does what is under way until it returns, beside the caller.
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
      executor.execute(task);
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

  /// The generation of a blob, which is begun when there is none. Called inside the gate.
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

  /// The generation that is alive, 0 when there is none.
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

  // ---- what callers are told

  private void ensureUsable() {
    StorageException cause = failed;
    if (cause != null) {
      throw new Unavailable("the store has failed; reopen it: " + cause.getMessage(), cause);
    }
  }

  /// Lets the store know when it was lost: then it answers nobody any more.
  private StoaException noted(StoaException failure) {
    if (failure instanceof Unavailable || failure instanceof UnknownOutcome) {
      try {
        store.checkUsable();
      } catch (Unavailable lost) {
        // As it now knows, too.
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
