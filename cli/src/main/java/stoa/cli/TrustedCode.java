package stoa.cli;

import picocli.CommandLine.Option;

/// The option by which an operator trusts the code of classes. One command uses it.
final class TrustedCode {
  @Option(
      names = "--trusted-code",
      description =
          "The code may do whatever the server may do. Without this, the server refuses code that"
              + " uses files, networks, processes, threads, reflection or others of the JDK's classes"
              + " that reach beyond the objects of the store.")
  private boolean trusted;

  TrustedCode() {}

  /// Returns whether it is given.
  boolean isGiven() {
    return trusted;
  }
}
