package stoa.stacksync;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Call;

/// The items of a workspace, and the rules by which they change: part of the state of a [Workspace]
/// or of a [WholeFacade], see [Design].
///
/// It charges its owner for what the items hold, and calls its items where these are shared
/// objects.
public final class Contents {
  /*
   * (1) The newest versions of the items together hold what the owner was charged for this
   *     workspace.
   * (2) An item is in one workspace. Only release takes it out, and what was released is adopted
   *     by another workspace or restored here.
   * (3) The owner is a member.
   * (4) The items that are not deleted are a tree: the parent of each is the root or a folder that
   *     is not deleted. `folders` has these folders, with the number of their children.
   */
  private final UUID id;
  private final UUID ownerId;
  private final String name;
  private final Design design;
  private final Set<UUID> members = new LinkedHashSet<>();
  private final TreeMap<Long, Item> items = new TreeMap<>();
  private TreeMap<Long, Integer> folders = new TreeMap<>();

  Contents(UUID id, UUID ownerId, String name, Design design) {
    this.id = id;
    this.ownerId = ownerId;
    this.name = name;
    this.design = design;
    members.add(ownerId);
  }

  UUID ownerId() {
    return ownerId;
  }

  WorkspaceInfo info() {
    return new WorkspaceInfo(id, name, ownerId, members.size(), items.size());
  }

  boolean isMember(UUID user) {
    return members.contains(user);
  }

  List<ItemState> changes(long afterItem, int itemsMax) {
    return items.tailMap(afterItem, false).entrySet().stream()
        .limit(itemsMax)
        .map(item -> new ItemState(item.getKey(), item.getValue().latest()))
        .toList();
  }

  List<ItemHistory> items(long afterItem, int itemsMax) {
    return items.tailMap(afterItem, false).entrySet().stream()
        .limit(itemsMax)
        .map(item -> new ItemHistory(item.getKey(), item.getValue().versions()))
        .toList();
  }

  List<ItemTree> tree(long folder, int itemsMax) {
    if (folder != Metadata.ROOT && !folders.containsKey(folder)) {
      throw new NotFound("the workspace \"" + name + "\" has no folder " + folder);
    }
    var children = new HashMap<Long, List<ItemState>>();
    for (var item : items.entrySet()) {
      var latest = item.getValue().latest();
      if (latest.metadata().deleted()) continue;
      children
          .computeIfAbsent(latest.metadata().parent(), _ -> new ArrayList<>())
          .add(new ItemState(item.getKey(), latest));
    }
    return new Branches(children, folder, itemsMax).below(folder);
  }

  /// Collects a tree, up to a number of items.
  private static final class Branches {
    private final Map<Long, List<ItemState>> children;
    private final long folder;
    private final int itemsMax;
    private int count;

    Branches(Map<Long, List<ItemState>> children, long folder, int itemsMax) {
      this.children = children;
      this.folder = folder;
      this.itemsMax = itemsMax;
    }

    List<ItemTree> below(long parent) {
      var trees = new ArrayList<ItemTree>();
      for (var child : children.getOrDefault(parent, List.of())) {
        if (++count > itemsMax) {
          throw new IllegalArgumentException(
              (folder == Metadata.ROOT ? "the root" : "folder " + folder)
                  + " holds more than "
                  + itemsMax
                  + " items; ask for a folder in it, or page with listChanges");
        }
        trees.add(new ItemTree(child, below(child.item())));
      }
      return trees;
    }
  }

  void admit(UUID by, UUID user) {
    requireOwner(by);
    members.add(user);
  }

  void dismiss(UUID by, UUID user) {
    requireOwner(by);
    if (user.equals(ownerId)) {
      throw new NotPermitted("the owner " + user + " cannot leave the workspace \"" + name + "\"");
    }
    members.remove(user);
  }

  List<CommitInfo> commit(Purse owner, UUID user, UUID device, List<ItemChange> changes) {
    requireMember(user);
    ItemChange.requireDistinct(changes);
    return commit(owner, device, changes, Set.of());
  }

  Departure release(Purse owner, UUID user, List<ItemChange> changes) {
    requireMember(user);
    var left = new LinkedHashMap<Long, Item>();
    var stayed = new ArrayList<CommitInfo>();
    long bytes = 0;
    for (var change : changes) {
      var item = items.get(change.item());
      if (item == null) continue;
      var newest = item.latest();
      requireSameKind(change, newest);
      if (follows(change, newest)) {
        left.put(change.item(), item);
        bytes += newest.metadata().quotaBytes();
        items.remove(change.item());
        count(folders, newest.metadata(), -1);
      } else {
        stayed.add(refusal(change, item, newest));
      }
    }
    if (bytes != 0) owner.adjust(-bytes);
    return new Departure(left, stayed);
  }

