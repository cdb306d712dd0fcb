package stoa.migration.core;

import java.util.List;

/// Copies on their way to a parent, with all their dependencies that the parent lacks.
///
/// @param copies the copies, to be saved together or not at all
/// @param dependencies the dependencies among them
public record Upward(List<Copy> copies, List<Dependency> dependencies) {
  static final Upward NOTHING = new Upward(List.of(), List.of());
}
