package stoa.objects;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.NotUnique;
import stoa.Ref;
import stoa.StoaException;
import stoa.front.MethodRun;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;
import stoa.spi.CallContext;
import stoa.spi.Collections;
import stoa.spi.Indexes;
import stoa.store.running.Execution;

/// Makes the calls on indexes for one put of an object. The thread that executes the put uses it.
final class Indexing {
  /*
   * The calls follow from the object's values before and after the put, and from their own answers,
   * which the log has. So a replay makes the same calls in the same order.
   *
   * Values are entered before old ones are left, the unique ones first: a call that is refused has
   * then removed nothing. Each call has a reverse, which is made when a later one is refused. What
   * frees a unique value comes last, since another object may have the value from then on.
   *
   * Only the calls that claim unique values need an answer. The others are left to the store, which
   * makes them behind the put, many in one: see Sequel and IndexChanges. It may make them twice, in
   * the order of the object's puts. Over several groups, and inside transactions, all are calls.
   */

  private static final char JUDGED = '=';
  private static final char FAILED = '!';

  /// The values of an object in the indexes of its class. Immutable.
  static final class Values {
    /// The values of an object that does not exist.
    static final Values NONE = new Values(List.of(), List.of(), List.of());

    private final List<IndexedMember> members;

    // The form of the value in each index.
    private final List<String> values;

    // The values of plain members, and null for others.
    private final List<@Nullable Object> raw;

    private Values(List<IndexedMember> members, List<String> values, List<@Nullable Object> raw) {
      this.members = members;
      this.values = values;
      this.raw = raw;
    }

    List<IndexedMember> members() {
      return members;
    }

    /// Returns those under which an object was entered. An accessor that throws now, and did not
    /// then, counts as null.
    static Values entered(ObjectType type, @Nullable Object instance) {
      return read(
          type,
          instance,
          (member, of) -> {
            try {
              return member.valueOf(of);
            } catch (CallFailed thrown) {
              return "";
            }
          });
    }

    /// Reads them from an object.
    private static Values read(
        ObjectType type,
        @Nullable Object instance,
        BiFunction<IndexedMember, Object, String> reader) {
      List<IndexedMember> members = type.shared().indexes();
      if (members.isEmpty() || instance == null) return NONE;
      return looking(() -> {
        var values = new ArrayList<String>(members.size());
        var raw = new ArrayList<@Nullable Object>(members.size());
        for (IndexedMember member : members) {
          values.add(reader.apply(member, instance));
          raw.add(member.isPlain() ? member.rawValueOf(instance) : null);
        }
        return new Values(members, values, raw);
      });
    }

    /// Returns the values of an object whose indexes run no code of a user; null when they may.
    ///
    /// @return this when nothing has changed
    @SuppressWarnings("ReferenceEquality") // Justification: of one class in one version
    private @Nullable Values next(ObjectType type, @Nullable Object instance) {
      List<IndexedMember> now = type.shared().indexes();
      if (instance == null || now.isEmpty()) return NONE;
      boolean isSame = now == members;
      var found = new @Nullable Object[now.size()];
      boolean isEqual = isSame;
      for (int i = 0; i < found.length; i++) {
        IndexedMember member = now.get(i);
        if (!member.isPlain()) return null;
        found[i] = member.rawValueOf(instance);
        isEqual = isEqual && Objects.equals(found[i], raw.get(i));
      }
      if (isEqual) return this;
      var forms = new ArrayList<String>(found.length);
      for (int i = 0; i < found.length; i++) {
        boolean stays = isSame && Objects.equals(found[i], raw.get(i));
        forms.add(stays ? values.get(i) : now.get(i).form().encode(found[i]));
      }
      return new Values(now, forms, Arrays.asList(found));
    }

    private @Nullable String of(IndexedMember wanted) {
      for (int i = 0; i < members.size(); i++) {
        if (members.get(i).id().equals(wanted.id())) return values.get(i);
      }
      return null;
    }
  }

  /// The entries of an object in indexes before a put.
  ///
  /// @param values its values
  /// @param begins whether the put creates it
  /// @param dropped the ids of indexes that earlier code had, and that the code which creates it
  ///   lacks
  record Prior(Values values, boolean begins, List<String> dropped) {
    /// Returns whether code of a type takes objects from indexes that it does not have.
    private boolean losesUnder(ObjectType type) {
      if (!dropped.isEmpty()) return true;
      for (IndexedMember member : values.members) if (isDropped(member, type)) return true;
      return false;
    }
  }

