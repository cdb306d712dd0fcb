package stoa.node;

import com.google.protobuf.ByteString;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import stoa.node.access.RefusalThrottle;
import stoa.objects.Sessions;
import stoa.store.past.Pins;
import stoa.store.watching.WatchRegistration;
import stoa.transport.Status;
import stoa.wire.FrameLimits;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Call;
import stoa.wire.proto.Changed;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.Event;
import stoa.wire.proto.Request;
import stoa.wire.proto.ServerFrame;
import stoa.wire.proto.SessionStatus;

/// The server's side of one client's session: its requests, its open objects, and its outbox.
/// Thread-safe.
final class Session {
  /*
   * No thread sends while it holds a lock. An answer goes into the ledger, and into the outbox if
   * there is a connection. A session that loses its connection empties the outbox: the client
   * repeats unanswered requests, and the ledger has the answers that the outbox had.
   *
   * The session fills a frame in this order: it takes answers, reads the moment of the store, and
   * takes changes. So no answer in the frame reaches beyond the moment, and this frame or earlier
   * ones have all changes up to the moment.
   */
  private final long id;
  private final Sessions.Session durable;
  private final boolean recovered;
  private final Origin origin;
  private final ServerConfig config;
  final ConcurrentHashMap<Integer, OpenObject> containers = new ConcurrentHashMap<>();
  final ConcurrentHashMap<Long, SessionTransaction> transactions = new ConcurrentHashMap<>();
  final ConcurrentHashMap<Long, Pins.Pin> pins = new ConcurrentHashMap<>();
  final ConcurrentHashMap<Integer, WatchRegistration> watches = new ConcurrentHashMap<>();
  final ConcurrentHashMap<Long, ClientListener> listeners = new ConcurrentHashMap<>();

  // By the sequences of their requests.
  final ConcurrentHashMap<Long, WaitableCall> waitable = new ConcurrentHashMap<>();

  final SessionThreads threads;

  final BlobCalls blobCalls = new BlobCalls();
  final HoldChanges holdChanges = new HoldChanges();

  // Guarded by this.
  private final Ledger ledger;
  private final Listings listings = new Listings();
  private final ArrayDeque<Answer> answers = new ArrayDeque<>();
  private final ArrayDeque<Event> events = new ArrayDeque<>();
  private long eventBytes;
  private final Map<Integer, Long> changes = new HashMap<>();

  // The last change of each followed object: the message may have been lost with a connection.
  private final Map<Integer, Long> lastChanges = new HashMap<>();

  // Held while the requests of a frame begin: those of one frame come before those of the next,
  // also when that comes over another connection.
  private final ReentrantLock taking = new ReentrantLock();

  private @Nullable ClientConnection connection;
  private long answerBytes;
  private long lostAtNanos;
  private boolean ended;

  // How many refusals of forbidden requests are due.
  private final AtomicInteger refusing = new AtomicInteger();

  Session(
      Sessions.Session durable,
      Recovered recovered,
      Origin origin,
      ServerConfig config,
      SessionThreads threads,
      long nowNanos) {
    this.id = durable.id();
    this.durable = durable;
    this.recovered = recovered == Recovered.FROM_LOG;
    this.origin = origin;
    this.config = config;
    this.threads = threads;
    this.ledger = new Ledger(4 * config.requestsMax());
    this.lostAtNanos = nowNanos;
  }

  /// The origin of a session.
  enum Recovered {
    /// This server opened it.
    NO,
    /// An earlier server opened it.
    FROM_LOG
  }

  long id() {
    return id;
  }

  /// Returns where the client comes from that opened it.
  Origin origin() {
    return origin;
  }

  boolean isRecovered() {
    return recovered;
  }

  Sessions.Session durable() {
    return durable;
  }

  // ---- connections

  /// Attaches a connection, in place of another one if there is one.
  ///
  /// @throws stoa.transport.StatusException when the session has ended
  /// @return the other; null when there is none
  synchronized @Nullable ClientConnection attach(ClientConnection next) {
    if (ended) {
      throw Status.of(Status.Code.UNAVAILABLE, "session " + id + " is about to end; ask again")
          .exception();
    }
    ClientConnection before = connection;
    connection = next;
    forget();
    changes.putAll(lastChanges);
    return before;
  }

  /// Detaches a lost connection.
  ///
  /// @return whether it was this session's
  synchronized boolean detach(ClientConnection lost, long nowNanos) {
    if (connection != lost) return false;
    connection = null;
    lostAtNanos = nowNanos;
    forget();
    return true;
  }

  private void forget() {
    answers.clear();
    answerBytes = 0;
    events.clear();
    eventBytes = 0;
  }

