package stoa.client;

import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.Gone;
import stoa.NotShareable;
import stoa.objects.marshal.Marshaller;
import stoa.objects.marshal.Reference;
import stoa.objects.types.SharedMethod;
import stoa.spi.CallContext;
import stoa.spi.Forkable;
import stoa.store.Existence;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Fetch;
import stoa.wire.proto.Follow;
import stoa.wire.proto.Request;
import stoa.wire.proto.State;

/// The state of one object that is kept at the client for its local and cached views. Thread-safe;
/// accessors run one at a time.
final class Replica {
  /*
   * The state is what is seen from the log counter `from` on, up to before the next change. The
   * server tells of changes of what is followed: `changed` is the highest counter of a change that
   * was told. A frame's moment says up to where all changes have been told.
   *
   * A cached view may answer from the state when no change that it does not show lies at or below
   * what this client has observed: changed <= from, or observed < the first change behind from; and
   * what was told reaches as far as what was observed. All that a client sees then happens in the
   * order of the log.
   *
   * `firstUnseen` is the counter of the first change behind the state, Long.MAX_VALUE when none was
   * told. A change is told only once the follow was answered; until then nothing may be cached.
   */
  private static final int PROVING_RUNS = 32;
  private static final long NONE = Long.MAX_VALUE;

  /// An accessor asks other objects: it runs where they are.
  static final class Elsewhere extends Error {
    private static final long serialVersionUID = 1L;

    private Elsewhere() {
      super("it asks other objects", null, false, false);
    }
  }

  private final RemoteStoa stoa;
  private final Container container;
  private final ReentrantLock lock = new ReentrantLock();
  private final ConcurrentHashMap<SharedMethod, Integer> runs = new ConcurrentHashMap<>();
  private final AtomicLong firstUnseen = new AtomicLong(NONE);

  /// The life of the session in which it is followed, 0 when it is not.
  private volatile int followedIn;

  // Guarded by lock.
  private @Nullable Object instance;
  private byte @Nullable [] thrown;
  private boolean loaded;
  private long version;
  private long generation;
  private long from;

  /// @param container in use as long as this is
  Replica(RemoteStoa stoa, Container container) {
    this.stoa = stoa;
    this.container = container;
  }

  Container container() {
    return container;
  }

  /// The object has changed. Called by the thread that reads.
  void changed(long counter) {
    if (counter < firstUnseen.get()) firstUnseen.accumulateAndGet(counter, Math::min);
  }

  @Nullable Object ask(
      RemoteInvoker live,
      SharedMethod method,
      @Nullable Object[] arguments,
      RemoteView.Freshness freshness)
      throws Throwable {
    if (runs.getOrDefault(method, 0) < 0) throw new Elsewhere();
    Marshaller marshaller = stoa.marshaller();
    for (int i = 0; i < arguments.length; i++) {
      if (!marshaller.isValue(arguments[i])) arguments[i] = marshaller.copy(arguments[i]);
    }
    stoa.conversation().check();
    lock.lock();
    try {
      switch (freshness) {
        case NOW -> fetch(live);
        case SEEN -> {
          if (!isSeen()) fetch(live);
        }
      }
      stoa.conversation().observe(from);
      check(live.existence());
      live.bind(generation);
      return run(live, method, arguments);
    } finally {
      lock.unlock();
    }
  }

  /// Whether the state is as new as what this client has seen.
  private boolean isSeen() {
    if (!loaded || followedIn != stoa.conversation().life()) return false;
    // A change is executed by the time that it is told: it is seen at once.
    return firstUnseen.get() == NONE
        && stoa.conversation().observed().get() <= stoa.conversation().moment();
  }