  Arrival adopt(
      Purse owner, UUID device, SequencedMap<Long, Item> arriving, List<ItemChange> changes) {
    for (long arrived : arriving.keySet()) {
      if (items.containsKey(arrived)) {
        throw new IllegalArgumentException(
            "item " + arrived + " is in the workspace \"" + name + "\" already; ids are unique");
      }
    }
    items.putAll(arriving);
    var answers = commit(owner, device, changes, arriving.keySet());
    var turnedAway = new LinkedHashMap<Long, Item>();
    for (var answer : answers) {
      var item = arriving.get(answer.item());
      if (item != null && !(answer instanceof CommitInfo.Committed)) {
        items.remove(answer.item());
        turnedAway.put(answer.item(), item);
      }
    }
    return new Arrival(answers, turnedAway);
  }

  void restore(Purse owner, SequencedMap<Long, Item> returning) {
    items.putAll(returning);
    long bytes = 0;
    for (var item : returning.values()) {
      var metadata = item.latest().metadata();
      bytes += metadata.quotaBytes();
      count(folders, metadata, 1);
    }
    if (bytes != 0) owner.adjust(bytes);
  }

  // ---- a commit

  /// @param arrived items for which the owner has not been charged yet, and which no folder has
  private List<CommitInfo> commit(
      Purse owner, UUID device, List<ItemChange> changes, Set<Long> arrived) {
    // Each item is asked once: where items are shared objects, that is a call.
    var newest = new HashMap<Long, ItemVersion>();
    for (var change : changes) {
      var item = items.get(change.item());
      if (item == null) continue;
      var latest = item.latest();
      requireSameKind(change, latest);
      newest.put(change.item(), latest);
    }
    var placing = place(changes, newest, arrived, Set.of());
    var differences = differences(changes, newest, arrived, placing);
    // One call for the whole request; none when nothing grew or shrank.
    var charge = differences.isEmpty() ? null : owner.charge(differences);
    if (charge != null && !charge.refused().isEmpty()) {
      // A file that stays where it is keeps its folder.
      var without = new HashSet<>(charge.refused());
      without.addAll(placing.refused.keySet());
      var again = place(changes, newest, arrived, without);
      placing.refused.forEach(again.refused::putIfAbsent);
      placing = again;
    }
    folders = placing.folders;
    var answers = new ArrayList<CommitInfo>();
    var now = Call.now();
    for (var change : changes) {
      var misplaced = placing.refused.get(change.item());
      if (misplaced != null) {
        answers.add(misplaced);
      } else if (charge != null && charge.refused().contains(change.item())) {
        answers.add(new CommitInfo.OverQuota(change.item(), change.version(), charge.quota()));
      } else {
        answers.add(commit(device, now, change, newest.get(change.item())));
      }
    }
    return answers;
  }

  private static SequencedMap<Long, Long> differences(
      List<ItemChange> changes, Map<Long, ItemVersion> newest, Set<Long> arrived, Placing placing) {
    var differences = new LinkedHashMap<Long, Long>();
    for (var change : changes) {
      var before = newest.get(change.item());
      if (!follows(change, before) || placing.refused.containsKey(change.item())) continue;
      long bytes = change.metadata().quotaBytes();
      if (before != null && !arrived.contains(change.item())) {
        bytes -= before.metadata().quotaBytes();
      }
      if (bytes != 0) differences.put(change.item(), bytes);
    }
    return differences;
  }

  private CommitInfo commit(
      UUID device, Instant now, ItemChange change, @Nullable ItemVersion newest) {
    if (follows(change, newest)) {
      items
          .computeIfAbsent(change.item(), _ -> newItem())
          .add(new ItemVersion(change.version(), change.metadata(), device, now));
      return new CommitInfo.Committed(change.item(), change.version());
    }
    var item = items.get(change.item());
    return item == null || newest == null
        ? new CommitInfo.UnknownItem(change.item(), change.version())
        : refusal(change, item, newest);
  }

