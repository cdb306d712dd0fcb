package stoa.stacksync.replay;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import stoa.stacksync.CommitInfo;
import stoa.stacksync.ItemChange;
import stoa.stacksync.SyncService;

/// A client of the service: commits batches through its facade, as the authors' devices would, and
/// remembers how long each call took.
///
/// Owned by one thread until that ends.
final class Committer {
  private static final int ATTEMPTS_MAX = 3;

  /*
   * (1) A request that comes twice is recognised, so what has no known outcome is sent again as it
   *     was. It goes to the same facade, which finishes what it had begun before.
   * (2) A change on an old version is sent again on top of the newest, but never as a later version
   *     than the trace gives it: if that is there already, it is this change, committed before.
   */
  private final SyncService service;
  private final Observer observer;
  private final Outage outage;
  private final List<Long> nanos = new ArrayList<>();
  private int conflicts;

  Committer(SyncService service, Observer observer, Outage outage) {
    this.service = service;
    this.observer = observer;
    this.outage = outage;
  }

  /// How long each call took.
  List<Long> nanos() {
    return nanos;
  }

  /// How many changes were refused because their device had an old version, and sent again.
  int conflicts() {
    return conflicts;
  }

  /// Commits a batch, and returns when the service has all of its changes.
  ///
  /// @throws IllegalStateException when the service refuses what it should take
  void commit(Batch batch) {
    var waiting = new HashMap<Long, TraceRow>();
    var changes = new ArrayList<ItemChange>();
    for (var row : batch.rows) {
      waiting.put(row.item(), row);
      changes.add(change(row, row.versionAskedFor()));
    }
    for (int attempt = 1; !changes.isEmpty(); attempt++) {
      if (attempt > ATTEMPTS_MAX) {
        throw new IllegalStateException(
            changes + " was not committed in " + ATTEMPTS_MAX + " attempts");
      }
      var answers = send(batch, changes);
      changes.clear();
      var acknowledged = new ArrayList<TraceRow>();
      for (var answer : answers) {
        var row = waiting.get(answer.item());
        if (row == null) throw new IllegalStateException("not asked for: " + answer);
        switch (answer) {
          case CommitInfo.Committed committed when committed.version() == row.version() ->
              acknowledged.add(row);
          case CommitInfo.Repeated repeated when repeated.version() == row.version() ->
              acknowledged.add(row);
          case CommitInfo.WrongVersion wrong when wrong.version() < row.version() -> {
            conflicts++;
            int onTop = wrong.current().version() + 1;
            changes.add(change(row, Math.min(onTop, row.version())));
          }
          case CommitInfo refused ->
              throw new IllegalStateException(refused + " is the answer to " + row);
        }
      }
      if (!acknowledged.isEmpty()) observer.acknowledged(acknowledged);
    }
  }

  private List<CommitInfo> send(Batch batch, List<ItemChange> changes) {
    var author = batch.rows.getFirst();
    var user = TraceIds.user(author.user());
    var device = TraceIds.device(author.device());
    var to = TraceIds.workspace(batch.to);
    long start = System.nanoTime();
    var answers =
        outage.bridge(() ->
            batch.moves()
                ? service.moveItems(user, device, TraceIds.workspace(batch.from), to, changes)
                : service.doCommit(user, device, to, changes));
    nanos.add(System.nanoTime() - start);
    return answers;
  }

  private static ItemChange change(TraceRow row, int version) {
    return new ItemChange(row.item(), version, TraceIds.metadata(row));
  }
}
