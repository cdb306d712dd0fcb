package stoa.peers;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import stoa.stacksync.CommitInfo;
import stoa.stacksync.ItemChange;
import stoa.stacksync.ItemVersion;
import stoa.stacksync.Metadata;
import stoa.stacksync.Quota;

/// The rules of a commit, for a client that works on rows in a transaction of its own.
final class RowRules {
  private RowRules() {}

  /// An item's row: its latest version.
  record Row(int latest, long parent, boolean folder, boolean deleted, long sizeBytes) {
    static Row of(ItemChange change) {
      var now = change.metadata();
      return new Row(change.version(), now.parent(), now.folder(), now.deleted(), now.sizeBytes());
    }

    long quotaBytes() {
      return deleted ? 0 : sizeBytes;
    }
  }

  /// The rows of a workspace, with what this transaction has written.
  interface Rows<X extends Exception> {
    /// Finds an item.
    Optional<Row> find(long item) throws X;

    /// Returns whether a folder holds items that are not deleted.
    boolean holdsItems(long folder) throws X;

    /// Returns a version that an item has.
    ItemVersion version(long item, int version) throws X;

    /// Writes the next version of an item, or its first.
    void write(ItemChange change, boolean first) throws X;
  }

  /// The answers, and the owner's quota after them.
  record Outcome(List<CommitInfo> answers, Quota quota) {}

  /// Commits changes.
  static <X extends Exception> Outcome commit(List<ItemChange> changes, Rows<X> rows, Quota before)
      throws X {
    for (var change : changes) {
      var stored = rows.find(change.item());
      if (stored.isPresent() && stored.get().folder() != change.metadata().folder()) {
        throw new IllegalArgumentException("a folder stays a folder, and a file a file");
      }
    }
    var quota = before;
    var answers = new ArrayList<CommitInfo>();
    var overQuota = new ArrayList<Integer>();
    for (var change : changes) {
      var stored = rows.find(change.item());
      var refusal = refusal(change, stored, rows);
      long bytes = change.metadata().quotaBytes() - stored.map(Row::quotaBytes).orElse(0L);
      if (refusal.isPresent()) {
        answers.add(refusal.get());
      } else if (!quota.allows(bytes)) {
        overQuota.add(answers.size());
        answers.add(new CommitInfo.OverQuota(change.item(), change.version(), quota));
      } else {
        quota = quota.plus(bytes);
        rows.write(change, stored.isEmpty());
        answers.add(new CommitInfo.Committed(change.item(), change.version()));
      }
    }
    for (int i : overQuota) {
      var change = changes.get(i);
      answers.set(i, new CommitInfo.OverQuota(change.item(), change.version(), quota));
    }
    return new Outcome(answers, quota);
  }

  private static <X extends Exception> Optional<CommitInfo> refusal(
      ItemChange change, Optional<Row> stored, Rows<X> rows) throws X {
    long item = change.item();
    int version = change.version();
    int latest = stored.map(Row::latest).orElse(0);
    if (version != latest + 1) {
      if (latest == 0) return Optional.of(new CommitInfo.UnknownItem(item, version));
      boolean again =
          version <= latest && rows.version(item, version).metadata().equals(change.metadata());
      var current = rows.version(item, latest);
      return Optional.of(
          again
              ? new CommitInfo.Repeated(item, version, current)
              : new CommitInfo.WrongVersion(item, version, current));
    }
    var now = change.metadata();
    if (now.deleted()) {
      return now.folder() && rows.holdsItems(item)
          ? Optional.of(new CommitInfo.FolderInUse(item, version))
          : Optional.empty();
    }
    return isPlaced(item, now, rows)
        ? Optional.empty()
        : Optional.of(new CommitInfo.NoFolder(item, version, now.parent()));
  }

  private static <X extends Exception> boolean isPlaced(long item, Metadata now, Rows<X> rows)
      throws X {
    for (long at = now.parent(); at != Metadata.ROOT; ) {
      var folder = rows.find(at);
      if (at == item || folder.isEmpty()) return false;
      if (!folder.get().folder() || folder.get().deleted()) return false;
      if (!now.folder()) return true;
      at = folder.get().parent();
    }
    return true;
  }
}
