package stoa.test;

import java.lang.reflect.Field;
import java.lang.reflect.InaccessibleObjectException;
import java.lang.reflect.Modifier;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.StringJoiner;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.Ref;
import stoa.Stoa;
import stoa.front.marshal.Marshaller;
import stoa.front.marshal.Reference;
import stoa.front.marshal.References;
import stoa.front.marshal.TypeIds;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedType;
import stoa.spi.CallContext;

/// A shared class executed by itself, outside of a store: plain instances, their copies by way of
/// the marshaller, and calls with a time and random numbers that the number of the call decides.
/// Thread-safe.
///
/// @param <T> the class
final class Alone<T> {
  private static final int BYTES_MAX = 64 << 20;
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  private final Class<T> face;
  private final Object key;
  private final @Nullable Object[] arguments;
  private final SharedType type;
  private final Marshaller marshaller;

  /// @param arguments of the constructor, after the key
  /// @throws stoa.NotShareable when it is no shared class
  Alone(Class<T> face, Object key, List<?> arguments) {
    this.face = face;
    this.key = key;
    this.arguments = arguments.toArray();
    type = SharedType.of(face);
    ClassLoader loader = Objects.requireNonNullElse(face.getClassLoader(), Loaders.ofTest());
    marshaller = new Marshaller(new Numbers(), new Nobody(), List.of(), loader, BYTES_MAX);
    marshaller.register(type);
  }

  /// Returns a new instance.
  T fresh() {
    return run(
        0,
        () -> {
          try {
            return face.cast(type.instantiate(key, arguments.clone()));
          } catch (RuntimeException | Error thrown) {
            throw thrown;
          } catch (Throwable thrown) {
            throw new IllegalArgumentException(
                face.getName() + " has no new instance: " + thrown, thrown);
          }
        });
  }

  /// Returns a proxy that makes its calls on an instance.
  ///
  /// @param outcomes receives the outcome of each call
  T recording(T instance, List<CallOutcome> outcomes) {
    return Proxies.create(
        type,
        new Ref<T>(type.name(), key),
        arguments,
        (_, method, given) -> {
          try {
            Object answer = method.invoke(instance, given);
            outcomes.add(new CallOutcome(answer, null));
            return answer;
          } catch (Exception thrown) {
            outcomes.add(CallOutcome.threw(thrown));
            throw thrown;
          }
        });
  }

  /// Returns the instance as it is after it was stored and read.
  T copy(T instance) {
    return face.cast(marshaller.state(type, marshaller.state(type, instance)));
  }

  /// Returns the state of an instance, to be compared.
  State state(T instance) {
    // Decoded once, it is in the form that every copy has.
    return new State(marshaller.state(type, copy(instance)));
  }

  /// The state of an instance, as bytes.
  @SuppressWarnings("ArrayRecordComponent") // compared here
  record State(byte[] bytes) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof State(byte[] theirs) && Arrays.equals(bytes, theirs);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
      return bytes.length + " bytes, hash " + Integer.toHexString(hashCode());
    }
  }

  /// Returns the fields of an instance, for people.
  String words(T instance) {
    var fields = new StringJoiner(", ", "{", "}");
    try {
      for (Field field : type.implementation().getDeclaredFields()) {
        if (Modifier.isStatic(field.getModifiers())) continue;
        field.setAccessible(true);
        fields.add(field.getName() + "=" + new CallOutcome(field.get(instance), null));
      }
      return fields.toString();
    } catch (IllegalAccessException | InaccessibleObjectException closed) {
      return state(instance).toString();
    }
  }

  /// Returns the encoding of a value, by which values without `equals` are compared.
  byte[] bytes(@Nullable Object value) {
    return marshaller.value(value);
  }

  /// Code of a user.
  interface Body<R extends @Nullable Object> {
    R run();
  }

  /// Runs code as a method of the shared class runs in a store.
  ///
  /// @param number of the call
  <R extends @Nullable Object> R run(long number, Body<R> body) {
    return ScopedValue.where(CallContext.CURRENT, new Context(number)).call(body::run);
  }

  private final class Context implements CallContext {
    private final long number;
    private final SplittableRandom random;

    private Context(long number) {
      this.number = number;
      this.random = new SplittableRandom(number);
    }

    @Override
    public Instant now() {
      return BEGIN.plusSeconds(number);
    }

    @Override
    public RandomGenerator random() {
      return random;
    }

    @Override
    public void await(BooleanSupplier condition) {
      if (!condition.getAsBoolean()) throw new OthersNeeded("wait for a condition");
    }

    @Override
    public long version() {
      return number;
    }

    @Override
    public <U> U get(Class<U> other, Object otherKey, @Nullable Object... args) {
      throw new OthersNeeded("call " + other.getName() + "[" + otherKey + "]");
    }

    @Override
    public <U> U collection(Function<Stoa, U> opening) {
      throw new OthersNeeded("open a collection");
    }

    @Override
    public void refuseOutside(String operation) {
      throw new OthersNeeded(operation);
    }
  }

  /// A call needs more than the plain instance. An error, so that no method takes it for an
  /// exception of the called object.
  static final class OthersNeeded extends Error {
    private static final long serialVersionUID = 1L;

    /// @param operation completes "a method cannot …"
    OthersNeeded(String operation) {
      super("a plain instance, on which this check makes each call again, cannot " + operation);
    }

    /// @param call the name of the call that needs them
    OthersNeeded(String call, OthersNeeded needed) {
      super("\"" + call + "\": " + needed.getMessage(), needed);
    }
  }

  /// The numbers of names in this process.
  private static final class Numbers implements TypeIds {
    private final Map<String, Integer> ids = new HashMap<>(); // guarded by this
    private final List<String> names = new ArrayList<>(); // guarded by this

    @Override
    public synchronized int idOf(String name) {
      return ids.computeIfAbsent(
          name,
          added -> {
            names.add(added);
            return names.size() - 1;
          });
    }

    @Override
    public synchronized @Nullable String nameOf(int id) {
      return id >= 0 && id < names.size() ? names.get(id) : null;
    }

    @Override
    public synchronized List<String> names() {
      return List.copyOf(names);
    }
  }

  /// No other objects.
  private static final class Nobody implements References {
    @Override
    public @Nullable Reference referenceOf(Object object) {
      return null;
    }

    @Override
    public Object resolve(Reference reference) {
      throw new OthersNeeded("refer to " + reference);
    }

    @Override
    public Object facade(Reference reference, String form) {
      throw new OthersNeeded("have a collection");
    }
  }
}
