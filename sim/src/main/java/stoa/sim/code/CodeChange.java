package stoa.sim.code;

import java.util.List;

/// A change of a program, as the sources of its declarations.
///
/// The shared class is `Thing`, stored as `thing`. Its method `run`, or `walk` where that is
/// renamed, answers which build executes it; its accessor `show` shows the whole state.
///
/// @param name says what changes
/// @param before the declarations of the program, the shared class first
/// @param after those that follow
/// @param outcome what must become of the change
/// @param back what must become of going back to the first program
public record CodeChange(
    String name, List<String> before, List<String> after, Outcome outcome, Outcome back) {
  /// The outcome of a change.
  public sealed interface Outcome {
    /// It is taken: state and past are what they were.
    record Kept() implements Outcome {}

    /// It is refused, and the message has some words.
    record Refused(String words) implements Outcome {}
  }

  public CodeChange {
    before = List.copyOf(before);
    after = List.copyOf(after);
  }

  /// The same change of another program, so that a store can have several: its classes are in the
  /// package `v` with the number, and its stored name has the number behind it.
  public CodeChange numbered(int number) {
    return new CodeChange(name, numbered(before, number), numbered(after, number), outcome, back);
  }

  private static List<String> numbered(List<String> sources, int number) {
    return sources.stream()
        .map(source ->
            source
                .replace("\"thing\"", "\"thing" + number + "\"")
                .replace("\"v.", "\"v" + number + "."))
        .toList();
  }

  @Override
  public String toString() {
    return name;
  }
}
