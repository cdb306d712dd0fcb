package stoa.client;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import stoa.Appended;
import stoa.LogAddress;
import stoa.StoaException;
import stoa.StreamKey;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.wire.MessageForms;
import stoa.wire.StreamForms;
import stoa.wire.proto.CommitAcross;
import stoa.wire.proto.Outcome;
import stoa.wire.proto.Request;

/// One append to streams of several groups: a transaction that reads nothing. One thread uses it.
final class AppendAcross {
  /// The part of the append in one group.
  ///
  /// @param stoa the group's part of the store
  /// @param streams the streams, in the order of the keys
  /// @param data the entry of each
  record Part(RemotePart stoa, List<StreamKey> streams, List<byte[]> data) {
    Part(RemotePart stoa) {
      this(stoa, new ArrayList<>(), new ArrayList<>());
    }
  }

  private final RemotePart first;
  private final SortedMap<Integer, Part> parts;
  private final TxOptions options;

  /// @param first the part of group 0, beside which the coordinator runs
  /// @param parts the parts by their groups
  AppendAcross(RemotePart first, SortedMap<Integer, Part> parts) {
    this.first = first;
    this.parts = parts;
    options = TxOptions.STANDARD.withTimeMax(first.limits().callTimeMax());
  }

  /// Appends, and waits until the entries are durable. Begins once more when a server was lost
  /// before the commit.
  ///
  /// @throws UnknownOutcome when the outcome is unknown, or the stream addresses are
  Appended run() {
    long end = System.nanoTime() + TimeUnit.NANOSECONDS.convert(first.limits().callTimeMax());
    while (true) {
      var branches = new TreeMap<Integer, Branch>();
      try {
        return placed(committed(branches));
      } catch (Unavailable lost) {
        boolean again = branches.values().stream().anyMatch(Branch::isLost);
        if (!again || System.nanoTime() - end > 0) throw lost;
      } finally {
        branches.values().forEach(Branch::end);
      }
    }
  }

  /// Returns the log address at which the coordinator commits the append.
  private LogAddress committed(SortedMap<Integer, Branch> branches) {
    var asked = new TreeMap<Integer, Outgoing>();
    var across = CommitAcross.newBuilder();
    RoundTrips trips = first.service().roundTrips();
    parts.forEach((group, part) -> {
      var branch = new Branch(part.stoa, trips, options, null, 0);
      branches.put(group, branch);
      asked.put(group, RemoteStreams.append(branch, part.streams, part.data));
    });
    branches.forEach((group, branch) -> {
      branch.await(Objects.requireNonNull(asked.get(group)));
      across.addBranches(branch.named(group));
    });
    // The client may repeat this: the coordinator knows whether it has committed.
    var request = Request.newBuilder().setCommitAcross(across);
    trips.wholeTrip();
    Outcome outcome =
        first.ask(Outgoing.of(request, Outgoing.Recovery.LOOKED_UP, 256)).getOutcome();
    return switch (outcome.getKind()) {
      case COMMITTED -> MessageForms.at(outcome.getAt());
      case ABORTED -> throw first.requests().failure(outcome.getCause());
      case NOT_COMMITTED, UNKNOWN, UNRECOGNIZED ->
          throw new UnknownOutcome("the store failed while the append was being written; read");
    };
  }

  private Appended placed(LogAddress at) {
    try {
      var asked =
          parts.values().stream()
              .map(part -> part.stoa.streams().places(part.streams, at))
              .toList();
      var places = new ArrayList<Appended.Place>();
      for (RemoteStreams.PendingAnswer one : asked) places.addAll(StreamForms.places(one.join()));
      places.sort(Comparator.comparing(Appended.Place::stream));
      return new Appended(at, places);
    } catch (StoaException failed) {
      throw new UnknownOutcome(
          "the append has the log address "
              + at
              + ", and its addresses in the streams could not be read: "
              + failed.getMessage(),
          failed);
    }
  }
}
