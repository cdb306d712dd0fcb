package stoa.front.types;

import java.lang.invoke.MethodHandle;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Footprint;
import stoa.base.Latency;

/// One method of a shared type that callers may call.
///
/// Immutable and thread-safe.
public final class SharedMethod {
  /// The effect of a method on the object, according to its annotation.
  public enum Kind {
    /// Reads only ([stoa.Accessor]).
    ACCESSOR,
    /// Writes only, returns nothing ([stoa.Mutator]).
    MUTATOR,
    /// May read, write and return a result: the default.
    UPDATE,
    /// Runs at its caller, as a transaction ([stoa.Transactional]).
    TRANSACTION,
    /// Runs at its caller, as a transaction that only reads.
    READING_TRANSACTION;

    /// Returns whether it leaves its own object as it is.
    public boolean isReading() {
      return switch (this) {
        case ACCESSOR, TRANSACTION, READING_TRANSACTION -> true;
        case MUTATOR, UPDATE -> false;
      };
    }

    /// Returns whether it changes nothing, neither its own object nor another one.
    public boolean changesNothing() {
      return this == ACCESSOR || this == READING_TRANSACTION;
    }

    /// Returns whether it runs at its caller.
    public boolean isTransaction() {
      return this == TRANSACTION || this == READING_TRANSACTION;
    }
  }

  /// Whether a method waits for conditions, and calls behind it for the method.
  enum Waiting {
    /// It does not wait.
    NEVER,
    /// A call may wait ([stoa.Awaits]).
    ALONE,
    /// A call may wait, and later calls wait behind it.
    IN_ORDER
  }

  /// The meter of a method in one store.
  ///
  /// @param owner the meters to which it belongs
  /// @param latency counts and times the calls
  public record Meter(Object owner, Latency latency) {}

  /// The annotations of a method that determine its footprint.
  ///
  /// @param key the index of the parameter that is marked [stoa.Key]; negative when there is none
  /// @param commutes whether it is marked [stoa.Commutes]
  record FootprintMarks(int key, boolean commutes) {
    /// A method that works on the whole object.
    static final FootprintMarks ALL = new FootprintMarks(-1, false);
  }

  private final String id;
  private final int index;
  private final Kind kind;
  private final Method method;
  private final MethodHandle handle;
  private final List<Class<?>> parameterTypes;
  private final List<Type> genericParameterTypes;
  private final boolean isSuccessor;
  private final Waiting waiting;
  private final FootprintMarks parts;

  // The method that is called when a caller leaves while it waits; set once, null for none.
  private @Nullable SharedMethod left;
  private @Nullable Meter meter;

  /// @param waiting whether it may wait for a condition
  /// @param handle of type `(Object, Object[]) Object`
  SharedMethod(
      String id,
      int index,
      Kind kind,
      Waiting waiting,
      Method method,
      MethodHandle handle,
      FootprintMarks parts) {
    this.waiting = waiting;
    this.id = id;
    this.index = index;
    this.kind = kind;
    this.method = method;
    this.handle = handle;
    this.parameterTypes = List.of(method.getParameterTypes());
    this.genericParameterTypes = List.of(method.getGenericParameterTypes());
    this.parts = parts;
    this.isSuccessor = !id.equals(SharedType.signature(method));
  }

  /// Returns the stored identity: `name(type,type)` with binary names of erased types, or
  /// [stoa.MethodId#value()].
  public String id() {
    return id;
  }

  /// Returns the position in [SharedType#methods()]. It is valid in this process only; do not store
  /// it.
  public int index() {
    return index;
  }

  /// Returns the effect of the method on the object.
  public Kind kind() {
    return kind;
  }

  /// Returns whether it may wait for a condition ([stoa.Awaits]).
  public boolean awaits() {
    return waiting != Waiting.NEVER;
  }

  /// Returns whether calls that wait behind one of this method wait until it goes on
  /// ([stoa.Awaits#inOrder()]).
  public boolean holdsOthers() {
    return waiting == Waiting.IN_ORDER;
  }

  /// Returns the method that the store calls when a caller leaves while it waits in this one
  /// ([stoa.Awaits#left()]); null for none.
  public @Nullable SharedMethod left() {
    return left;
  }

  void left(@Nullable SharedMethod method) {
    left = method;
  }

  /// Returns the method's name in the source.
  public String name() {
    return method.getName();
  }

  /// Returns the method as declared.
  public Method method() {
    return method;
  }

  /// Returns whether the identity differs from the method's own name and parameter types, so that
  /// the store may have calls of an earlier method with other types.
  public boolean isSuccessor() {
    return isSuccessor;
  }

  /// Returns whether [#footprint] may differ from [Footprint#ALL].
  public boolean hasParts() {
    return parts.key >= 0 || parts.commutes;
  }

  /// Returns the part of the object on which a call works.
  ///
  /// @param code the number of the code that the method belongs to
  public Footprint footprint(@Nullable Object[] arguments, int code) {
    if (parts.key < 0) return parts.commutes ? Footprint.commutingAll(code) : Footprint.ALL;
    Integer part = ConflictKey.of(arguments[parts.key]);
    return part == null ? Footprint.ALL : new Footprint(true, part, parts.commutes, code);
  }

  /// Returns the erased parameter types.
  public List<Class<?>> parameterTypes() {
    return parameterTypes;
  }

  /// Returns the parameter types as written.
  public List<Type> genericParameterTypes() {
    return genericParameterTypes;
  }

  /// Returns the erased result type; `void.class` when there is none.
  public Class<?> returnType() {
    return method.getReturnType();
  }

  /// Returns the result type as written.
  public Type genericReturnType() {
    return method.getGenericReturnType();
  }

  /// Calls the method on an instance of the implementation.
  ///
  /// @param arguments one for each parameter, boxed where the parameter is primitive
  /// @return the method's result; null when it returns nothing
  /// @throws Throwable what the method throws, unchanged
  public @Nullable Object invoke(Object target, @Nullable Object[] arguments) throws Throwable {
    return (Object) handle.invokeExact(target, arguments);
  }

  /// The meter that was used last, so that its owner need not search for it; null before the first.
  public @Nullable Meter meter() {
    return meter;
  }

  /// Says which meter was used last. Races lose nothing but time.
  public void meter(Meter last) {
    meter = last;
  }

  @Override
  public String toString() {
    return method.getDeclaringClass().getName() + "." + id;
  }
}
