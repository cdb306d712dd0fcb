package stoa.client;

import com.google.protobuf.ByteString;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.LimitExceeded;
import stoa.NotShareable;
import stoa.Ref;
import stoa.Stoa;
import stoa.base.Encoder;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.front.CopyMoment;
import stoa.front.MethodRun;
import stoa.front.PlacedState;
import stoa.front.Refusals;
import stoa.front.Service;
import stoa.front.SharedCall;
import stoa.front.SharedStoa;
import stoa.front.code.CodeVersion;
import stoa.front.marshal.Marshaller;
import stoa.front.marshal.Reference;
import stoa.front.types.SharedMethod;
import stoa.spi.CallContext;
import stoa.spi.Forkable;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Changes;
import stoa.wire.proto.Fetch;
import stoa.wire.proto.FetchPart;
import stoa.wire.proto.Follow;
import stoa.wire.proto.Replays;
import stoa.wire.proto.Request;
import stoa.wire.proto.State;

/// The client's state of one object for its local and cached views. Thread-safe; accessors run one
/// at a time.
final class LocalCopy implements Service.Copy {
  /*
   * The state shows all changes up to the log counter `from` at least. The server announces changes
   * of followed objects; the moment of a frame is the counter up to which it has announced all
   * changes.
   *
   * A cached view may answer from the state under two conditions. First, this client has observed
   * nothing at or after the first change that the state does not show. Second, the announcements
   * reach as far as its observations, or at least as far as its observations when it asked for the
   * state. (In a store of several groups an observation may be of another group; the state includes
   * all changes with a lower address.) All that a client sees then happens in the order of the log.
   * A newer state is on its way meanwhile, see Followed; if none is, the reader fetches it.
   *
   * After a drop, the local copy follows nothing and has no state: the next question follows and
   * fetches again.
   *
   * The client asks for the changes behind its state, see ReplayedState, or takes a whole state: the
   * server decides which one has fewer bytes. After a few doubts the client takes whole states alone.
   *
   * A state that is larger than all local copies may be together is not kept here: its accessors run
   * at the server, as long as the session lives.
   */
  private static final Logger LOG = LoggerFactory.getLogger(LocalCopy.class);
  private static final int PROVING_RUNS = 32;
  private static final int DOUBTS_MAX = 3;
  private static final int TRIES_MAX = 4;

  /// An accessor asks other objects, or its object is too large for a message: it runs at the
  /// server.
  static final class RunsAtServer extends Error {
    private static final long serialVersionUID = 1L;

    private RunsAtServer() {
      super("it runs where its objects are", null, false, false);
    }
  }

  private final RemotePart stoa;
  private final LocalCopies localCopies;
  private final LocalCopies.Entry held;
  private final Key key;
  private final ReentrantLock lock = new ReentrantLock();
  private final ConcurrentHashMap<SharedMethod, Integer> runs = new ConcurrentHashMap<>();
  private volatile boolean read;

  // Guarded by lock.
  private @Nullable Followed followed;

  // The life of the session in which the state was too large, 0 before.
  private int tooLargeIn;

  private @Nullable Object instance;
  private byte @Nullable [] thrown;

  // The state when it goes on by changes; its object is the instance.
  private @Nullable ReplayedState replayed;
  private boolean loaded;

  // How often the changes have led to a doubt.
  private int doubts;

  // The version of this process's code, empty for classes of Stoa; null while it is not known.
  private @Nullable ByteString code;
  private @Nullable Long form;
  private long version;
  private long generation;
  private long from;

  // The log counter that this client had observed when it last waited for a state.
  private long proven;

  /// @param held the entry of this local copy among all
  LocalCopy(RemotePart stoa, LocalCopies localCopies, Key key, LocalCopies.Entry held) {
    this.stoa = stoa;
    this.localCopies = localCopies;
    this.key = key;
    this.held = held;
  }

  /// Returns whether a view has read it since the last call of this method.
  boolean wasRead() {
    boolean was = read;
    read = false;
    return was;
  }

  /// Drops the state, unless it is in use. Any thread may call this.
  void drop() {
    if (lock.isHeldByCurrentThread() || !lock.tryLock()) return;
    try {
      followed = null;
      empty();
    } finally {
      lock.unlock();
    }
    held.follow(null);
  }

  @Override
  public @Nullable Object ask(
      SharedCall live, SharedMethod method, @Nullable Object[] arguments, Freshness freshness)
      throws Throwable {
    try {
      return askHere(live, method, arguments, freshness);
    } catch (RunsAtServer itAsksOthers) {
      CopyMoment moment = CopyMoment.current(stoa.service().stoa());
      if (moment != null) throw moment.elsewhere();
      // Its answer is of one moment, at the server.
      return live.invoke(method, arguments);
    }
  }

