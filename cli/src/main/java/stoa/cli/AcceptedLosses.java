package stoa.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine.Option;

/// The losses that an operator accepts when classes change.
final class AcceptedLosses {
  @Option(
      names = "--accept",
      paramLabel = "LOSS",
      description =
          "Accept a loss that the classes cause, in the words of the refusal, such as 'shop.Cart.note"
              + " removed'; repeatable. One that they do not cause is refused.")
  private List<String> losses = new ArrayList<>();

  AcceptedLosses() {}

  /// Returns them, as refusals name them.
  Set<String> losses() {
    return new TreeSet<>(losses);
  }
}
