package stoa.node;

import java.util.Set;
import java.util.TreeSet;
import stoa.Corrupt;
import stoa.StreamKey;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.wire.SlotMap;

/// An entry of the audit log: a command of an operator, and its outcome.
///
/// The audit log is one stream for each group of the store, in the group itself: a command is noted
/// where it is done, also when other groups have no leader.
///
/// @param millis when the command ended, in milliseconds since 1970
/// @param identity of the operator
/// @param address of the operator's machine, as the server saw it
/// @param command in words
/// @param outcome `done`, or the reason why it was refused
record AuditEntry(long millis, String identity, String address, String command, String outcome) {
  /// The outcome of a command that was not refused.
  static final String DONE = "done";

  private static final int FORM = 1;
  private static final int TEXT_MAX = 4_000;
  private static final int SLOT_BITS = 56;
  private static final long REST = (1L << SLOT_BITS) - 1;
  private static final StreamId NAME = StreamId.of("stoa/audit");

  /// Cuts long words.
  AuditEntry {
    command = cut(command);
    outcome = cut(outcome);
  }

  private static String cut(String text) {
    return text.length() <= TEXT_MAX ? text : text.substring(0, TEXT_MAX) + " ...";
  }

  /// Returns the stream of a group.
  ///
  /// @param groups how many groups keep the store
  static StreamKey stream(int group, int groups) {
    return stream(group, SlotMap.of(groups));
  }

  private static StreamKey stream(int group, SlotMap map) {
    for (int slot = 0; slot < SlotMap.SLOTS; slot++) {
      var id = new StreamId((long) slot << SLOT_BITS | (NAME.high() & REST), NAME.low());
      if (map.group(id) == group) return new StreamKey(id.high(), id.low());
    }
    throw new IllegalArgumentException("group " + group + " has no slot in " + map);
  }

  /// Returns the streams of all groups, in stores of any number of groups: a restored store may
  /// have had another number.
  static Set<StreamKey> streams() {
    var all = new TreeSet<StreamKey>();
    for (int groups = 1; groups <= SlotMap.GROUPS_MAX; groups++) {
      SlotMap map = SlotMap.of(groups);
      for (int group = 0; group < groups; group++) all.add(stream(group, map));
    }
    return all;
  }

  /// Returns whether a stream belongs to the audit log, so that clients only read it.
  static boolean isOne(StreamKey stream) {
    return (stream.high() & REST) == (NAME.high() & REST) && stream.low() == NAME.low();
  }

  byte[] encoded() {
    return new Encoder(128)
        .u8(FORM)
        .varint(millis)
        .text(identity)
        .text(address)
        .text(command)
        .text(outcome)
        .toBytes();
  }

  /// Reads an entry of the stream.
  ///
  /// @throws Corrupt when it is none
  static AuditEntry of(byte[] encoded) {
    try {
      var in = new Decoder(encoded);
      if (in.u8() != FORM) throw new Corrupt("an entry of the audit log is of a later release");
      return new AuditEntry(in.varint(), in.text(), in.text(), in.text(), in.text());
    } catch (Decoder.MalformedException malformed) {
      throw new Corrupt("an entry of the audit log cannot be read: " + malformed.getMessage());
    }
  }
}