  private @Nullable Object askHere(
      SharedCall live, SharedMethod method, @Nullable Object[] arguments, Freshness freshness)
      throws Throwable {
    if (runs.getOrDefault(method, 0) < 0) throw new RunsAtServer();
    Marshaller marshaller = stoa.marshaller();
    for (int i = 0; i < arguments.length; i++) {
      if (!marshaller.isValue(arguments[i])) arguments[i] = marshaller.copy(arguments[i]);
    }
    stoa.conversation().check();
    lock.lock();
    try {
      if (!read) read = true;
      switch (freshness) {
        case NOW -> fetch(live);
        case SEEN -> bring(live);
      }
      stoa.conversation().observe(from);
      CopyMoment moment = CopyMoment.current(stoa.service().stoa());
      if (moment != null) moment.saw(from, until());
      check(live.existence());
      live.bind(generation);
      return run(live, method, arguments);
    } finally {
      lock.unlock();
    }
  }

  /// Brings the state up to date with what this client has seen, or further when a newer one has
  /// arrived.
  private void bring(SharedCall live) {
    Conversation conversation = stoa.conversation();
    Followed now = followed;
    if (now == null || !loaded || now.life() != conversation.life()) {
      fetch(live);
      return;
    }
    now.used();
    // Read before the announcements up to it: the next frame may announce a change, and a later
    // moment.
    long moment = conversation.moment();
    long first = now.firstUnseen();
    if (first != Followed.NONE) {
      Followed.Arrived arrived = now.take();
      if (arrived != null) {
        var _ = take(live, now, arrived.state(), arrived.told());
        now.next(question(live, now).build());
        first = now.firstUnseen();
      }
    }
    long observed = conversation.observed().get();
    boolean seen = observed < first && observed <= Math.max(moment, proven);
    // If nothing is on its way, this reader fetches, so that the next one sees the change.
    if (!seen || (first != Followed.NONE && !now.isAsking())) fetch(live);
  }

  /// Returns a counter up to which the state shows all changes.
  private long until() {
    Followed now = followed;
    if (now == null) return from;
    long moment = stoa.conversation().moment(); // before the announcements up to it
    long first = now.firstUnseen();
    return Math.max(from, Math.min(first - 1, Math.max(moment, proven)));
  }

  private void fetch(SharedCall live) {
    if (tooLargeIn == stoa.conversation().life()) throw new RunsAtServer();
    for (int tries = 1; ; tries++) {
      Followed now = follow();
      long told = now.told();
      long observed = stoa.conversation().observed().get();
      Fetch.Builder asked = question(live, now);
      asked.setUnlessVersion(loaded ? version + 1 : 0);
      try {
        State state = ask(now, Request.newBuilder().setFetch(asked)).getState();
        boolean taken = take(live, now, state, told);
        now.next(question(live, now).build());
        if (taken && !state.getChanges().getMore()) {
          proven = Math.max(proven, observed);
          return;
        }
        if (!taken && tries == TRIES_MAX) throw new RunsAtServer();
      } catch (LimitExceeded tooLarge) {
        // Changes that fit into no message; or a state.
        if (asked.hasReplays() && doubts < DOUBTS_MAX) {
          doubts = DOUBTS_MAX;
          forget();
          continue;
        }
        leave(now);
      }
    }
  }

  /// Leaves the object to the server, as long as the session lives.
  private void leave(Followed now) {
    tooLargeIn = now.life();
    followed = null;
    forget();
    held.follow(null);
    throw new RunsAtServer();
  }

  /// Returns a question for the present state.
  private Fetch.Builder question(SharedCall live, Followed now) {
    var asked = Fetch.newBuilder().setContainer(now.container().number()).setParts(true);
    if (doubts >= DOUBTS_MAX) return asked;
    ByteString own = code;
    if (own == null) {
      own = code(live);
      code = own;
    }
    var replays = Replays.newBuilder().setCode(own);
    ReplayedState known = replayed;
    if (known != null) replays.setAfter(known.version() + 1).setGeneration(generation);
    return asked.setReplays(replays);
  }

  private ByteString code(SharedCall live) {
    try {
      StreamId name = CodeVersion.of(live.shared().implementation()).name();
      return name == null
          ? ByteString.EMPTY
          : ByteString.copyFrom(new Encoder(16).id(name).toBytes());
    } catch (LimitExceeded noVersion) {
      doubts = DOUBTS_MAX;
      return ByteString.EMPTY;
    }
  }