  /// Returns whether code has no such index any more.
  private static boolean isDropped(IndexedMember member, ObjectType type) {
    for (IndexedMember now : type.shared().indexes())
      if (now.id().equals(member.id())) return false;
    return true;
  }

  /// Returns whether an index may refuse what a put does to its object, so that the object must
  /// then be as before.
  static boolean mayRefuse(Prior prior, ObjectType type, Execution execution) {
    if (execution.mode() != Execution.Mode.LIVE || !execution.mayLeave()) return true;
    if (prior.begins || prior.losesUnder(type)) return true;
    for (IndexedMember member : type.shared().indexes()) {
      if (member.isUnique() || !member.isPlain()) return true;
    }
    return false;
  }

  /// Reads from an object, which depends on nothing else meanwhile.
  private static <T extends @Nullable Object> T looking(
      ScopedValue.CallableOp<T, RuntimeException> read) {
    return ScopedValue.where(CallContext.CURRENT, new LookingContext()).call(read);
  }

  /// Returns what a judge returns for an object, behind [#JUDGED]; the reason, behind [#FAILED],
  /// when an accessor throws; null when the judge returns null.
  static @Nullable String judged(Members members, Object instance, MethodRun.Judge judge) {
    try {
      String judged = looking(() -> judge.judge(new Look(members, instance)));
      return judged == null ? null : JUDGED + judged;
    } catch (CallFailed thrown) {
      return FAILED + thrown.getMessage();
    }
  }

  /// Returns what a judge returned, from the answer of [#judged].
  ///
  /// @param object returns the object, for the message
  /// @throws CallFailed when an accessor threw
  static @Nullable String judgment(@Nullable String answer, Supplier<Ref<?>> object) {
    if (answer == null) return null;
    if (answer.charAt(0) == FAILED) throw failed(object.get(), answer.substring(1), null);
    return answer.substring(1);
  }

  private static CallFailed failed(Object object, String why, @Nullable Throwable cause) {
    String message =
        object
            + ": "
            + why
            + "; an accessor that an index or a query reads returns a value in every state, null"
            + " where it has none";
    return cause == null ? new CallFailed(message) : new CallFailed(message, cause);
  }

  /// The object of a judge.
  private record Look(Members members, Object instance) implements MethodRun.Looked {
    @Override
    public String value(String member) {
      return members.get(member).valueOf(instance);
    }

    @Override
    public String wholeValue(String member) {
      return members.get(member).wholeValueOf(instance);
    }
  }

  private record Step(IndexedMember member, String value, boolean enters) {
    /// Returns whether it needs an answer: another object may have the value.
    boolean claims() {
      return enters && isOfOne();
    }

    /// Returns whether another object may have the value after it.
    boolean frees() {
      return !enters && isOfOne();
    }

    /// Returns whether the value belongs to one object at most.
    private boolean isOfOne() {
      return member.isUnique() && !value.isEmpty();
    }
  }

  private final Environment environment;
  private final IndexChanges indexChanges;
  private final Execution execution;
  private final ObjectType type;
  private @Nullable ObjectContext context;
  private @Nullable String object;

  /// @param type the class in the code that executes the put
  Indexing(
      Environment environment, IndexChanges indexChanges, Execution execution, ObjectType type) {
    this.environment = environment;
    this.indexChanges = indexChanges;
    this.execution = execution;
    this.type = type;
  }

  /// Returns the context of its calls.
  ObjectContext context() {
    ObjectContext known = context;
    if (known != null) return known;
    Ref<?> ref = environment.catalog().refOf(execution.key());
    known = new ObjectContext(environment, execution, ref, type.code(), null, null);
    context = known;
    return known;
  }

  private String object() {
    String known = object;
    if (known != null) return known;
    known = new String(execution.key().name(), StandardCharsets.ISO_8859_1);
    object = known;
    return known;
  }

  /// Returns the values of the object after the put.
  ///
  /// @param before the values before the put
  /// @throws CallFailed when an accessor throws, naming the object and the accessor
  Values values(@Nullable Object instance, Values before) {
    Values next = before.next(type, instance);
    if (next != null) return next;
    try {
      return Values.read(type, instance, IndexedMember::valueOf);
    } catch (CallFailed thrown) {
      String why = thrown.getMessage() + ", so the object is as before the call";
      throw failed(environment.catalog().refOf(execution.key()), why, thrown.getCause());
    }
  }

