package stoa.sim;

import java.util.List;

/// The scenarios that come with the kit, by name.
final class Scenarios {
  static final List<Scenario> ALL = List.of();

  private Scenarios() {}

  /// The scenario of a short name, or of a class.
  static Scenario named(String name) {
    for (var scenario : ALL) {
      if (scenario.name().equals(name)) return scenario;
    }
    try {
      return Class.forName(name).asSubclass(Scenario.class).getConstructor().newInstance();
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new IllegalArgumentException(
          "%s is no scenario: %s; there are %s, and any public class that implements Scenario"
              .formatted(name, e, ALL.stream().map(Scenario::name).toList()),
          e);
    }
  }
}
