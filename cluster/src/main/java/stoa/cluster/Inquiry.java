package stoa.cluster;

import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// What one server asks another one about a group that one of them leads.
///
/// @param group its number
/// @param asked what is asked
record Inquiry(int group, Asked asked) {
  /* The first byte sets it apart from all else that servers ask each other. */
  private static final int MARK = 'i';
  private static final byte[] ELSEWHERE = {0};

  /// What is asked.
  sealed interface Asked {
    /// Who its members are.
    record Members() implements Asked {}

    /// To take note of an object that the sender has otherwise.
    ///
    /// @param evidence as a standby told it
    record Differs(byte[] evidence) implements Asked {}

    /// To tell its operators what is wrong with its replica.
    record Alarm(String trouble) implements Asked {}
  }

  static boolean isQuestion(byte[] bytes) {
    return bytes.length > 0 && bytes[0] == MARK;
  }

  byte[] bytes() {
    var out = new Encoder(64).u8(MARK).varint(group);
    switch (asked) {
      case Asked.Members() -> out.u8(1);
      case Asked.Differs(byte[] evidence) -> out.u8(2).sized(evidence);
      case Asked.Alarm(String trouble) -> out.u8(3).text(trouble);
    }
    return out.toBytes();
  }

  /// The inquiry of some bytes.
  ///
  /// @throws IllegalArgumentException when they are none that this program understands
  static Inquiry of(byte[] bytes) {
    var in = new Decoder(bytes);
    int _ = in.u8();
    int group = (int) in.varint();
    int kind = in.u8();
    return new Inquiry(
        group,
        switch (kind) {
          case 1 -> new Asked.Members();
          case 2 -> new Asked.Differs(in.sized());
          case 3 -> new Asked.Alarm(in.text());
          default -> throw new IllegalArgumentException("an inquiry of kind " + kind);
        });
  }

  /// The answer of a server that does not lead the group, or is not certain that it does.
  static byte[] elsewhere() {
    return ELSEWHERE.clone();
  }

  /// The answer of the server that leads the group: its members, when it was asked for them.
  static byte[] led(Collection<String> members) {
    var out = new Encoder(64).u8(1).varint(members.size());
    members.forEach(out::text);
    return out.toBytes();
  }

  /// What [#led] has written; empty when another server is to be asked.
  static Optional<Set<String>> members(byte[] answer) {
    var in = new Decoder(answer);
    if (in.u8() == 0) return Optional.empty();
    var members = new TreeSet<String>();
    for (int i = in.count(); i > 0; i--) members.add(in.text());
    return Optional.of(members);
  }
}
