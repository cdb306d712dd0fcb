package stoa.client;

import com.google.protobuf.ByteString;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.Ref;
import stoa.Stoa;
import stoa.base.CheckpointRule;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.front.MethodRun;
import stoa.front.ObjectAnswer;
import stoa.front.SharedCall;
import stoa.front.SharedStoa;
import stoa.front.marshal.Marshaller;
import stoa.front.marshal.Reference;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.spi.CallContext;
import stoa.spi.Forkable;
import stoa.wire.proto.Change;
import stoa.wire.proto.Changes;

/// A state of an object that goes on by the calls behind it, as a replica of the store does
/// (vCorfu, section 4.2: a local view). One thread at a time uses it.
final class ReplayedState {
  /*
   * The server sends calls only in the code that this process has, and with everything that the
   * first run of a call took from outside: its time, the seed of its random numbers, and the answers
   * of other objects. The state is encoded and decoded where replicas do so, since equal states may
   * differ in their shape in memory, and a method may depend on that.
   *
   * At any doubt it is of no further use, and the client fetches the whole state. A doubt is
   * whatever cannot happen when this process executes the same code: a call that fails before it
   * runs, more or fewer calls of other objects than logged, another state at a checkpoint.
   */

  /// The state may differ from that of the server.
  static final class Doubt extends Error {
    private static final long serialVersionUID = 1L;

    private Doubt(String message, @Nullable Throwable cause) {
      super(message, cause, false, false);
    }
  }

  private final RemotePart stoa;
  private final SharedType shared;
  private final Key key;
  private final Marshaller marshaller;

  private @Nullable Object instance;
  private long generation;
  private long version;
  private int code;
  private long stateBytes;
  private long bytesSince;

  // The version of the last checkpoint, and its bytes.
  private long checkpointed;
  private byte[] checkpoint = new byte[0];

  /// Begins with a checkpoint.
  ///
  /// @param state the encoded state; null when the first change begins the generation
  /// @param changes the changes behind the checkpoint, not yet executed
  ReplayedState(
      RemotePart stoa, SharedType shared, Key key, byte @Nullable [] state, Changes changes) {
    this.stoa = stoa;
    this.shared = shared;
    this.key = key;
    this.marshaller = stoa.marshaller();
    version = changes.getAfter();
    code = changes.getCode();
    if (state == null) return;
    instance = marshaller.state(shared, state);
    stateBytes = checkpointBytes(state);
  }

  /// Returns the object.
  Object instance() {
    return Objects.requireNonNull(instance);
  }

  /// Returns the stream address of the last change.
  long version() {
    return version;
  }

  /// Returns about how much memory it takes, in encoded bytes.
  long weight() {
    return stateBytes + bytesSince;
  }

  /// Executes changes behind its version, and passes those that it has.
  ///
  /// @param of the generation of the changes
  /// @param form the form in which this process encodes states, see [Marshaller#form]
  /// @throws Doubt when the state is of no further use
  void execute(long of, Changes changes, long form) {
    generation = of;
    boolean known = changes.getCheckpoint() <= version;
    for (Change change : changes.getChangesList()) {
      if (change.getVersion() <= version) continue;
      if (change.getCheckpoint()) checkpoint();
      else execute(change);
    }
    if (instance == null) throw new Doubt(key + " does not begin", null);
    boolean isTold = changes.getCheckpoint() != 0 && !changes.getDigest().isEmpty();
    if (!known && isTold && changes.getForm() == form) compare(changes);
    checkpoint = new byte[0];
  }

  private void compare(Changes changes) {
    byte[] digest = new Encoder(16).id(StreamId.of(checkpoint)).toBytes();
    if (checkpointed == changes.getCheckpoint()
        && changes.getDigest().equals(ByteString.copyFrom(digest))) {
      return;
    }
    throw new Doubt(
        "the state of " + key + " at " + changes.getCheckpoint() + " is not that of the server",
        null);
  }

  private void execute(Change change) {
    var answers = new Answers(change.getAnswersList());
    code = change.getCode();
    if (change.getCopied()) copy();
    try {
      if (change.getBegins()) begin(change, answers);
      call(change, answers);
    } catch (Doubt doubt) {
      throw doubt;
    } catch (VirtualMachineError | RuntimeException failed) {
      throw new Doubt("version " + change.getVersion() + " of " + key + " does not run", failed);
    }
    answers.checkUsed();
    version = change.getVersion();
    int bytes = change.getValue().size();
    boolean due = CheckpointRule.isDue(bytesSince, stateBytes, bytes);
    bytesSince += CheckpointRule.weightOf(bytes);
    if (due) checkpoint();
  }

  private void begin(Change change, Answers answers) {
    generation = change.getVersion();
    stateBytes = 0;
    bytesSince = 0;
    byte[] opening = change.getHasOpening() ? change.getOpening().toByteArray() : null;
    Object name = Objects.requireNonNull((Ref<?>) key.label()).key();
    var run = new Run(change, answers, null);
    try {
      @Nullable Object[] arguments = SharedCall.arguments(marshaller, opening);
      instance =
          ScopedValue.where(CallContext.CURRENT, run)
              .call(() -> {
                try {
                  return shared.instantiate(name, arguments);
                } catch (Exception | Error passedOn) {
                  throw passedOn;
                } catch (Throwable checked) {
                  throw new IllegalStateException(checked);
                }
              });
    } catch (Exception failed) {
      throw new Doubt(key + " cannot be constructed", failed);
    }
  }

