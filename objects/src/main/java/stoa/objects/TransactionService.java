package stoa.objects;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.Deadlock;
import stoa.Gone;
import stoa.LogAddress;
import stoa.StreamKey;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Footprint;
import stoa.base.Key;
import stoa.front.ObjectAnswer;
import stoa.front.Refusals;
import stoa.front.types.SharedMethod;
import stoa.objects.ObjectService.Call;
import stoa.objects.ObjectService.Container;
import stoa.store.Participant;
import stoa.store.Store;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.leading.Intents;
import stoa.store.ordering.Coordinator;
import stoa.store.running.Execution;
import stoa.store.running.StoreTransaction;
import stoa.store.running.Target;
import stoa.store.streams.StoredStreams;

/// The transactions of a server's clients on the objects and streams of its store, in bytes, as in
/// [ObjectService]. Thread-safe.
public final class TransactionService {
  // The most time that a client's transaction may take: the store keeps the versions that it reads.
  private static final long TRANSACTION_MICROS_MAX = TimeUnit.HOURS.toMicros(24);

  private final ObjectService objects;
  private final LocalService stoa;
  private final Store store;
  private final CallReader reader;
  private final ClassLoader classesOfKeys;
  private final StreamService streams;

  TransactionService(
      ObjectService objects,
      LocalService stoa,
      CallReader reader,
      ClassLoader classesOfKeys,
      StreamService streams) {
    this.objects = objects;
    this.stoa = stoa;
    this.store = stoa.core();
    this.reader = reader;
    this.classesOfKeys = classesOfKeys;
    this.streams = streams;
  }

  /// A transaction. One thread at a time uses it; every method may take long.
  public final class Transacting implements AutoCloseable {
    private final StoreTransaction transaction;

    private final boolean past;

    private Transacting(StoreTransaction transaction, boolean past) {
      this.transaction = transaction;
      this.past = past;
    }

    /// Returns the log address at which it reads.
    public LogAddress at() {
      return transaction.at();
    }

    /// Makes a call as part of it.
    ///
    /// @param callers the objects whose methods wait for it, outermost first; empty for a call by
    ///   the body
    /// @param answers the answers to its first errands
    public Errand.Reply call(Call call, List<Key> callers, List<Errand.Answer> answers)
        throws Throwable {
      Neighborhood others = stoa.neighborhood();
      if (others == null) return new Errand.Reply(call(call, true), null);
      try {
        List<byte[]> known =
            answers.stream().map(said -> others.translated(said, classesOfKeys)).toList();
        return new Errand.Reply(
            transaction.leaving(callers, known, () -> called(call, callers)), null);
      } catch (Execution.Leaving left) {
        return new Errand.Reply(null, others.errand(left));
      }
    }

    private byte[] called(Call call, List<Key> callers) throws Throwable {
      if (callers.isEmpty()) return call(call, true);
      try {
        return call(call, false);
      } catch (Gone | AlreadyExists | Deadlock told) {
        // For the calling method.
        byte[] thrown = stoa.marshaller().thrown(told);
        return new ObjectAnswer.Travelling(ObjectAnswer.THREW, thrown).encoded();
      }
    }

    /// Declares the intent to run it again, once it was aborted.
    ///
    /// @param settled called when the store has decided; it must not wait
    /// @return gives the number of the intent, 0 when there is none, and may wait for a batch. Null
    ///   when the store gives no intent, and calls nothing
    public @Nullable LongSupplier intend(long micros, long waitMicros, Runnable settled) {
      Intents.Intent intent = store.intents().declare(transaction, micros, waitMicros, settled);
      if (intent == null) return null;
      return () -> store.intents().awaitBefore(intent) == null ? 0 : intent.id();
    }

    /// Returns how many objects it has read and written.
    public int objects() {
      return transaction.keys();
    }

    /// Returns how many bytes it would log.
    public long bytes() {
      return transaction.bytes();
    }

    /// @param tries whether it throws a constructor's exception, and creates nothing
    private byte[] call(Call call, boolean tries) throws Throwable {
      byte[] answer = made(call, tries);
      if (answer[0] == ObjectAnswer.LENT) throw stoa.metLent(objects.live(call.container()));
      return answer;
    }

    private ObjectHandler.Question asked(Call call, CallReader.Decoded read) {
      var question = read.question().in(call.container().active());
      return past ? question.ofStore() : question;
    }

    private byte[] made(Call call, boolean tries) throws Throwable {
      Container container = call.container();
      Refusals.stream(container.type().shared());
      ObjectService.refusePlaced(container);
      CallReader.Decoded read = reader.whole(call);
      ObjectType.Called called = read.called();
      Target target = container.target();
      Pace pace = called == null ? Pace.SHORT : called.type().pace(called.method());
      return switch (read.kind()) {
        case null -> put(call, Footprint.ALL, Pace.SHORT, tries);
        case MUTATOR, UPDATE -> put(call, read.footprint(container), pace, tries);
        case ACCESSOR ->
            transaction.get(target, asked(call, read), call.existence(), pace).encoded();
        case TRANSACTION, READING_TRANSACTION -> nested(call, read);
      };
    }

