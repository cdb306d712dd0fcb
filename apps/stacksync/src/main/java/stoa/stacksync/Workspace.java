package stoa.stacksync;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Call;
import stoa.Shared;

/// A shared object: a folder that its members keep in step, with all versions of all its items.
///
/// It calls its owner, to charge for what the items hold, and its items where these are shared
/// objects. Requests come from a [Facade], which has checked that the device belongs to the user.
@Shared(name = "stacksync.Workspace", key = "id")
public class Workspace {
  /*
   * (1) The newest versions of the items together hold what the owner was charged for this
   *     workspace.
   * (2) An item is in one workspace. Only release takes it out, and what was released is adopted
   *     by another workspace or restored here.
   * (3) The owner is a member.
   */
  private final UUID id;
  private final UUID ownerId;
  private final User owner;
  private final String name;
  private final Design design;
  private final Set<UUID> members = new LinkedHashSet<>();
  private final TreeMap<Long, Item> items = new TreeMap<>();

  /// Begins the workspace. Called by the store, and by `new` in woven code.
  public Workspace(UUID id, UUID ownerId, User owner, String name, Design design) {
    this.id = id;
    this.ownerId = ownerId;
    this.owner = owner;
    this.name = name;
    this.design = design;
    members.add(ownerId);
  }

  /// Returns the data about the workspace, without its items.
  @Accessor
  public WorkspaceInfo info() {
    return new WorkspaceInfo(id, name, ownerId, members.size(), items.size());
  }

  /// Returns whether a user may read and commit here.
  @Accessor
  public boolean isMember(UUID user) {
    return members.contains(user);
  }

  /// The items as they are now, by id, a page at a time.
  ///
  /// @param afterItem the last id of the page before; [Long#MIN_VALUE] for the first page
  /// @param itemsMax the size of a page
  @Accessor
  public List<ItemState> changes(long afterItem, int itemsMax) {
    return items.tailMap(afterItem, false).entrySet().stream()
        .limit(itemsMax)
        .map(item -> new ItemState(item.getKey(), item.getValue().latest()))
        .toList();
  }

  /// The items with all their versions, paged as [#changes].
  @Accessor
  public List<ItemHistory> items(long afterItem, int itemsMax) {
    return items.tailMap(afterItem, false).entrySet().stream()
        .limit(itemsMax)
        .map(item -> new ItemHistory(item.getKey(), item.getValue().versions()))
        .toList();
  }

  /// Makes a user a member.
  ///
  /// @param by the caller: only the owner may
  public void admit(UUID by, UUID user) {
    requireOwner(by);
    members.add(user);
  }

  /// Ends a membership. The member's commits stay.
  ///
  /// @param by the caller: only the owner may
  public void dismiss(UUID by, UUID user) {
    requireOwner(by);
    if (user.equals(ownerId)) {
      throw new NotPermitted("the owner " + user + " cannot leave the workspace \"" + name + "\"");
    }
    members.remove(user);
  }

  /// Commits changes by the rules of [CommitInfo], each for itself.
  ///
  /// @return one answer for each change, in their order
  public List<CommitInfo> commit(UUID user, UUID device, List<ItemChange> changes) {
    requireMember(user);
    ItemChange.requireDistinct(changes);
    return commit(device, changes, Set.of());
  }

  /// Lets items go to another workspace: those whose change is their next version.
  public Departure release(UUID user, List<ItemChange> changes) {
    requireMember(user);
    var left = new LinkedHashMap<Long, Item>();
    var stayed = new ArrayList<CommitInfo>();
    long bytes = 0;
    for (var change : changes) {
      var item = items.get(change.item());
      if (item == null) continue;
      var newest = item.latest();
      if (follows(change, newest)) {
        left.put(change.item(), item);
        bytes += newest.metadata().quotaBytes();
        items.remove(change.item());
      } else {
        stayed.add(refusal(change, item, newest));
      }
    }
    if (bytes != 0) owner.adjust(-bytes);
    return new Departure(left, stayed);
  }

  /// Takes items in that another workspace released, and commits the changes that move them.
  public Arrival adopt(UUID device, SequencedMap<Long, Item> arriving, List<ItemChange> changes) {
    for (long id : arriving.keySet()) {
      if (items.containsKey(id)) {
        throw new IllegalArgumentException(
            "item " + id + " is in the workspace \"" + name + "\" already; ids are unique");
      }
    }
    items.putAll(arriving);
    var answers = commit(device, changes, arriving.keySet());
    var turnedAway = new LinkedHashMap<Long, Item>();
    for (var answer : answers) {
      var item = arriving.get(answer.item());
      if (item != null && answer instanceof CommitInfo.OverQuota) {
        items.remove(answer.item());
        turnedAway.put(answer.item(), item);
      }
    }
    return new Arrival(answers, turnedAway);
  }

  /// Takes items back that were released and could not go where they were sent.
  public void restore(SequencedMap<Long, Item> returning) {
    items.putAll(returning);
    long bytes = 0;
    for (var item : returning.values()) bytes += item.latest().metadata().quotaBytes();
    if (bytes != 0) owner.adjust(bytes);
  }

  /// @param arrived items for which the owner has not been charged yet
  private List<CommitInfo> commit(UUID device, List<ItemChange> changes, Set<Long> arrived) {
    // Each item is asked once: where items are shared objects, that is a call.
    var newest = new HashMap<Long, ItemVersion>();
    for (var change : changes) {
      var item = items.get(change.item());
      if (item != null) newest.put(change.item(), item.latest());
    }
    var differences = new LinkedHashMap<Long, Long>();
    for (var change : changes) {
      var before = newest.get(change.item());
      if (!follows(change, before)) continue;
      long bytes = change.metadata().quotaBytes();
      if (before != null && !arrived.contains(change.item())) {
        bytes -= before.metadata().quotaBytes();
      }
      if (bytes != 0) differences.put(change.item(), bytes);
    }
    // One call for the whole request; none when nothing grew or shrank.
    var charge = differences.isEmpty() ? null : owner.charge(differences);
    var answers = new ArrayList<CommitInfo>();
    for (var change : changes) {
      answers.add(
          charge != null && charge.refused().contains(change.item())
              ? new CommitInfo.OverQuota(change.item(), change.version(), charge.quota())
              : commit(device, change, newest.get(change.item())));
    }
    return answers;
  }

  private CommitInfo commit(UUID device, ItemChange change, @Nullable ItemVersion newest) {
    if (follows(change, newest)) {
      items
          .computeIfAbsent(change.item(), _ -> newItem())
          .add(new ItemVersion(change.version(), change.metadata(), device, Call.now()));
      return new CommitInfo.Committed(change.item(), change.version());
    }
    var item = items.get(change.item());
    return item == null || newest == null
        ? new CommitInfo.UnknownItem(change.item(), change.version())
        : refusal(change, item, newest);
  }

  private Item newItem() {
    return switch (design) {
      case FACADE -> new EmbeddedItem();
      case ALL -> Call.get(SharedItem.class, Call.uuid());
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