  private void call(Change change, Answers answers) {
    byte[] value = change.getValue().toByteArray();
    var in = new Decoder(value);
    RemoteType type = stoa.types().of(shared.face());
    String id = type.called(in);
    Object target = instance;
    if (target == null) throw new Doubt(key + " does not exist at " + change.getVersion(), null);
    if (id == null) return; // the put only creates
    SharedMethod method = stoa.types().method(type, id);
    @Nullable Object[] arguments = marshaller.arguments(method, value, in.position(), value.length);
    var run = new Run(change, answers, target);
    try {
      ScopedValue.where(CallContext.CURRENT, run)
          .call(() -> {
            try {
              return method.invoke(target, arguments);
            } catch (Exception | Error passedOn) {
              throw passedOn;
            } catch (Throwable checked) {
              throw new IllegalStateException(checked);
            }
          });
    } catch (Doubt doubt) {
      throw doubt;
    } catch (VirtualMachineError local) {
      throw local;
    } catch (Exception | Error thrown) {
      // The method threw at the server, too: its caller has the exception, and its changes stay.
    }
  }

  /// Makes a copy as a replica does on which no transaction has run the call.
  private void copy() {
    Object current = instance;
    if (current == null) return;
    instance =
        current instanceof Forkable<?> forkable
            ? forkable.fork()
            : marshaller.state(shared, marshaller.state(shared, current));
  }

  private void checkpoint() {
    Object current = instance;
    if (current == null || bytesSince == 0) return;
    bytesSince = 0;
    try {
      checkpoint = marshaller.state(shared, current);
      instance = marshaller.state(shared, checkpoint);
    } catch (RuntimeException | StackOverflowError failed) {
      throw new Doubt("version " + version + " of " + key + " cannot be encoded", failed);
    }
    checkpointed = version;
    stateBytes = checkpointBytes(checkpoint);
  }

  /// Returns the size of the checkpoint of a state at the server.
  private long checkpointBytes(byte[] state) {
    int numbered = code == 0 ? 0 : new Encoder(8).varint(code).size();
    return 1L + numbered + state.length;
  }

  /// The logged answers to the calls that one call makes on other objects.
  private final class Answers {
    private final List<ByteString> answers;
    private int used;
    private @Nullable Doubt doubt;

    private Answers(List<ByteString> answers) {
      this.answers = answers;
    }

    private byte[] next() {
      if (used < answers.size()) return answers.get(used++).toByteArray();
      throw doubt("asks more than it did at the server", null);
    }

    private Doubt doubt(String what, @Nullable Throwable cause) {
      var made = new Doubt("version " + version + " of " + key + " " + what, cause);
      doubt = made;
      return made;
    }

    /// Throws the doubt that a method may have caught.
    private void checkUsed() {
      Doubt caught = doubt;
      if (caught != null) throw caught;
      if (used != answers.size()) throw doubt("asks less than it did at the server", null);
    }
  }

  /// The context of a call that runs here again.
  private final class Run implements MethodRun {
    private final Change change;
    private final Answers answers;
    private final @Nullable Object target;
    private @Nullable RandomGenerator random;

    private Run(Change change, Answers answers, @Nullable Object target) {
      this.change = change;
      this.answers = answers;
      this.target = target;
    }

    @Override
    public boolean takes(SharedStoa of) {
      return of == stoa.service().stoa();
    }

    @Override
    public @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
        throws Throwable {
      try {
        var _ = to.own(arguments);
      } catch (RuntimeException | StackOverflowError refused) {
        throw answers.doubt("calls " + to.key() + " in another way", refused);
      }
      return ObjectAnswer.get(answers.next(), marshaller);
    }

    /// Returns the reference of an object, if it is the one whose method runs.
    @SuppressWarnings("ReferenceEquality") // Justification: this very instance, not an equal one
    @Override
    public @Nullable Reference referenceOf(Object object) {
      return object == target
          ? new Reference(Objects.requireNonNull((Ref<?>) key.label()), generation)
          : null;
    }

    @Override
    public void await(BooleanSupplier condition) {
      // The server sends the state behind a call that waited there.
      if (!condition.getAsBoolean()) throw answers.doubt("waits for a condition", null);
    }

    @Override
    public Instant now() {
      return Instant.EPOCH.plus(change.getNowMicros(), ChronoUnit.MICROS);
    }

    @Override
    public RandomGenerator random() {
      RandomGenerator generator = random;
      if (generator == null) {
        generator = new SplittableRandom(change.getSeed());
        random = generator;
      }
      return generator;
    }

    @Override
    public long version() {
      return change.getVersion();
    }

    @Override
    public <T> T get(Class<T> type, Object name, @Nullable Object... args) {
      return stoa.service().stoa().get(type, name, args);
    }

    @Override
    public <T> T collection(Function<Stoa, T> opening) {
      return opening.apply(stoa.service().stoa());
    }
  }
}