    private byte[] put(Call call, Footprint footprint, Pace pace, boolean tries) throws Throwable {
      if (tries && !transaction.isReadOnly() && transaction.generation(call.container().key()) == 0)
        objects.construct(call);
      Answer answer =
          transaction.put(
              call.container().target(),
              Put.of(call.bytes()).on(footprint),
              call.existence(),
              pace);
      return answer.encoded();
    }

    private byte[] nested(Call call, CallReader.Decoded read) {
      if (read.kind() == SharedMethod.Kind.READING_TRANSACTION) transaction.enterToRead();
      else transaction.enter();
      boolean kept = false;
      try {
        byte[] answer =
            transaction
                .run(call.container().target(), asked(call, read), call.existence())
                .encoded();
        kept = answer[0] == ObjectAnswer.RETURNED;
        return answer;
      } finally {
        if (kept) transaction.keep();
        else transaction.drop();
      }
    }

    /// Deletes an object.
    ///
    /// @return the ended generation, 0 when this transaction created the object
    public long delete(Container container, Existence existence) {
      Refusals.stream(container.type().shared());
      ObjectService.refusePlaced(container);
      if (stoa.isLent(transaction, container.target(), existence))
        throw stoa.metLent(objects.live(container));
      long ended = transaction.delete(container.target(), existence);
      return ended;
    }

    /// Appends an entry to a user's stream when it commits.
    ///
    /// @throws IllegalArgumentException as [StreamService#require], and when the stream belongs to
    ///   an object, or to the store itself
    public void append(StreamKey stream, byte[] data) {
      streams.checkBytes(data.length);
      transaction.append(StoredStreams.keyOf(streams.require(stream)), data);
    }

    /// Returns the generation of an object, 0 when it is absent.
    public long generation(Container container) {
      return transaction.generation(container.key());
    }

    /// Begins a nested transaction.
    public void enter() {
      transaction.enter();
    }

    /// Begins a nested transaction that only reads.
    public void enterToRead() {
      transaction.enterToRead();
    }

    /// Ends the innermost nested transaction, and keeps its changes.
    public void keep() {
      transaction.keep();
    }

    /// Ends the innermost nested transaction, and drops its changes.
    public void drop() {
      transaction.drop();
    }

    /// Returns the identity by which a client finds its outcome; null while it has changed nothing.
    public StoreTransaction.@Nullable Id id() {
      return transaction.identity();
    }

    /// Commits it.
    ///
    /// @throws stoa.Aborted when another call has changed an object that it read or wrote
    /// @throws stoa.UnknownOutcome when the store failed
    public LogAddress commit() {
      return transaction.commit();
    }

    @Override
    public void close() {
      transaction.close();
    }
  }

  /// Returns this store as a participant of the transactions that a [Coordinator] commits.
  ///
  /// @param open finds a transaction that is open here
  public Participant participant(Function<Coordinator.Part, @Nullable Transacting> open) {
    return new Participant(
        store,
        part -> {
          Transacting transacting = open.apply(part);
          return transacting == null ? null : transacting.transaction;
        });
  }

  /// Begins a coordinator that runs at this store. The store was opened with its order.
  ///
  /// @param here the participant of this store
  public void coordinate(Coordinator coordinator, Participant here) {
    coordinator.begin(here);
  }

  /// Begins a transaction.
  ///
  /// @param mode the permitted operations
  /// @param asked the client's limits; the store's own limits apply where they are lower
  /// @param at the log address at which it reads; null for the present
  /// @param session the client's
  /// @param intent the number of the intent under which it runs; 0 for none
  public Transacting begin(
      Mode mode, Bounds asked, @Nullable LogAddress at, long session, long intent) {
    var limits = stoa.limits();
    long micros = less(asked.micros, TRANSACTION_MICROS_MAX);
    int objects = (int) less(asked.objectsMax, limits.transactionObjectsMax());
    long bytes = less(asked.bytesMax, limits.transactionBytesMax());
    var names =
        new StoreTransaction.LimitNames(
            whose(micros == asked.micros) + "timeMax, or what was left of totalTimeMax",
            whose(objects == asked.objectsMax) + "transactionObjectsMax",
            whose(bytes == asked.bytesMax) + "transactionBytesMax");
    var access =
        mode == Mode.READING ? StoreTransaction.Access.READS : StoreTransaction.Access.WRITES;
    var bounds = new StoreTransaction.Bounds(access, micros, objects, bytes, names);
    StoreTransaction begun = at == null ? store.begin(bounds) : store.begin(bounds, at);
    begun.under(store.intents().find(intent)).askedBy(session);
    return new Transacting(begun, at != null);
  }

  private static long less(long asked, long own) {
    return asked <= 0 ? own : Math.min(asked, own);
  }

  private static String whose(boolean ofClient) {
    return ofClient ? "the client's " : "the server's ";
  }

  /// A client's limits of a transaction; 0 each for the store's own limit.
  ///
  /// @param micros the most time that it may take
  /// @param objectsMax the most objects that it may read and write
  /// @param bytesMax the encoded size of its calls that are not accessors
  public record Bounds(long micros, int objectsMax, long bytesMax) {}

  /// The permitted operations of a transaction.
  public enum Mode {
    /// Read and change.
    CHANGING,
    /// Read.
    READING
  }

  /// Returns the outcome of a transaction; null when the store has written nothing of it.
  public @Nullable LogAddress outcome(StoreTransaction.Id id) {
    return store.outcome(id);
  }
}