  private void fetch(RemoteInvoker live) {
    Conversation conversation = stoa.conversation();
    int life = conversation.life();
    if (followedIn != life) follow(life);
    // What is told from now on is behind the state, or in it: then it is fetched once in vain.
    firstUnseen.set(NONE);
    var asked =
        Fetch.newBuilder()
            .setContainer(container.number())
            .setUnlessVersion(loaded ? version + 1 : 0);
    Answer answer = ask(Request.newBuilder().setFetch(asked));
    State state = answer.getState();
    from = Math.max(from, state.getFrom());
    if (state.getUnchanged()) return;
    version = state.getVersion();
    generation = state.getGeneration();
    load(live, state.getCheckpoint().toByteArray());
  }

  private void follow(int life) {
    loaded = false;
    var _ =
        ask(Request.newBuilder().setFollow(Follow.newBuilder().setContainer(container.number())));
    followedIn = life;
  }

  private Answer ask(Request.Builder request) {
    if (!container.use()) throw new IllegalStateException("the container of a view is closed");
    Answer answer =
        stoa.conversation().ask(Outgoing.on(container, request, Outgoing.Recovery.READ, 16));
    if (answer.hasFailure()) {
      var refusal = container.refusal;
      throw stoa.requests().failure(refusal == null ? answer.getFailure() : refusal);
    }
    return answer;
  }

  private void load(RemoteInvoker live, byte[] checkpoint) {
    instance = null;
    thrown = null;
    loaded = true;
    if (checkpoint.length == 0) return;
    if (checkpoint[0] == 1) {
      thrown = Arrays.copyOfRange(checkpoint, 1, checkpoint.length);
    } else {
      instance = stoa.marshaller().state(live.type().shared(), checkpoint, 1, checkpoint.length);
    }
  }

  private void check(Existence existence) {
    if (existence.isGone(generation, version)) {
      throw new Gone(container.key() + " was deleted; ask the store for it again to begin anew");
    }
  }

  private @Nullable Object run(
      RemoteInvoker live, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    byte[] failed = thrown;
    if (failed != null) throw stoa.marshaller().thrown(failed);
    Object target = instance;
    if (target == null) throw new Elsewhere(); // an absent object is begun where it lives
    boolean proven = runs.getOrDefault(method, 0) >= PROVING_RUNS;
    if (target instanceof Forkable<?> forkable) return called(forkable.fork(), method, arguments);
    if (proven) return called(target, method, arguments);
    Marshaller marshaller = stoa.marshaller();
    byte[] before = marshaller.state(live.type().shared(), target);
    Object result = called(target, method, arguments);
    if (!Arrays.equals(before, marshaller.state(live.type().shared(), target))) {
      loaded = false;
      throw new NotShareable(
          method + " is an @Accessor and changed its object; take the annotation away");
    }
    runs.merge(method, 1, Integer::sum);
    return result;
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
    } catch (Elsewhere elsewhere) {
      runs.put(method, Integer.MIN_VALUE);
      throw elsewhere;
    } catch (Exception told) {
      // As it would arrive from where the object lives: a copy.
      byte[] encoded =
          ScopedValue.where(CallContext.CURRENT, context)
              .call(() -> stoa.marshaller().thrown(told));
      throw stoa.marshaller().thrown(encoded);
    }
  }

  /// What an accessor may know while it runs here.
  final class Reading implements CallContext {
    private final Object target;

    private Reading(Object target) {
      this.target = target;
    }

    /// The reference of an object, when it is the one whose accessor runs.
    @SuppressWarnings("ReferenceEquality") // Justification: this very instance, not an equal one
    @Nullable Reference referenceOf(Object object) {
      return object == target
          ? new Reference(Objects.requireNonNull((stoa.Ref<?>) container.key().label()), generation)
          : null;
    }

    @Override
    public Instant now() {
      throw new Elsewhere();
    }

    @Override
    public RandomGenerator random() {
      throw new Elsewhere();
    }

    @Override
    public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
      return stoa.get(type, key, args);
    }

    @Override
    public long version() {
      return version;
    }

    /// A proxy is called by the accessor.
    Error elsewhere() {
      return new Elsewhere();
    }
  }
}
