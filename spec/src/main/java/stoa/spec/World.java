package stoa.spec;

import java.util.List;

/// A small world in which the specification is searched to the end. Each has a file `NAME.cfg`.
///
/// @param name the name of its file
/// @param statesMin how many distinct states there must be at least; fewer mean that something can
///   no longer happen
public record World(String name, long statesMin) {
  /// The worlds that are searched within seconds.
  public static final List<World> SMALL =
      List.of(
          new World("Skew", 5_000),
          new World("Snapshot", 70_000),
          new World("Retries", 60_000),
          new World("Terms", 30_000),
          new World("Settling", 2_000));

  /// The worlds that take a minute or so each.
  public static final List<World> LARGE =
      List.of(
          new World("SkewLarge", 200_000),
          new World("SnapshotLarge", 300_000),
          new World("RetriesLarge", 300_000),
          new World("TermsLarge", 300_000),
          new World("SettlingLarge", 7_000));
}