  private void forget() {
    empty();
    localCopies.loaded(held, 0);
  }

  private void empty() {
    instance = null;
    thrown = null;
    replayed = null;
    loaded = false;
  }

  /// Returns the announced changes of the object, in this life of the session.
  private Followed follow() {
    Conversation conversation = stoa.conversation();
    int life = conversation.life();
    Followed now = followed;
    if (now != null && now.life() == life) return now;
    empty();
    Container container = conversation.containers().use(key, null);
    now = new Followed(conversation, container, life);
    synchronized (container) {
      container.follower = now;
    }
    held.follow(now);
    var follow = Follow.newBuilder().setContainer(container.number());
    try {
      var _ = ask(now, Request.newBuilder().setFollow(follow));
    } catch (RuntimeException failed) {
      held.follow(null);
      throw failed;
    }
    followed = now;
    return now;
  }

  /// Takes a state, unless there is a newer one; returns false when the client must ask again.
  ///
  /// @param told the last announced change when the client asked for it
  private boolean take(SharedCall live, Followed now, State state, long told) {
    if (loaded && state.getFrom() < from) return true;
    boolean same = state.getUnchanged() || (loaded && state.getVersion() == version);
    if (!same && !load(live, now, state)) return false;
    from = Math.max(from, state.getFrom());
    now.shows(state.getChanges().getMore() ? from : Math.max(from, told));
    return true;
  }

  /// Loads another state; returns false when the client must ask again.
  private boolean load(SharedCall live, Followed now, State state) {
    localCopies.arrived(state);
    boolean begins = !state.hasChanges() || state.getCheckpoint().size() > 0;
    ReplayedState known = replayed;
    if (begins || known == null || !goesOn(known, state)) {
      byte[] checkpoint = whole(now, state);
      if (checkpoint == null) return false;
      empty();
      if (!state.hasChanges()) {
        version = state.getVersion();
        generation = state.getGeneration();
        load(live, checkpoint);
        return true;
      }
      Changes changes = state.getChanges();
      boolean isBeginning = checkpoint.length == 0;
      // Changes that lead from a state that has left.
      if (isBeginning && changes.getAfter() >= state.getGeneration()) return false;
      byte[] encoded = isBeginning ? null : Arrays.copyOfRange(checkpoint, 1, checkpoint.length);
      known = new ReplayedState(stoa, live.shared(), key, encoded, changes);
    }
    return execute(live, known, state);
  }

  private boolean goesOn(ReplayedState known, State state) {
    return generation == state.getGeneration()
        && state.getChanges().getAfter() >= generation
        && state.getChanges().getAfter() <= known.version();
  }

  private boolean execute(SharedCall live, ReplayedState known, State state) {
    Long own = form;
    if (own == null) {
      own = stoa.marshaller().form(live.shared());
      form = own;
    }
    empty();
    try {
      known.execute(state.getGeneration(), state.getChanges(), own);
    } catch (ReplayedState.Doubt doubt) {
      LOG.info("{}; the client fetches it", doubt.getMessage(), doubt.getCause());
      doubts++;
      localCopies.doubted();
      localCopies.loaded(held, 0);
      return false;
    }
    replayed = known;
    instance = known.instance();
    version = state.getVersion();
    generation = state.getGeneration();
    loaded = true;
    localCopies.loaded(held, known.weight());
    return true;
  }

  /// Returns the checkpoint of a state, after fetching its other parts; null when the server no
  /// longer has them.
  private byte @Nullable [] whole(Followed now, State state) {
    if (state.getParts() == 0) return state.getCheckpoint().toByteArray();
    if (state.getBytes() > localCopies.bytesMax()) leave(now);
    var all = new byte[(int) state.getBytes()];
    ByteString part = state.getCheckpoint();
    for (int at = 0; ; ) {
      if (part.isEmpty() || part.size() > all.length - at) return null;
      part.copyTo(all, at);
      at += part.size();
      if (at == all.length) return all;
      var asked =
          FetchPart.newBuilder()
              .setContainer(now.container().number())
              .setNumber(state.getParts())
              .setOffset(at);
      try {
        part = ask(now, Request.newBuilder().setFetchPart(asked)).getData();
      } catch (LimitExceeded left) {
        return null;
      }
    }
  }

