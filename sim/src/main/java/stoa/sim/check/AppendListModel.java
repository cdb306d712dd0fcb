package stoa.sim.check;

import java.util.ArrayList;
import java.util.List;

/// A list, empty at first: [Input.Append] adds at the end and answers the list's new content,
/// [Input.Read] answers its content.
///
/// Since every answer shows the whole past, almost any error shows at once.
public record AppendListModel()
    implements SequentialModel<List<String>, AppendListModel.Input, List<String>> {
  /// The calls.
  public sealed interface Input {
    /// Adds an element and answers all of them.
    record Append(String element) implements Input {}

    /// Answers all elements.
    record Read() implements Input {}
  }

  @Override
  public List<String> initial() {
    return List.of();
  }

  @Override
  public Step<List<String>, List<String>> apply(List<String> state, Input input) {
    return switch (input) {
      case Input.Append(String element) -> {
        var longer = new ArrayList<>(state);
        longer.add(element);
        var next = List.copyOf(longer);
        yield new Step<>(next, next);
      }
      case Input.Read() -> new Step<>(state, state);
    };
  }
}
