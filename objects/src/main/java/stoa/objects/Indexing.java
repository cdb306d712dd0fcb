package stoa.objects;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.Corrupt;
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
   * then removed nothing. Each call has a reverse, which is made when a later one is refused.
   */

  private static final char JUDGED = '=';
  private static final char FAILED = '!';

  /// The values of an object in the indexes of its class.
  ///
  /// @param members the indexes
  /// @param values the form of the value in each of them
  record Values(List<IndexedMember> members, List<String> values) {
    /// The values of an object that does not exist.
    static final Values NONE = new Values(List.of(), List.of());

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
        for (IndexedMember member : members) values.add(reader.apply(member, instance));
        return new Values(members, values);
      });
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
  record Prior(Values values, boolean begins, List<String> dropped) {}

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

  private record Step(IndexedMember member, String value, boolean enters) {}

  private final LocalService service;
  private final Execution execution;
  private final ObjectType type;
  private final ObjectContext context;
  private final String object;

  /// @param type the class in the code that executes the put
  Indexing(LocalService service, Execution execution, ObjectType type) {
    this.service = service;
    this.execution = execution;
    this.type = type;
    Ref<?> ref = service.refOf(execution.key());
    context = new ObjectContext(service, execution, ref, type.code(), null, null);
    object = new String(execution.key().name(), StandardCharsets.ISO_8859_1);
  }

  /// Returns the context of its calls.
  ObjectContext context() {
    return context;
  }

  /// Returns the values of the object after the put.
  ///
  /// @throws CallFailed when an accessor throws, naming the object and the accessor
  Values values(@Nullable Object instance) {
    try {
      return Values.read(type, instance, IndexedMember::valueOf);
    } catch (CallFailed thrown) {
      String why = thrown.getMessage() + ", so the object is as before the call";
      throw failed(service.refOf(execution.key()), why, thrown.getCause());
    }
  }

  /// Makes the calls. When one of them is refused, it takes the others back.
  ///
  /// @throws NotUnique when another object has one of the values
  /// @throws StoaException when the store refuses a call
  void apply(Prior prior, Values after) {
    Values before = prior.values;
    List<Step> steps = steps(before, after);
    if (steps.isEmpty() && prior.dropped.isEmpty()) return;
    execution.stand();
    int made = 0;
    try {
      for (Step step : steps) {
        make(step);
        made++;
      }
      for (IndexedMember member : before.members) if (isDropped(member)) lose(member.id());
      for (String id : prior.dropped) lose(id);
    } catch (StoaException refused) {
      takeBack(steps.subList(0, made));
      throw refused;
    }
  }

  private static List<Step> steps(Values before, Values after) {
    var steps = new ArrayList<Step>();
    for (int pass = 0; pass < 2; pass++) {
      for (int i = 0; i < after.members.size(); i++) {
        IndexedMember member = after.members.get(i);
        String value = after.values.get(i);
        boolean first = member.isUnique() && !value.isEmpty();
        if (first == (pass == 0) && !value.equals(before.of(member)))
          steps.add(new Step(member, value, true));
      }
    }
    for (int i = 0; i < before.members.size(); i++) {
      IndexedMember member = before.members.get(i);
      String value = before.values.get(i);
      if (!value.equals(after.of(member))) steps.add(new Step(member, value, false));
    }
    return steps;
  }

  /// Returns whether the code that executes the put has no such index any more.
  private boolean isDropped(IndexedMember member) {
    for (IndexedMember now : type.shared().indexes())
      if (now.id().equals(member.id())) return false;
    return true;
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
        else if (enter(step) != null)
          throw new NotUnique(step.member.name() + " has gone to another object");
      }
    } catch (StoaException refused) {
      throw execution.suspend(refused); // no answer would be true
    }
  }

  private @Nullable String enter(Step step) {
    IndexedMember member = step.member;
    boolean unique = member.isUnique() && !step.value.isEmpty();
    return within(() ->
        indexes()
            .enter(service.stoa(), type.shared().name(), member.id(), unique, step.value, object));
  }

  private void leave(Step step) {
    var _ =
        within(() -> {
          indexes()
              .leave(service.stoa(), type.shared().name(), step.member.id(), step.value, object);
          return "";
        });
  }

  private void lose(String id) {
    var _ =
        within(() -> {
          indexes().lost(service.stoa(), type.shared().name(), id);
          return "";
        });
  }

  private static Indexes indexes() {
    return Collections.installed().indexes();
  }

  private @Nullable String within(Callable<@Nullable String> call) {
    try {
      return ScopedValue.where(CallContext.CURRENT, context).call(call::call);
    } catch (RuntimeException passedOn) {
      throw passedOn;
    } catch (Exception checked) {
      throw new IllegalStateException(checked);
    }
  }

  private static @Nullable Object shown(Step step) {
    try {
      return step.member.form().decode(step.value);
    } catch (Corrupt cut) {
      return step.value; // a record whose end is missing
    }
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
        service.refOf(execution.key())
            + " cannot have \""
            + shown(step)
            + "\" as its "
            + step.member.name()
            + ", since "
            + holder
            + " has it; choose another value, or change that object first");
  }
}