  private Answer ask(Followed now, Request.Builder request) {
    Container container = now.container();
    if (!container.use()) throw new IllegalStateException("the container of a view is closed");
    Answer answer =
        stoa.conversation().ask(Outgoing.on(container, request, Outgoing.Recovery.READ, 16));
    if (answer.hasFailure()) {
      var refusal = container.refusal;
      throw stoa.requests().failure(refusal == null ? answer.getFailure() : refusal);
    }
    return answer;
  }

  private void load(SharedCall live, byte[] checkpoint) {
    if (checkpoint.length == 0) {
      loaded = true;
      localCopies.loaded(held, 0);
      return;
    }
    if (checkpoint[0] == 1) {
      thrown = Arrays.copyOfRange(checkpoint, 1, checkpoint.length);
    } else if (checkpoint[0] == 0) {
      instance = stoa.marshaller().state(live.shared(), checkpoint, 1, checkpoint.length);
    } else {
      byte[] state = PlacedState.inCheckpoint(checkpoint).bytes();
      instance = stoa.marshaller().state(live.shared(), state);
    }
    loaded = true;
    localCopies.loaded(held, checkpoint.length);
  }

  private void check(Existence existence) {
    if (existence.isGone(generation, version)) {
      throw Refusals.gone(key);
    }
  }

  private @Nullable Object run(SharedCall live, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    byte[] failed = thrown;
    if (failed != null) throw stoa.marshaller().thrown(failed);
    Object target = instance;
    if (target == null) {
      // The server creates an absent object, unless the view shows several objects at one moment.
      if (CopyMoment.current(stoa.service().stoa()) == null) throw new RunsAtServer();
      target = ScopedValue.where(CallContext.CURRENT, new Reading(null)).call(() -> first(live));
      return called(target, method, arguments);
    }
    boolean proven = runs.getOrDefault(method, 0) >= PROVING_RUNS;
    if (target instanceof Forkable<?> forkable) return called(forkable.fork(), method, arguments);
    if (proven) return called(target, method, arguments);
    Marshaller marshaller = stoa.marshaller();
    byte[] before = marshaller.state(live.shared(), target);
    Object result = called(target, method, arguments);
    if (!Arrays.equals(before, marshaller.state(live.shared(), target))) {
      empty();
      throw new NotShareable(
          method + " is an @Accessor and changed its object; take the annotation away");
    }
    runs.merge(method, 1, Integer::sum);
    return result;
  }

  /// Returns the object in its first state.
  private static Object first(SharedCall live) {
    try {
      return live.construct();
    } catch (RunsAtServer | VirtualMachineError passedOn) {
      throw passedOn;
    } catch (Throwable failed) {
      throw new RunsAtServer(); // whose answer is the failure
    }
  }

  private @Nullable Object called(Object target, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    var context = new Reading(target);
    try {
      return ScopedValue.where(CallContext.CURRENT, context)
          .call(() -> {
            try {
              return stoa.marshaller().copy(method.invoke(target, arguments));
            } catch (Exception | Error passedOn) {
              throw passedOn;
            } catch (Throwable checked) {
              throw new IllegalStateException(checked);
            }
          });
    } catch (RunsAtServer elsewhere) {
      runs.put(method, Integer.MIN_VALUE);
      throw elsewhere;
    } catch (Exception told) {
      // A copy, as the server's answer would be.
      byte[] encoded =
          ScopedValue.where(CallContext.CURRENT, context)
              .call(() -> stoa.marshaller().thrown(told));
      throw stoa.marshaller().thrown(encoded);
    }
  }

  /// The context of an accessor that runs here.
  private final class Reading implements MethodRun {
    private final @Nullable Object target;

    private Reading(@Nullable Object target) {
      this.target = target;
    }

    /// Returns the reference of an object, if it is the one whose accessor runs.
    @SuppressWarnings("ReferenceEquality") // Justification: this very instance, not an equal one
    @Override
    public @Nullable Reference referenceOf(Object object) {
      return object == target
          ? new Reference(Objects.requireNonNull((Ref<?>) key.label()), generation)
          : null;
    }

    @Override
    public Instant now() {
      throw new RunsAtServer();
    }

    @Override
    public RandomGenerator random() {
      throw new RunsAtServer();
    }

    @Override
    public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
      return stoa.service().stoa().get(type, key, args);
    }

    @Override
    public <T> T collection(Function<Stoa, T> opening) {
      throw new RunsAtServer();
    }

    @Override
    public long version() {
      return version;
    }

    @Override
    public boolean takes(SharedStoa of) {
      return true;
    }

    @Override
    public @Nullable Object call(SharedCall to, SharedMethod called, @Nullable Object[] arguments) {
      throw new RunsAtServer();
    }
  }
}
