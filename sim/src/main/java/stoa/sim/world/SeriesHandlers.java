package stoa.sim.world;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;

/// The handlers of [GroupsScenario]: lists that add elements, without the blanks after them, and
/// answer with all elements. A question with the name of another list gets both, see [#parts].
public final class SeriesHandlers implements HandlerFactory {
  /// The answer of a list.
  record Elements(String text) implements Answer {
    @Override
    public byte[] encoded() {
      return text.getBytes(StandardCharsets.UTF_8);
    }
  }

  private static final String AND = "&";
  private final boolean ordered;

  public SeriesHandlers(boolean ordered) {
    this.ordered = ordered;
  }

  /// Returns the elements in an answer.
  public static List<String> elements(Answer answer) {
    return new String(answer.encoded(), StandardCharsets.UTF_8).lines().toList();
  }

  /// Returns the elements of each list in an answer.
  public static List<List<String>> parts(Answer answer) {
    var parts = new ArrayList<List<String>>();
    for (String part : new String(answer.encoded(), StandardCharsets.UTF_8).split(AND, -1)) {
      parts.add(part.lines().toList());
    }
    return parts;
  }

  @Override
  public boolean isOrdered() {
    return ordered;
  }

  @Override
  public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
    return new Series(new ArrayList<>());
  }

  @Override
  public Handler restore(Key key, byte[] checkpoint) {
    return new Series(
        new ArrayList<>(new String(checkpoint, StandardCharsets.UTF_8).lines().toList()));
  }

  @Override
  public Answer failure(RuntimeException cause) {
    throw cause;
  }

  private record Series(List<String> elements) implements Handler {
    @Override
    public Answer put(byte[] value, Execution execution) {
      elements.add(new String(value, StandardCharsets.UTF_8).strip());
      return new Elements(String.join("\n", elements));
    }

    @Override
    public Answer get(@Nullable Object query, Execution execution) {
      String own = String.join("\n", elements);
      String other = String.valueOf(query);
      if (other.isEmpty()) return new Elements(own);
      var key = Key.of(execution.key().space(), other);
      byte[] asked = execution.get(key, "", new Existence.Any(null));
      return new Elements(own + AND + new String(asked, StandardCharsets.UTF_8));
    }

    @Override
    public byte[] checkpoint() {
      return String.join("\n", elements).getBytes(StandardCharsets.UTF_8);
    }
  }
}
