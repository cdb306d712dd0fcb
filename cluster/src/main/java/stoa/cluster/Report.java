package stoa.cluster;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import stoa.base.Decoder;
import stoa.base.Encoder;

/// A server's answer to the leader of group 0. Immutable.
///
/// @param refusal why it refused an order; empty when it did not
/// @param groups of which it has replicas, by their numbers
/// @param alarms about replicas of groups that it leads
/// @param view the mandate with which it got the view that it has; [ServerRequest.Mandate#NONE]
///   without a view, and of servers of earlier versions, which understand whole views only
record Report(
    String refusal,
    NavigableMap<Integer, HostedReplica> groups,
    List<String> alarms,
    ServerRequest.Mandate view) {
  /// Creates a report without alarms and view.
  Report(String refusal, NavigableMap<Integer, HostedReplica> groups) {
    this(refusal, groups, List.of(), ServerRequest.Mandate.NONE);
  }

  /// A replica.
  ///
  /// @param state its state
  /// @param changes whether this server is changing the group's members or leader
  /// @param members of a group that it leads: how many commands each is behind
  record HostedReplica(State state, boolean changes, NavigableMap<String, Long> members) {
    /// A replica that has stopped, or could not be opened.
    static final HostedReplica FAILED = bare(State.FAILED);

    /// A replica that was removed from its group.
    static final HostedReplica OUT = bare(State.OUT);

    private static HostedReplica bare(State state) {
      return new HostedReplica(state, false, Collections.emptyNavigableMap());
    }
  }

  /// The state of a replica.
  enum State {
    /// The replica follows, or waits for its group.
    FOLLOWS,
    /// The replica leads, and its server has the group's part of the store.
    LEADS,
    /// The replica has stopped, or could not be opened.
    FAILED,
    /// The replica was removed from the group, takes no part any more, and stops by itself.
    OUT
  }

  /// Returns the groups whose replicas are in a state.
  Set<Integer> in(State state) {
    var some = new TreeSet<Integer>();
    groups.forEach((number, kept) -> {
      if (kept.state() == state) some.add(number);
    });
    return some;
  }

  byte[] bytes() {
    var out = new Encoder(256).message(refusal).varint(groups.size());
    groups.forEach((number, kept) -> {
      // Servers of versions before it do not know OUT, and do not read on to its place.
      State told = kept.state() == State.OUT ? State.FAILED : kept.state();
      out.varint(number).text(told.name()).u8(kept.changes() ? 1 : 0);
      out.varint(kept.members().size());
      kept.members().forEach((name, behind) -> out.text(name).varint(behind));
    });
    Set<Integer> taken = in(State.OUT);
    out.varint(taken.size());
    taken.forEach(out::varint);
    // Servers of versions before do not read on, or read here which classes each group lacks.
    for (int i = 0; i < groups.size(); i++) out.varint(0);
    out.varint(alarms.size());
    alarms.forEach(out::text);
    // Servers of versions before do not read on.
    out.varint(view.term()).varint(view.number());
    return out.toBytes();
  }

  static Report of(byte[] bytes) {
    var in = new Decoder(bytes);
    String refusal = in.text();
    var groups = new TreeMap<Integer, HostedReplica>();
    for (int i = in.count(); i > 0; i--) {
      int number = (int) in.varint();
      State state = State.valueOf(in.text());
      boolean changes = in.u8() == 1;
      var members = new TreeMap<String, Long>();
      for (int j = in.count(); j > 0; j--) members.put(in.text(), in.varint());
      groups.put(number, new HostedReplica(state, changes, members));
    }
    if (in.remaining() > 0) {
      for (int i = in.count(); i > 0; i--) groups.put((int) in.varint(), HostedReplica.OUT);
    }
    if (in.remaining() > 0) {
      for (int group = 0; group < groups.size(); group++) {
        for (int i = in.count(); i > 0; i--) in.text();
      }
    }
    var alarms = new ArrayList<String>();
    if (in.remaining() > 0) {
      for (int i = in.count(); i > 0; i--) alarms.add(in.text());
    }
    var view = ServerRequest.Mandate.NONE;
    if (in.remaining() > 0) view = new ServerRequest.Mandate(in.varint(), in.varint());
    return new Report(refusal, groups, alarms, view);
  }
}
