package stoa.cluster;

import java.util.Collections;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// What a server answers to who leads group 0. Immutable.
///
/// @param refusal why it did not do what it was told; empty when it did
/// @param groups of which it has replicas, by their numbers
record Report(String refusal, NavigableMap<Integer, Kept> groups) {
  /// A replica.
  ///
  /// @param state what it does
  /// @param changes whether this server is changing the group's members or leader
  /// @param members of a group that it leads: how many commands each is behind
  record Kept(State state, boolean changes, NavigableMap<String, Long> members) {
    /// A replica that has stopped, or could not be opened.
    static final Kept FAILED = new Kept(State.FAILED, false, Collections.emptyNavigableMap());
  }

  /// What a replica does.
  enum State {
    /// It follows, or waits.
    FOLLOWS,
    /// It leads, and its server has the group's part of the store.
    LEADS,
    /// It has stopped, or could not be opened.
    FAILED
  }

  /// The groups whose replicas have stopped.
  Set<Integer> failed() {
    var failed = new TreeSet<Integer>();
    groups.forEach((number, kept) -> {
      if (kept.state() == State.FAILED) failed.add(number);
    });
    return failed;
  }

  byte[] bytes() {
    var out = new Encoder(256).text(refusal).varint(groups.size());
    groups.forEach((number, kept) -> {
      out.varint(number).text(kept.state().name()).u8(kept.changes() ? 1 : 0);
      out.varint(kept.members().size());
      kept.members().forEach((name, behind) -> out.text(name).varint(behind));
    });
    return out.toBytes();
  }

  static Report of(byte[] bytes) {
    var in = new Decoder(bytes);
    String refusal = in.text();
    var groups = new TreeMap<Integer, Kept>();
    for (int i = in.count(); i > 0; i--) {
      int number = (int) in.varint();
      State state = State.valueOf(in.text());
      boolean changes = in.u8() == 1;
      var members = new TreeMap<String, Long>();
      for (int j = in.count(); j > 0; j--) members.put(in.text(), in.varint());
      groups.put(number, new Kept(state, changes, members));
    }
    return new Report(refusal, groups);
  }
}