  private Item newItem() {
    return switch (design) {
      case ITEMS_EMBEDDED, FACADE_ALONE -> new EmbeddedItem();
      case EVERYTHING_SHARED -> Call.get(SharedItem.class, Call.uuid());
    };
  }

  private static boolean follows(ItemChange change, @Nullable ItemVersion newest) {
    return change.version() == (newest == null ? 0 : newest.version()) + 1;
  }

  private static CommitInfo refusal(ItemChange change, Item item, ItemVersion newest) {
    boolean repeated =
        change.version() <= newest.version()
            && item.version(change.version()).metadata().equals(change.metadata());
    return repeated
        ? new CommitInfo.Repeated(change.item(), change.version(), newest)
        : new CommitInfo.WrongVersion(change.item(), change.version(), newest);
  }

  // ---- folders

  /// The folders after a request, and the changes that would not leave a tree.
  private record Placing(Map<Long, CommitInfo> refused, TreeMap<Long, Integer> folders) {}

  /// Places the changes in the tree, one after the other.
  ///
  /// @param without items whose changes are not made
  private Placing place(
      List<ItemChange> changes,
      Map<Long, ItemVersion> newest,
      Set<Long> arrived,
      Set<Long> without) {
    var refused = new HashMap<Long, CommitInfo>();
    if (changes.stream().allMatch(change -> isFlat(change, newest.get(change.item())))) {
      return new Placing(refused, folders);
    }
    var after = new TreeMap<>(folders);
    var parents = new HashMap<Long, Long>();
    for (var change : changes) {
      var before = newest.get(change.item());
      if (!follows(change, before) || without.contains(change.item())) continue;
      var now = change.metadata();
      if (now.folder() && now.deleted() && after.getOrDefault(change.item(), 0) > 0) {
        refused.put(change.item(), new CommitInfo.FolderInUse(change.item(), change.version()));
        continue;
      }
      if (!now.deleted() && !isFolder(now, change.item(), after, parents)) {
        refused.put(
            change.item(), new CommitInfo.NoFolder(change.item(), change.version(), now.parent()));
        continue;
      }
      if (before != null && !arrived.contains(change.item())) count(after, before.metadata(), -1);
      count(after, now, 1);
      if (now.folder() && now.deleted()) after.remove(change.item());
      if (now.folder() && !now.deleted()) {
        after.putIfAbsent(change.item(), 0);
        parents.put(change.item(), now.parent());
      }
    }
    return new Placing(refused, after);
  }

  /// Returns whether a change is of a file that was at the root and stays there.
  private static boolean isFlat(ItemChange change, @Nullable ItemVersion before) {
    var now = change.metadata();
    return !now.folder()
        && (now.parent() == Metadata.ROOT || now.deleted())
        && (before == null || before.metadata().parent() == Metadata.ROOT);
  }

  /// Returns whether the parent of a version is a folder, and not the item or in the item.
  ///
  /// @param parents of the folders that this request has placed
  private boolean isFolder(
      Metadata metadata, long item, Map<Long, Integer> known, Map<Long, Long> parents) {
    for (long at = metadata.parent(); at != Metadata.ROOT; ) {
      if (!known.containsKey(at) || at == item) return false;
      if (!metadata.folder()) return true;
      var placed = parents.get(at);
      var stored = items.get(at);
      if (placed != null) at = placed;
      else if (stored != null) at = stored.latest().metadata().parent();
      else return false;
    }
    return true;
  }

  private static void count(Map<Long, Integer> folders, Metadata metadata, int children) {
    if (metadata.parent() == Metadata.ROOT || metadata.deleted()) return;
    folders.merge(metadata.parent(), children, Integer::sum);
  }

  private static void requireSameKind(ItemChange change, ItemVersion newest) {
    if (change.metadata().folder() == newest.metadata().folder()) return;
    throw new IllegalArgumentException(
        "item "
            + change.item()
            + (newest.metadata().folder() ? " is a folder" : " is a file")
            + " and stays one; give \""
            + change.metadata().name()
            + "\" an id of its own");
  }

  // ---- who may

  private void requireMember(UUID user) {
    if (!members.contains(user)) {
      throw new NotPermitted(
          "user "
              + user
              + " is not a member of the workspace \""
              + name
              + "\"; its owner can share it");
    }
  }

  private void requireOwner(UUID user) {
    if (!user.equals(ownerId)) {
      throw new NotPermitted(
          "user " + user + " does not own the workspace \"" + name + "\"; " + ownerId + " does");
    }
  }
}
