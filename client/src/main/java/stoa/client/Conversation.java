package stoa.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Closed;
import stoa.Limits;
import stoa.Unavailable;
import stoa.base.Measures;
import stoa.base.Trace;
import stoa.transport.Address;
import stoa.transport.Channel;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.wire.Channels;
import stoa.wire.FrameLimits;
import stoa.wire.SingleRequests;
import stoa.wire.SlotMap;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Changed;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.Event;
import stoa.wire.proto.Goodbye;
import stoa.wire.proto.Request;
import stoa.wire.proto.ServerFrame;
import stoa.wire.proto.ServerHello;
import stoa.wire.proto.WhereRequest;
import stoa.wire.proto.Whereabouts;

/// The exchange between a client and its servers: it sends requests in batches of whatever has
/// gathered, and answers wake the waiting callers. Thread-safe.
final class Conversation implements AutoCloseable {
  /*
   * Callers queue their requests. A caller that finds no thread sending wakes the writing thread, or
   * writes by itself when no other request is in progress. The writing thread makes frames of all
   * queued requests, and never waits for more to come. When the connection takes no more, it
   * continues as soon as the connection does; the queue is bounded, so that callers wait then.
   *
   * A thread of its own keeps a connection: it connects, to one address after the other, waits
   * until the connection is over, and connects again. When a server is silent, it asks another one
   * for the server that has the store; that one answers when it knows. The keeper also fails the
   * requests whose time is over and that no caller waits for.
   *
   * Invariants:
   * (1) The session is used under the lock. No thread sends, waits or calls listeners under it.
   * (2) Frames are made in the order in which they are sent: one thread at a time has raised
   *     sending.
   * (3) The changes and the moment of a frame are known before its answers reach their callers.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Conversation.class);
  private static final long HELLO_MILLIS = 5_000;

  // The least time that opening a store waits for a reachable server that has not said hello yet,
  // however short the time limit of calls is.
  private static final long OPENING_MILLIS = 10_000;

  // The interval at which a client that waits for its first server logs that it waits.
  private static final long REMINDER_MILLIS = 10_000;

  private static final long TICK_MILLIS = 100;

  // The time that one of several servers has to say hello, or to say which server has the store,
  // before the client asks the next one.
  private static final long WELCOME_MILLIS = 1_000;

  // The time of silence after which the client asks another server whether the silent one still has
  // the store.
  private static final long SILENCE_MILLIS = 500;

  // The number of such questions within a session's lease when no answer is due: there may be
  // another leader, which has not heard of the session yet.
  private static final int QUESTIONS = 4;

  // The time beyond the limit of a sent call that its caller waits for a connection to come back.
  private static final long TROUBLE_MILLIS = 5_000;

  private static final long TROUBLE_NANOS = TimeUnit.MILLISECONDS.toNanos(TROUBLE_MILLIS);

  private static final long GOODBYE_MILLIS = 1_000;

  private static final String NOBODY =
      "none of them has the store: either it is being opened, or no majority of the servers that"
          + " keep it is there; ./stoa status tells which are, start the others; when they are lost"
          + " for good, see ./stoa help recover";

  /// Receives the server's own messages. The reading thread calls it.
  interface Listener {
    /// Notes a change of a followed object: the last change, perhaps after others.
    ///
    /// @param before the log counter up to which the server had announced all changes already
    void changed(Changed changed, long before);

    /// Receives an event for a listener.
    void event(Event event);

    /// Notes a new connection to a server that has forgotten the state of the session.
    void forgotten();
  }

  private final ServerUrl url;
  private final int group;
  private final Channels channels;
  private final Limits limits;
  private final Listener listener;
  private final Containers containers;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition room = lock.newCondition();
  private final Condition changed = lock.newCondition();
  private final AtomicInteger sending = new AtomicInteger();
  private final AtomicLong observed;
  private final Thread keeper;

  // Guarded by lock.
  private final ServerSelector selector;
  private final ClientSession session;
  private final List<Outgoing> timed = new ArrayList<>();
  private @Nullable Link link;
  private @Nullable Link attempt;
  private @Nullable Link questioned;
  private @Nullable Status ended;

  // Whether the last attempt to connect ended without an answer.
  private boolean silent;

  private @Nullable String refusal;

  // Whether servers are reachable, and none of them knows one that has the store.
  private boolean leaderless;

  private boolean closing;
  private long connections;

  // Whether each address was tried.
  private boolean tried;

  private volatile @Nullable ServerHello server;
  private volatile long moment;
  private volatile long heardNanos;
  private volatile int life;
  private volatile long id;
  private volatile boolean closed;
  private volatile boolean doubted;

  /// @param servers further addresses that a server has announced
  /// @param group the group whose part of the store this is
  /// @param observed the log counter that this client has seen, in any group
  Conversation(
      ServerUrl url,
      List<String> servers,
      int group,
      AtomicLong observed,
      Channels channels,
      Limits limits,
      int containersMax,
      Listener listener) {
    this.url = url;
    this.group = group;
    this.observed = observed;
    this.channels = channels;
    this.limits = limits;
    this.listener = listener;
    selector = new ServerSelector(url.all());
    selector.learn(servers);
    session = new ClientSession(limits.queuedCallsMax());
    containers = new Containers(containersMax, this::leave);
    keeper = Thread.ofPlatform().daemon().name("stoa-client").unstarted(this::keep);
  }

  /// Connects.
  ///
  /// @throws Unavailable when no server answers in time: within [ServerUrl#waiting()], or else
  ///   within [Limits#callTimeMax()]; and within 10 seconds if that is less and a first attempt to
  ///   connect is in progress
  void start() {
    keeper.start();
    long began = System.nanoTime();
    Duration wait = group == SlotMap.GLOBAL_GROUP ? url.waiting() : null;
    long patience = (wait == null ? limits.callTimeMax() : wait).toNanos();
    long patienceMax = Math.max(patience, TimeUnit.MILLISECONDS.toNanos(OPENING_MILLIS));
    long reminder = began;
    Unavailable failure = null;
    lock.lock();
    try {
      while (server == null && refusal == null) {
        boolean waits = ended == null || silent || (wait == null ? attempt != null : !tried);
        long now = System.nanoTime();
        long left = began + (waits ? patienceMax : patience) - now;
        if (left <= 0) break;
        if (tried && now - reminder >= 0) {
          reminder = now + TimeUnit.MILLISECONDS.toNanos(REMINDER_MILLIS);
          LOG.warn("{}; waiting for one up to {} more", unopened(), seconds(left));
        }
        var _ = changed.awaitNanos(tried ? Math.min(left, reminder - now) : left);
      }
      if (server == null) {
        failure = new Unavailable(unopened());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failure = new Unavailable("interrupted while connecting to \"" + url.url() + "\"");
    } finally {
      lock.unlock();
    }
    if (failure == null) return;
    close();
    throw failure;
  }

  private static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
  }

  /// Returns why there is no connection. The caller holds lock.
  private String unopened() {
    String quoted = "\"" + url.url() + "\"";
    if (refusal != null) return quoted + " cannot be opened: " + refusal;
    Status last = ended;
    String told = last == null ? null : last.description();
    if (told != null && told.startsWith(FrameLimits.FAILED)) {
      return "the server at " + quoted + " takes no calls: " + told;
    }
    if (isLeaderless()) return "servers answer at " + quoted + ", and " + NOBODY;
    return "no server answers at "
        + quoted
        + (last == null || last.isOk() ? "" : " (" + last + ")")
        + "; start one with ./stoa serve; one that wants TLS needs its certificate in"
        + " StoaConfig.withSecurity";
  }

  /// Returns whether servers are reachable but none has the store. The caller holds lock.
  private boolean isLeaderless() {
    return link == null && (leaderless || (attempt != null && attempt.isReached()));
  }

  /// Adds its measurements to a report.
  void measure(Measures out) {
    lock.lock();
    try {
      out.count(
          "stoa.client.connections",
          Measures.NO_UNIT,
          "Connections to a server that were made, the first one included.",
          connections);
      out.gauge(
          "stoa.client.connected",
          Measures.NO_UNIT,
          "1 while the client is connected to the group's server; otherwise 0.",
          link == null ? 0 : 1);
      out.gauge(
          "stoa.client.requests.waiting",
          Measures.NO_UNIT,
          "Requests that wait to be sent.",
          session.waiting());
    } finally {
      lock.unlock();
    }
  }

  // ---- for requests

  Containers containers() {
    return containers;
  }

  /// Returns the address of the connected server; null without a connection.
  @Nullable Address place() {
    lock.lock();
    try {
      Link now = link;
      return now == null ? null : now.address();
    } finally {
      lock.unlock();
    }
  }

  /// Returns a further channel to a server.
  Channel channel(Address address) {
    return channels.to(address);
  }

  /// Returns the server's hello on the last connection.
  ServerHello server() {
    ServerHello said = server;
    if (said == null) throw new Closed("the store is not open");
    return said;
  }

  /// Returns the log counter that this client has seen.
  AtomicLong observed() {
    return observed;
  }

  /// Returns the log counter up to which the server has announced all changes of followed objects.
  long moment() {
    return moment;
  }

  /// Returns the server's number of the session.
  long session() {
    return id;
  }

  /// Returns the life of the session at the server: another life has forgotten the state of the
  /// session.
  int life() {
    return life;
  }

  /// Makes a request and waits for its answer.
  ///
  /// @throws stoa.UnknownOutcome when the server may have executed it, and no answer came
  /// @throws Unavailable when the client has not sent it
  Answer ask(Outgoing outgoing) {
    begin(outgoing);
    return await(outgoing);
  }

  /// Makes a request, after all earlier requests of this thread.
  void begin(Outgoing outgoing) {
    long wait = limits.callTimeMax().toMillis() + TROUBLE_MILLIS;
    outgoing.deadlineNanos(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(wait));
    outgoing.trace(Trace.current());
    RuntimeException refused = null;
    boolean alone = false;
    lock.lock();
    try {
      if (!awaitRoom(outgoing.deadlineNanos())) refused = session.full();
      else if (closing) refused = closed();
      else session.submit(outgoing);
      alone = session.underWay() == 1;
    } finally {
      lock.unlock();
    }
    if (refused != null) {
      outgoing.settle(null, refused);
      throw refused;
    }
    if (alone) flushHere();
    else flush();
  }

  private boolean awaitRoom(long deadlineNanos) {
    boolean interrupted = false;
    try {
      while (!session.hasRoom() && !closing) {
        long left = deadlineNanos - System.nanoTime();
        if (left <= 0) return false;
        try {
          var _ = room.awaitNanos(left);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      return true;
    } finally {
      if (interrupted) Thread.currentThread().interrupt();
    }
  }

  /// Waits for the answer of a begun request.
  Answer await(Outgoing outgoing) {
    while (!outgoing.await(outgoing.deadlineNanos() - TROUBLE_NANOS)) {
      expireUnsent(outgoing);
      if (!outgoing.await(outgoing.deadlineNanos())) expire(outgoing);
    }
    return outgoing.answer();
  }

  /// Begins a request whose answer a listener takes; the keeper fails it when its time is over.
  void begin(Outgoing outgoing, java.util.function.Consumer<Outgoing> listener) {
    outgoing.whenSettled(listener);
    begin(outgoing);
    if (outgoing.isSettled()) return;
    lock.lock();
    try {
      timed.add(outgoing);
    } finally {
      lock.unlock();
    }
  }

  /// Sends a request of the client's own, without waiting for its answer.
  void tell(Outgoing outgoing) {
    lock.lock();
    try {
      if (closing) return;
      session.submit(outgoing);
    } finally {
      lock.unlock();
    }
    flush();
  }

  private void expire(Outgoing outgoing) {
    RuntimeException cause;
    lock.lock();
    try {
      if (outgoing.isSettled() || mayWait(outgoing)) return;
      cause = expire(outgoing, limits.callTimeMax().toMillis() + TROUBLE_MILLIS);
    } finally {
      lock.unlock();
    }
    outgoing.settle(null, cause);
  }

  /// Gives a patient request more time while the client is connected. Called with lock held.
  private boolean mayWait(Outgoing outgoing) {
    if (!outgoing.isPatient() || link == null || closing) return false;
    outgoing.deadlineNanos(System.nanoTime() + limits.callTimeMax().toNanos() + TROUBLE_NANOS);
    return true;
  }

  /// Gives up a request that no server has got, while none is there.
  private void expireUnsent(Outgoing outgoing) {
    RuntimeException cause;
    lock.lock();
    try {
      if (outgoing.isSettled() || link != null || outgoing.sequence != 0) return;
      cause = expire(outgoing, limits.callTimeMax().toMillis());
    } finally {
      lock.unlock();
    }
    outgoing.settle(null, cause);
  }

  /// Called with lock held.
  private RuntimeException expire(Outgoing outgoing, long waitedMillis) {
    String why = isLeaderless() ? ", since " + NOBODY : "";
    if (refusal != null) why = ", since " + refusal;
    return session.expire(outgoing, waitedMillis + " ms" + why);
  }

  private void leave(Container container) {
    if (container.openedIn == 0) return;
    var close = stoa.wire.proto.Close.newBuilder().setContainer(container.number());
    tell(Outgoing.of(Request.newBuilder().setClose(close), Outgoing.Recovery.READ, 0));
  }

  private static Closed closed() {
    return new Closed("the store is closed");
  }

  // ---- sending

  /// Lets the writing thread send the queued requests, unless it is about to.
  private void flush() {
    if (sending.getAndIncrement() == 0) channels.execute(this::sendAll);
  }

  /// Sends the queued requests on this thread, unless another one is about to: a lone caller wakes
  /// no other thread. The writing thread sends the requests that others have queued meanwhile.
  private void flushHere() {
    if (sending.getAndIncrement() != 0) return;
    int seen = sending.get();
    boolean more = sendNext();
    if (more) more = sendNext();
    if (more || sending.addAndGet(-seen) != 0) channels.execute(this::sendAll);
  }

  private void sendAll() {
    int seen = sending.get();
    do {
      while (sendNext()) {}
      seen = sending.addAndGet(-seen);
    } while (seen != 0);
  }

  private boolean sendNext() {
    Link to;
    ClientFrame frame;
    List<ClientSession.Failed> failed;
    lock.lock();
    try {
      to = link;
      if (to == null || !to.isReady()) return false;
      frame = session.nextFrame();
      failed = session.takeFailed();
      if (frame != null && lock.hasWaiters(room)) room.signalAll();
    } finally {
      lock.unlock();
    }
    settle(failed);
    if (frame == null) return false;
    to.send(frame);
    return true;
  }

  private static void settle(List<ClientSession.Failed> failed) {
    for (var one : failed) one.outgoing().settle(null, one.cause());
  }

  // ---- receiving

  private final class Receiving implements Link.Events {
    @Override
    public void frame(Link from, ServerFrame frame) {
      heardNanos = System.nanoTime();
      if (frame.hasElsewhere()) {
        elsewhere(frame.getElsewhere());
        return; // the end of the connection follows
      }
      if (frame.hasHello() && !welcome(from, frame.getHello())) return;
      long before = moment;
      for (Changed told : frame.getChangesList()) listener.changed(told, before);
      // After the changes: a reader that has observed something of another group may look at both
      // at any time.
      moment = Math.max(before, frame.getMoment());
      List<Answer> answers = frame.getAnswersList();
      var whose = new @Nullable Outgoing[answers.size()];
      lock.lock();
      try {
        if (from != link) return;
        session.moment(frame.getMoment());
        for (int i = 0; i < whose.length; i++) whose[i] = session.answered(answers.get(i));
        if (frame.getDraining()) session.draining();
        selector.learn(frame.getServersList());
        if (session.isDrained() || closing) changed.signalAll();
      } finally {
        lock.unlock();
      }
      for (int i = 0; i < whose.length; i++) {
        Outgoing outgoing = whose[i];
        if (outgoing == null) continue;
        Answer answer = answers.get(i);
        // A fetched state counts as seen when a view reads it.
        if (!answer.hasState()) observe(answer.getReach());
        outgoing.settle(answer, null);
      }
      for (Event event : frame.getEventsList()) listener.event(event);
      flush();
    }

    @Override
    public void ready() {
      flush();
    }

    @Override
    public void over(Link from, Status status) {
      lock.lock();
      try {
        if (from != link && from != attempt) return;
        ended = status;
        if (status.code() == Status.Code.NOT_FOUND) session.ended();
        refusal = refusal(status);
        silent &= from != attempt;
        leaderless |= from == attempt && from.isReached() && !status.isOk();
        if (from == link) session.disconnected();
        else if (status.code() == Status.Code.UNAVAILABLE) selector.failed();
        link = null;
        attempt = null;
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /// Returns why a server refused the conversation, when another attempt cannot help; null
  /// otherwise.
  private static @Nullable String refusal(Status status) {
    return switch (status.code()) {
      case UNAUTHENTICATED, PERMISSION_DENIED ->
          "the server refuses this client: "
              + status.description()
              + "; give its token in StoaConfig.withSecurity";
      case FAILED_PRECONDITION -> "the server refuses this client: " + status.description();
      case UNIMPLEMENTED -> "what listens there is no server of Stoa: " + status.description();
      default -> null;
    };
  }

  private void elsewhere(Whereabouts told) {
    lock.lock();
    try {
      leaderless = false;
      selector.learn(told.getServersList());
      selector.elsewhere(told.getLeader());
    } finally {
      lock.unlock();
    }
  }

  /// Notes the log counter that this client has seen.
  void observe(long counter) {
    if (counter > observed.get()) observed.accumulateAndGet(counter, Math::max);
  }

  private boolean welcome(Link from, ServerHello hello) {
    boolean forgotten;
    List<ClientSession.Failed> failed;
    lock.lock();
    try {
      if (from != attempt) return false;
      int before = session.life();
      session.connected(hello);
      selector.arrived();
      selector.learn(hello.getServersList());
      forgotten = before != 0 && session.life() != before;
      life = session.life();
      id = session.id();
      failed = session.takeFailed();
      server = hello;
      link = from;
      connections++;
      attempt = null;
      leaderless = false;
      refusal = null;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    settle(failed);
    if (forgotten) listener.forgotten();
    return true;
  }

  // ---- keeping a connection

  private void keep() {
    var backoff = new Backoff(new SplittableRandom());
    try {
      while (true) {
        boolean worked = converse(nextAddress());
        if (isOver()) return;
        if (worked) backoff.reset();
        if (isPauseDue()) {
          allTried();
          pause(backoff.nextMillis(wasTold()));
        }
        if (isOver()) return;
      }
    } catch (InterruptedException e) {
      LOG.debug("the thread that keeps the connection was interrupted", e);
    } finally {
      fail();
    }
  }

  private Address nextAddress() {
    lock.lock();
    try {
      return selector.next();
    } finally {
      lock.unlock();
    }
  }

  private boolean wasTold() {
    lock.lock();
    try {
      return selector.wasTold();
    } finally {
      lock.unlock();
    }
  }

  private boolean isPauseDue() {
    lock.lock();
    try {
      return selector.isRoundOver();
    } finally {
      lock.unlock();
    }
  }

  private void allTried() {
    lock.lock();
    try {
      tried = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private boolean isOver() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  private void pause(long millis) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    lock.lock();
    try {
      while (!closed) {
        long left = deadline - System.nanoTime();
        if (left <= 0) break;
        var _ = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
    expireTimed();
  }

  /// Connects to an address, and stays until the connection is over; returns whether there was one.
  private boolean converse(Address address) throws InterruptedException {
    var made = new Link(channels.to(address), new Receiving());
    ClientFrame hello;
    lock.lock();
    try {
      attempt = made;
      hello =
          ClientFrame.newBuilder().setHello(session.hello().toBuilder().setGroup(group)).build();
    } finally {
      lock.unlock();
    }
    try {
      made.open(hello);
    } catch (IllegalArgumentException wrong) {
      unusable(made, wrong);
      return false;
    }
    boolean worked = awaitWelcome(made);
    if (worked) stay(made);
    lock.lock();
    try {
      if (link == made) {
        session.disconnected();
        link = null;
      }
      if (attempt == made) {
        silent = true;
        leaderless |= made.isReached();
        attempt = null;
      }
    } finally {
      lock.unlock();
    }
    made.close();
    return worked;
  }

  /// Notes that an attempt cannot begin: a certificate or a token is unusable.
  private void unusable(Link made, IllegalArgumentException wrong) {
    lock.lock();
    try {
      if (attempt == made) attempt = null;
      refusal = String.valueOf(wrong.getMessage());
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    made.close();
  }

  private boolean awaitWelcome(Link made) throws InterruptedException {
    long patience =
        TimeUnit.MILLISECONDS.toNanos(selector.isAlone() ? HELLO_MILLIS : WELCOME_MILLIS);
    long deadline = System.nanoTime() + patience;
    lock.lock();
    try {
      while (attempt == made && !closed) {
        long left = deadline - System.nanoTime();
        if (left <= 0) break;
        var _ = changed.awaitNanos(Math.min(left, TimeUnit.MILLISECONDS.toNanos(TICK_MILLIS)));
      }
      return link == made;
    } finally {
      lock.unlock();
    }
  }

  private void stay(Link made) throws InterruptedException {
    flush();
    while (true) {
      lock.lock();
      try {
        if (link != made || closed || session.isDrained()) return;
        var _ = changed.await(TICK_MILLIS, TimeUnit.MILLISECONDS);
      } finally {
        lock.unlock();
      }
      expireTimed();
      acknowledge();
      if (isSilent()) askAnother(made);
    }
  }

  private boolean isSilent() {
    long silent = System.nanoTime() - heardNanos;
    if (silent < TimeUnit.MILLISECONDS.toNanos(SILENCE_MILLIS)) return false;
    lock.lock();
    try {
      boolean isAsked = session.underWay() > 0 || doubted;
      long patience = isAsked ? SILENCE_MILLIS : server().getLeaseMillis() / QUESTIONS;
      return silent >= TimeUnit.MILLISECONDS.toNanos(patience) && !selector.isAlone();
    } finally {
      doubted = false;
      lock.unlock();
    }
  }

  /// Notes that the server leaves other questions unanswered: if it is silent here too, the client
  /// asks another server whether this one still has the store.
  void doubt() {
    doubted = true;
  }

  /// Asks another server about a silent one, unless such a question is in progress.
  private void askAnother(Link silent) {
    heardNanos = System.nanoTime();
    Address other;
    lock.lock();
    try {
      if (questioned == silent) return;
      other = selector.other(silent.address());
      if (other == null) return;
      questioned = silent;
    } finally {
      lock.unlock();
    }
    // The answer may take until there is another leader, and the connection may be over before.
    Thread.ofVirtual().name("stoa-client-where").start(() -> question(silent, other));
  }

  /// Asks a server which server has the group's part of the store; returns null when it does not
  /// say so in time.
  private @Nullable Whereabouts whereabouts(Address of) {
    Channel channel = channels.to(of);
    try {
      return new SingleRequests(channel, WELCOME_MILLIS)
          .where(WhereRequest.newBuilder().setGroup(group).build());
    } catch (StatusException | IllegalArgumentException silent) {
      return null;
    } finally {
      channel.cut();
    }
  }

  /// Leaves a silent server when another one says that it no longer has the store.
  private void question(Link silent, Address other) {
    Whereabouts told = whereabouts(other);
    lock.lock();
    try {
      if (questioned == silent) questioned = null;
      if (link != silent || told == null || told.getLeader().isEmpty()) return;
      if (told.getLeader().equals(silent.address().toString())) return;
      elsewhere(told);
    } finally {
      lock.unlock();
    }
    silent.cut();
  }

  /// Acknowledges the arrived answers, when no thread sends.
  private void acknowledge() {
    if (!sending.compareAndSet(0, 1)) return;
    Link to;
    ClientFrame frame;
    lock.lock();
    try {
      to = link;
      frame = to != null && to.isReady() ? session.acknowledgement() : null;
    } finally {
      lock.unlock();
    }
    if (to != null && frame != null) to.send(frame);
    if (sending.addAndGet(-1) == 0) return;
    sending.set(0);
    flush();
  }

  private void expireTimed() {
    List<Outgoing> late = new ArrayList<>();
    List<Outgoing> soon = new ArrayList<>();
    long now = System.nanoTime();
    lock.lock();
    try {
      timed.removeIf(outgoing -> {
        if (outgoing.isSettled()) return true;
        long left = outgoing.deadlineNanos() - now;
        if (left > 0) {
          if (left <= TROUBLE_NANOS) soon.add(outgoing);
          return false;
        }
        if (mayWait(outgoing)) return false;
        late.add(outgoing);
        return true;
      });
    } finally {
      lock.unlock();
    }
    soon.forEach(this::expireUnsent);
    late.forEach(this::expire);
  }

  // ---- its end

  private void fail() {
    List<ClientSession.Failed> failed;
    lock.lock();
    try {
      session.abandon(Conversation::closed);
      failed = session.takeFailed();
    } finally {
      lock.unlock();
    }
    settle(failed);
  }

  /// Waits for the calls in progress, up to [Limits#closeTimeMax()], says goodbye and ends. Calls
  /// that may wait for conditions end with it.
  @Override
  public void close() {
    long deadline = System.nanoTime() + limits.closeTimeMax().toNanos();
    Outgoing goodbye = null;
    lock.lock();
    try {
      if (closing) return;
      closing = true;
      room.signalAll();
      while (session.isBusy()) {
        long left = deadline - System.nanoTime();
        if (left <= 0 || !keeper.isAlive()) break;
        try {
          var _ = changed.awaitNanos(left);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          break;
        }
      }
      if (link != null) {
        goodbye =
            Outgoing.of(
                Request.newBuilder().setGoodbye(Goodbye.getDefaultInstance()),
                Outgoing.Recovery.UNKNOWN,
                0);
        goodbye.deadlineNanos(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(GOODBYE_MILLIS));
        session.submit(goodbye);
      }
    } finally {
      lock.unlock();
    }
    if (goodbye != null) {
      flush();
      var _ = goodbye.await(goodbye.deadlineNanos());
    }
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    try {
      keeper.join(GOODBYE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    fail();
    channels.close();
  }

  /// Cuts the connection, as a failing network does.
  void cut() {
    Link now;
    lock.lock();
    try {
      now = link;
    } finally {
      lock.unlock();
    }
    if (now != null) now.cut();
  }

  void check() {
    if (closing) throw closed();
  }
}
