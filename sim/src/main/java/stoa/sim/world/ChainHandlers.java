package stoa.sim.world;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.store.calls.Visit;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;

/// Handlers of [GroupsScenario] that call other keys: lists of lines, each with the put element and
/// the results of its calls.
///
/// ```
/// value:  element, and for each call:  '>' key  receives the rest
///                                      '+' key  receives the element
///                                      '?' key  is asked
/// line:   element '=' and for each call: key ':' and OK, REFUSED, or the last element seen
/// ```
///
/// The n-th call puts the element, '/' and n.
public final class ChainHandlers implements HandlerFactory {
  /// The spaces of keys that have a place in the order, and of those that have none.
  public static final String ORDERED = "chained";

  public static final String LOOSE = "chained loose";

  public static final String OK = "done";
  public static final String REFUSED = "refused";
  private static final Existence ANY = new Existence.Any(null);

  private final boolean ordered;

  public ChainHandlers(boolean ordered) {
    this.ordered = ordered;
  }

  /// Returns the space of a key. Keys with an odd number have no place in the order.
  public static String space(String key) {
    return key.endsWith("1") ? LOOSE : ORDERED;
  }

  @Override
  public boolean isOrdered() {
    return ordered;
  }

  @Override
  public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
    return new Chain(new ArrayList<>());
  }

  @Override
  public Handler restore(Key key, byte[] checkpoint) {
    return new Chain(new ArrayList<>(text(checkpoint).lines().toList()));
  }

  @Override
  public Answer failure(RuntimeException cause) {
    return new SeriesHandlers.Elements("!" + cause.getClass().getSimpleName());
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static String elementOf(String line) {
    return line.substring(0, line.indexOf('='));
  }

  private record Chain(List<String> lines) implements Handler {
    @Override
    public Answer put(byte[] value, Execution execution) {
      String rest = text(value);
      int end = next(rest, 0);
      String element = rest.substring(0, end);
      var outcomes = new ArrayList<String>();
      for (int number = 1; end < rest.length(); number++) {
        char how = rest.charAt(end);
        int begin = end + 1;
        end = next(rest, begin);
        String target = rest.substring(begin, end);
        String child = element + "/" + number;
        String passed = how == '>' ? child + rest.substring(end) : child;
        outcomes.add(target + ":" + call(how == '?', target, passed, execution));
        if (how == '>') break;
      }
      String line = element + "=" + String.join(",", outcomes);
      lines.add(line);
      return new SeriesHandlers.Elements(line);
    }

    private static int next(String text, int from) {
      for (int i = from; i < text.length(); i++) {
        if (">+?".indexOf(text.charAt(i)) >= 0) return i;
      }
      return text.length();
    }

    private static String call(boolean asks, String name, String value, Execution execution) {
      Key target = Key.of(space(name), name);
      byte[] answer;
      if (execution.isInOtherGroup(target)) {
        var kind = asks ? Visit.Kind.GET : Visit.Kind.PUT;
        answer = execution.visit(kind, target, bytes(asks ? "" : value), ANY);
      } else {
        answer = asks ? execution.get(target, "", ANY) : execution.put(target, bytes(value), ANY);
      }
      String said = text(answer);
      if (said.startsWith("!")) return REFUSED;
      if (!asks) return OK;
      return said.isEmpty() ? "" : elementOf(said.substring(said.lastIndexOf('\n') + 1));
    }

    @Override
    public Answer get(@Nullable Object query, Execution execution) {
      return new SeriesHandlers.Elements(String.join("\n", lines));
    }

    @Override
    public byte[] checkpoint() {
      return bytes(String.join("\n", lines));
    }
  }
}
