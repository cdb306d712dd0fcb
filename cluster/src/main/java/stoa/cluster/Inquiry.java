package stoa.cluster;

import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// A question of one server to another about a group that one of them leads.
///
/// @param group its number
/// @param asked the question
record Inquiry(int group, Subject asked) {
  // The first byte distinguishes it from all other messages between servers.
  private static final int MARK = 'i';
  private static final byte[] ELSEWHERE = {0};

  /// The question.
  sealed interface Subject {
    /// Asks for the members.
    record Members() implements Subject {}

    /// Reports an object whose state differs at the sender.
    ///
    /// @param evidence the evidence of a standby
    record Differs(byte[] evidence) implements Subject {}

    /// Reports trouble with the sender's replica to its operators.
    record Alarm(String trouble) implements Subject {}
  }

  static boolean isQuestion(byte[] bytes) {
    return bytes.length > 0 && bytes[0] == MARK;
  }

  byte[] bytes() {
    var out = new Encoder(64).u8(MARK).varint(group);
    switch (asked) {
      case Subject.Members() -> out.u8(1);
      case Subject.Differs(byte[] evidence) -> out.u8(2).sized(evidence);
      case Subject.Alarm(String trouble) -> out.u8(3).text(trouble);
    }
    return out.toBytes();
  }

  /// Decodes an inquiry.
  ///
  /// @throws IllegalArgumentException when this program does not understand the bytes
  static Inquiry of(byte[] bytes) {
    var in = new Decoder(bytes);
    int _ = in.u8();
    int group = (int) in.varint();
    int kind = in.u8();
    return new Inquiry(
        group,
        switch (kind) {
          case 1 -> new Subject.Members();
          case 2 -> new Subject.Differs(in.sized());
          case 3 -> new Subject.Alarm(in.text());
          default -> throw new IllegalArgumentException("an inquiry of kind " + kind);
        });
  }

  /// Returns the answer of a server that does not lead the group, or is not certain that it does.
  static byte[] elsewhere() {
    return ELSEWHERE.clone();
  }

  /// Returns the answer of the group's leader: its members, when it was asked for them.
  static byte[] led(Collection<String> members) {
    var out = new Encoder(64).u8(1).varint(members.size());
    members.forEach(out::text);
    return out.toBytes();
  }

  /// Decodes an answer of [#led]; empty when another server must be asked.
  static Optional<Set<String>> members(byte[] answer) {
    var in = new Decoder(answer);
    if (in.u8() == 0) return Optional.empty();
    var members = new TreeSet<String>();
    for (int i = in.count(); i > 0; i--) members.add(in.text());
    return Optional.of(members);
  }
}
