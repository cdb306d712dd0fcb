package stoa.sim.check;

import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// A class as its own specification: the shared object with many callers must behave like a plain
/// instance with a single caller.
///
/// ```java
/// var model = new ObjectModel<>(Stock::new, Stock::copy, Stock::items);
/// client.call(
///     new ObjectModel.Invocation<>("take(3)", stock -> stock.take(3)),
///     () -> ObjectModel.answer(() -> shared.take(3)));
/// ```
///
/// Immutable, as far as the functions given to it are pure.
///
/// @param <T> the class
public final class ObjectModel<T>
    implements SequentialModel<
        ObjectModel.State<T>, ObjectModel.Invocation<T>, ObjectModel.Answer> {
  private final Supplier<T> fresh;
  private final UnaryOperator<T> copy;
  private final Function<T, Object> content;

  /// @param fresh a new instance, as the store creates it
  /// @param copy an independent copy of an instance
  /// @param content a value that is equal for two instances iff no call can tell them apart
  public ObjectModel(Supplier<T> fresh, UnaryOperator<T> copy, Function<T, Object> content) {
    this.fresh = fresh;
    this.copy = copy;
    this.content = content;
  }

  /// One call on the object.
  ///
  /// @param name the method with its arguments, as reports show it; calls of one name count as the
  ///   same call
  /// @param body makes the call on an instance and returns its answer
  /// @param <T> the class
  public record Invocation<T>(String name, Function<T, @Nullable Object> body) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Invocation<?> i && name.equals(i.name);
    }

    @Override
    public int hashCode() {
      return name.hashCode();
    }

    @Override
    public String toString() {
      return name;
    }
  }

  /// The answer of a call.
  public sealed interface Answer {
    /// It returned a value.
    record Returned(@Nullable Object value) implements Answer {}

    /// It threw.
    ///
    /// @param type the class of the exception
    /// @param message its message
    record Threw(String type, String message) implements Answer {}
  }

  /// Returns the answer of a call; an exception that the method itself throws is an answer. An
  /// exception of Stoa is no answer of the object, and the caller gets it.
  public static Answer answer(Supplier<? extends @Nullable Object> call) {
    try {
      return new Answer.Returned(call.get());
    } catch (stoa.StoaException e) {
      throw e;
    } catch (RuntimeException e) {
      return new Answer.Threw(e.getClass().getName(), String.valueOf(e.getMessage()));
    }
  }

  /// An instance at one moment, compared by its content.
  ///
  /// @param <T> the class
  public static final class State<T> {
    private final T instance;
    private final Object content;

    private State(T instance, Object content) {
      this.instance = instance;
      this.content = content;
    }

    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof State<?> s && content.equals(s.content);
    }

    @Override
    public int hashCode() {
      return Objects.hashCode(content);
    }

    @Override
    public String toString() {
      return content.toString();
    }
  }

  @Override
  public State<T> initial() {
    return state(fresh.get());
  }

  @Override
  public Step<State<T>, Answer> apply(State<T> state, Invocation<T> input) {
    T instance = copy.apply(state.instance);
    Answer answer = answer(() -> input.body().apply(instance));
    return new Step<>(state(instance), answer);
  }

  private State<T> state(T instance) {
    return new State<>(instance, content.apply(instance));
  }
}