  synchronized @Nullable ClientConnection connection() {
    return connection;
  }

  /// Ends it if it has had no connection for longer than its lease.
  ///
  /// @return whether this call ended it
  synchronized boolean expire(long nowNanos) {
    boolean over = connection == null && nowNanos - lostAtNanos > config.lease().toNanos();
    return over && end();
  }

  /// Ends it.
  ///
  /// @return whether this call ended it
  synchronized boolean end() {
    boolean first = !ended;
    ended = true;
    return first;
  }

  synchronized boolean isEnded() {
    return ended;
  }

  // ---- requests

  /// Returns an open container.
  ///
  /// @throws IllegalArgumentException when there is none of that number
  OpenObject container(int number) {
    OpenObject found = containers.get(number);
    if (found != null) return found;
    throw new IllegalArgumentException("container " + number + " is not open; open it before");
  }

  /// The handling of a frame.
  ///
  /// @param run the requests to execute
  /// @param refusal why to cut the client off after these; null otherwise
  private record Arrived(List<Request> run, @Nullable String refusal) {}

  /// Begins the requests of a frame. Drops frames of a connection that another one has replaced:
  /// they come again.
  ///
  /// @param begin waits for nothing
  /// @return why to cut the client off after these; null otherwise
  @Nullable String take(ClientConnection over, ClientFrame frame, Consumer<List<Request>> begin) {
    taking.lock();
    try {
      if (connection() != over) return null;
      Arrived arrived = arrive(frame);
      begin.accept(arrived.run());
      return arrived.refusal();
    } finally {
      taking.unlock();
    }
  }

  private synchronized Arrived arrive(ClientFrame frame) {
    ledger.acknowledged(frame.getAcknowledged());
    for (int i = 0; i < frame.getAcknowledgedAlsoCount(); i++) {
      ledger.acknowledgedAlso(frame.getAcknowledgedAlso(i));
    }
    var run = new ArrayList<Request>(frame.getRequestsCount());
    for (Request request : frame.getRequestsList()) {
      switch (ledger.arrives(request.getSequence(), contents(request))) {
        case Ledger.Verdict.Run() -> run.add(request);
        case Ledger.Verdict.Again(Answer answer) -> out(answer);
        case Ledger.Verdict.Ignore() -> {
          // Its answer comes, or has come.
        }
        // Requests that the ledger has accepted before are in progress, and must finish.
        case Ledger.Verdict.Refuse(String reason) -> {
          return new Arrived(run, reason);
        }
      }
    }
    return new Arrived(run, null);
  }

  /// Hashes what must be equal when a request repeats.
  private static int contents(Request request) {
    int hash = 31 * request.getWhatCase().getNumber() + Long.hashCode(request.getTransaction());
    return switch (request.getWhatCase()) {
      case CALL -> 31 * hash + contents(request.getCall());
      case OPEN -> 31 * hash + request.getOpen().hashCode();
      case DELETE -> 31 * hash + request.getDelete().hashCode();
      case BLOB -> 31 * hash + request.getBlob().hashCode();
      case STREAM -> 31 * hash + request.getStream().hashCode();
      case KEY_PUT -> 31 * hash + request.getKeyPut().hashCode();
      case KEY_GET -> 31 * hash + request.getKeyGet().hashCode();
      default -> {
        var rest = request.toBuilder().clearSequence().clearSince().clearTimeMillis();
        yield 31 * hash + rest.build().hashCode();
      }
    };
  }

  /// Hashes a call. Its arguments may be long, and the hash of a message takes them byte by byte.
  private static int contents(Call call) {
    var arguments = new CRC32C();
    arguments.update(call.getCall().asReadOnlyByteBuffer());
    int rest = call.toBuilder().clearCall().build().hashCode();
    return 31 * rest + (int) arguments.getValue();
  }

  /// Returns how many requests are in progress.
  synchronized int underWay() {
    return ledger.underWay();
  }

  /// Notes that the refusal of a forbidden request becomes due.
  void refuses() {
    refusing.incrementAndGet();
  }

  /// Notes that a refusal is no longer due.
  void hasRefused() {
    refusing.decrementAndGet();
  }

  /// Returns whether so many refusals are due that the server reads no more of it.
  boolean isRefused() {
    return refusing.get() >= RefusalThrottle.WAITING_MAX;
  }

  /// Answers a request.
  void answer(Answer answer) {
    ClientConnection told;
    boolean last;
    synchronized (this) {
      ledger.answered(answer);
      out(answer);
      told = connection;
      last = ledger.underWay() == 0;
    }
    if (told == null || told.sendAfterwards()) return;
    if (last) told.sendNow();
    else told.sendSoon();
  }