  /// Makes the calls that need an answer, and leaves the others to the store. When one of them is
  /// refused, it takes the others back.
  ///
  /// @throws NotUnique when another object has one of the values
  /// @throws StoaException when the store refuses a call
  void apply(Prior prior, Values after) {
    Values before = prior.values;
    if (before.equals(after) && prior.dropped.isEmpty()) return;
    List<Step> steps = steps(before, after);
    boolean loses = prior.losesUnder(type);
    if (steps.isEmpty() && !loses) return;
    boolean mayLeave = !loses && execution.mayLeave();
    var left = new ArrayList<Step>();
    var made = new ArrayList<Step>();
    try {
      for (Step step : steps) {
        // Earlier versions of the store have made each of them as a call.
        if (mayLeave && !step.claims() && !execution.knowsNext()) {
          left.add(step);
          continue;
        }
        if (made.isEmpty()) stand();
        make(step);
        made.add(step);
      }
      if (loses && made.isEmpty()) stand();
      for (IndexedMember member : before.members) if (isDropped(member, type)) lose(member.id());
      for (String id : prior.dropped) lose(id);
    } catch (StoaException refused) {
      takeBack(made);
      throw refused;
    }
    if (left.isEmpty()) return;
    String named = object();
    execution.leave(sequel -> {
      for (Step step : left) {
        indexChanges.begin(type.shared(), step.member, step.value, step.enters, named, sequel);
      }
    });
  }

  private void stand() {
    execution.awaitSequels();
    execution.stand();
  }

  private static List<Step> steps(Values before, Values after) {
    var steps = new ArrayList<Step>();
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < after.members.size(); i++) {
        IndexedMember member = after.members.get(i);
        String value = after.values.get(i);
        var step = new Step(member, value, true);
        if (step.claims() == (pass == 0) && !value.equals(before.of(member))) steps.add(step);
      }
    }
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < before.members.size(); i++) {
        IndexedMember member = before.members.get(i);
        String value = before.values.get(i);
        var step = new Step(member, value, false);
        if (step.frees() == (pass == 1) && !value.equals(after.of(member))) steps.add(step);
      }
    }
    return steps;
  }

  private void make(Step step) {
    if (!step.enters) {
      leave(step);
      return;
    }
    String other = enter(step);
    if (other != null) throw notUnique(step, other);
  }

  private void takeBack(List<Step> made) {
    try {
      for (Step step : made.reversed()) {
        if (step.enters) leave(step);
        else if (enter(new Step(step.member, step.value, true)) != null)
          throw new NotUnique(step.member.name() + " has gone to another object");
      }
    } catch (StoaException refused) {
      throw execution.suspend(refused); // no answer would be true
    }
  }

  private @Nullable String enter(Step step) {
    IndexedMember member = step.member;
    return within(() ->
        indexes()
            .enter(
                environment.stoa(),
                type.shared().name(),
                member.id(),
                step.claims(),
                step.value,
                object()));
  }

  private void leave(Step step) {
    var _ =
        within(() -> {
          indexes()
              .leave(
                  environment.stoa(), type.shared().name(), step.member.id(), step.value, object());
          return "";
        });
  }

  private void lose(String id) {
    var _ =
        within(() -> {
          indexes().lost(environment.stoa(), type.shared().name(), id);
          return "";
        });
  }

  private static Indexes indexes() {
    return Collections.installed().indexes();
  }

  private @Nullable String within(Callable<@Nullable String> call) {
    try {
      return ScopedValue.where(CallContext.CURRENT, context()).call(call::call);
    } catch (RuntimeException passedOn) {
      throw passedOn;
    } catch (Exception checked) {
      throw new IllegalStateException(checked);
    }
  }

  private static @Nullable Object shown(Step step) {
    return step.member.form().shown(step.value);
  }

  private NotUnique notUnique(Step step, String other) {
    Object holder;
    try {
      byte[] key = other.getBytes(StandardCharsets.ISO_8859_1);
      holder = new Ref<>(type.shared().name(), Keys.decode(key, type.code().loader()));
    } catch (StoaException unreadable) {
      holder = "another object";
    }
    return new NotUnique(
        environment.catalog().refOf(execution.key())
            + " cannot have \""
            + shown(step)
            + "\" as its "
            + step.member.name()
            + ", since "
            + holder
            + " has it; choose another value, or change that object first");
  }
}
