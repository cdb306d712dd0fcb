package stoa.spec;

import java.util.List;

/// A rule of the protocol that is broken on purpose, and what then goes wrong.
///
/// @param name what `Fault` is set to
/// @param world where it shows
/// @param broken the invariant that TLC must find violated
public record Fault(String name, String world, String broken) {
  /// All rules that can be broken.
  public static final List<Fault> ALL =
      List.of(
          new Fault("a seal does not bind log units", "Retries", "CountersAreUnique"),
          new Fault("a seal does not bind stream units", "Snapshot", "AllOrNone"),
          new Fault("answers before older epochs are settled", "Skew", "ReadsAreStable"),
          new Fault("closed before holes are delivered", "Retries", "AllOrNone"),
          new Fault("closed before records are delivered", "Skew", "ReadsAreStable"),
          new Fault("closed twice", "Retries", "AllOrNone"),
          new Fault("counters compared without epochs", "Retries", "Serializable"),
          new Fault("gaps filled at the seal", "Retries", "AllOrNone"),
          new Fault("holes filled by anybody", "Retries", "AllOrNone"),
          new Fault("old terms append", "Terms", "Once"),
          new Fault("parts before the record", "Skew", "AllOrNone"),
          new Fault("reads do not wait", "Skew", "ReadsAreStable"),
          new Fault("records are not write-once", "Skew", "HoldsOneThing"),
          new Fault("refused by what may become a hole", "Skew", "RefusedForEver"),
          new Fault("streams forgotten while under way", "Skew", "ReadsAreStable"),
          new Fault("the window is forgotten", "Skew", "Serializable"),
          new Fault("tried again before settled", "Skew", "RefusedForEver"),
          new Fault("what was read is not checked", "Skew", "Serializable"));
}