  private void out(Answer answer) {
    if (connection == null) return;
    answers.add(answer);
    answerBytes += answer.getSerializedSize();
  }

  /// Returns whether the client leaves too much unread, or unacknowledged.
  synchronized boolean isOverfull() {
    return answerBytes > config.answerBytesMax()
        || eventBytes > config.answerBytesMax()
        || ledger.bytes() > config.answerBytesMax();
  }

  /// Records a change of a followed object.
  void changed(int container, long counter) {
    ClientConnection told;
    synchronized (this) {
      changes.put(container, counter);
      lastChanges.put(container, counter);
      told = connection;
    }
    if (told != null && !told.sendAfterwards()) told.sendSoon();
  }

  /// Returns the rest of a listing; null when it is gone.
  synchronized Listings.@Nullable Rest listing(String token) {
    return listings.take(token);
  }

  /// Keeps the rest of a listing, and returns its token.
  synchronized String keep(Listings.Rest rest, long owner) {
    return listings.keep(rest, owner);
  }

  /// Sends an event for a listener, over a connection. If that is lost, the event is dropped: the
  /// next connection sends it again.
  void event(ClientConnection over, Event event) {
    synchronized (this) {
      if (connection != over) return;
      events.add(event);
      eventBytes += event.getSerializedSize();
    }
    over.sendSoon();
  }

  /// Sends the client's listeners their unhandled events. May wait for the disk.
  void sendEvents() {
    listeners.values().forEach(ClientListener::send);
  }

  /// Ends following an object.
  void unfollow(int container) {
    WatchRegistration watch = watches.remove(container);
    if (watch != null) watch.close();
    synchronized (this) {
      changes.remove(container);
      lastChanges.remove(container);
    }
  }

  // ---- frames

  /// Takes answers for a frame.
  ///
  /// @param bytesAim how many bytes it gathers
  synchronized void takeAnswers(ClientConnection over, ServerFrame.Builder frame, int bytesAim) {
    if (connection != over) return; // they are for the connection that came in its place
    int bytes = 0;
    for (int count = 0; count < FrameLimits.PARTS_MAX && bytes < bytesAim; count++) {
      Answer answer = answers.peek();
      if (answer == null) return;
      int size = answer.getSerializedSize();
      if (count > 0 && bytes + size > bytesAim) return;
      answers.poll();
      answerBytes -= size;
      bytes += size;
      frame.addAnswers(answer);
    }
  }

  /// Takes all changes for a frame.
  synchronized void takeChanges(ClientConnection over, ServerFrame.Builder frame) {
    if (connection != over) return;
    changes.forEach((container, counter) ->
        frame.addChanges(Changed.newBuilder().setContainer(container).setCounter(counter)));
    changes.clear();
  }

  /// Takes events for a frame.
  ///
  /// @param bytesAim how many bytes it gathers
  synchronized void takeEvents(ClientConnection over, ServerFrame.Builder frame, int bytesAim) {
    if (connection != over) return;
    int bytes = 0;
    for (int count = 0; count < FrameLimits.PARTS_MAX && bytes < bytesAim; count++) {
      Event event = events.peek();
      if (event == null) return;
      int size = event.getSerializedSize();
      if (count > 0 && bytes + size > bytesAim) return;
      events.poll();
      eventBytes -= size;
      bytes += size;
      frame.addEvents(event);
    }
  }

  synchronized boolean hasMore() {
    return !answers.isEmpty() || !changes.isEmpty() || !events.isEmpty();
  }

  /// Returns how many bytes of answers and events its client has not read, or not acknowledged.
  synchronized long unreadBytes() {
    return ledger.bytes() + eventBytes;
  }

  /// Returns its state for an operator.
  synchronized SessionStatus status() {
    return SessionStatus.newBuilder()
        .setSession(id)
        .setConnected(connection != null)
        .setPeer(peer())
        .setListeners(listeners.size())
        .setContainers(containers.size())
        .setRequests(ledger.underWay())
        .setTransactions(transactions.size())
        .setUnreadBytes(unreadBytes())
        .build();
  }

  /// Returns the address of its client; empty without a connection.
  synchronized String peer() {
    ClientConnection current = connection;
    return current == null ? "" : current.peer();
  }

  ByteString secret() {
    return ByteString.copyFrom(durable.secret());
  }

  /// Releases everything that is open.
  void release() {
    listeners.values().forEach(one -> one.listener().stop());
    listeners.clear();
    watches.values().forEach(WatchRegistration::close);
    watches.clear();
    pins.values().forEach(Pins.Pin::close);
    pins.clear();
    transactions.values().forEach(SessionTransaction::abandon);
    transactions.clear();
    blobCalls.close();
    containers.clear();
  }
}
