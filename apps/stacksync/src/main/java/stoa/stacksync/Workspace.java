package stoa.stacksync;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import stoa.Accessor;
import stoa.Call;
import stoa.Shared;

/// A shared object: a folder that its members keep in step, with all versions of all its items.
///
/// It calls only its owner, to charge for what the items hold. Requests come from a [Facade], which
/// has checked that the device belongs to the user.
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
  private final Set<UUID> members = new LinkedHashSet<>();
  private final TreeMap<Long, Item> items = new TreeMap<>();

  protected Workspace(UUID id, UUID ownerId, User owner, String name) {
    this.id = id;
    this.ownerId = ownerId;
    this.owner = owner;
    this.name = name;
    members.add(ownerId);
  }

  /// What is known about the workspace, without its items.
  @Accessor
  public WorkspaceInfo info() {
    return new WorkspaceInfo(id, name, ownerId, members.size(), items.size());
  }

  /// Whether a user may read and commit here.
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
    return items.tailMap(afterItem, false).values().stream()
        .limit(itemsMax)
        .map(item -> new ItemState(item.id(), item.latest()))
        .toList();
  }

  /// The items with all their versions, paged as [#changes].
  @Accessor
  public List<Item> items(long afterItem, int itemsMax) {
    return items.tailMap(afterItem, false).values().stream().limit(itemsMax).toList();
  }

  /// Makes a user a member.
  ///
  /// @param by who asks: only the owner may
  public void admit(UUID by, UUID user) {
    requireOwner(by);
    members.add(user);
  }

  /// Ends a membership. What the member committed stays.
  ///
  /// @param by who asks: only the owner may
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
    var left = new ArrayList<Item>();
    var stayed = new ArrayList<CommitInfo>();
    long bytes = 0;
    for (var change : changes) {
      var item = items.get(change.item());
      if (item == null) continue;
      if (isNext(change)) {
        left.add(item);
        bytes += item.latest().metadata().quotaBytes();
        items.remove(change.item());
      } else {
        stayed.add(refusal(change, item));
      }
    }
    if (bytes != 0) owner.adjust(-bytes);
    return new Departure(left, stayed);
  }

  /// Takes items in that another workspace released, and commits the changes that move them.
  public Arrival adopt(UUID device, List<Item> arriving, List<ItemChange> changes) {
    var arrived = new LinkedHashMap<Long, Item>();
    for (var item : arriving) {
      if (items.containsKey(item.id())) {
        throw new IllegalArgumentException(
            "item " + item.id() + " is in the workspace \"" + name + "\" already; ids are unique");
      }
      arrived.put(item.id(), item);
    }
    items.putAll(arrived);
    var answers = commit(device, changes, arrived.keySet());
    var turnedAway = new ArrayList<Item>();
    for (var answer : answers) {
      var item = arrived.get(answer.item());
      if (item != null && answer instanceof CommitInfo.OverQuota) {
        items.remove(item.id());
        turnedAway.add(item);
      }
    }
    return new Arrival(answers, turnedAway);
  }

  /// Takes items back that were released and could not go where they were sent.
  public void restore(List<Item> returning) {
    long bytes = 0;
    for (var item : returning) {
      items.put(item.id(), item);
      bytes += item.latest().metadata().quotaBytes();
    }
    if (bytes != 0) owner.adjust(bytes);
  }

  /// @param arrived items for which the owner has not been charged yet
  private List<CommitInfo> commit(UUID device, List<ItemChange> changes, Set<Long> arrived) {
    var differences = new LinkedHashMap<Long, Long>();
    for (var change : changes) {
      if (!isNext(change)) continue;
      long bytes = change.metadata().quotaBytes();
      var item = items.get(change.item());
      if (item != null && !arrived.contains(item.id())) {
        bytes -= item.latest().metadata().quotaBytes();
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
              : commit(device, change));
    }
    return answers;
  }

  private CommitInfo commit(UUID device, ItemChange change) {
    var item = items.get(change.item());
    if (isNext(change)) {
      var version = new ItemVersion(change.version(), change.metadata(), device, Call.now());
      items.put(
          change.item(),
          item == null ? new Item(change.item(), List.of(version)) : item.with(version));
      return new CommitInfo.Committed(change.item(), change.version());
    }
    return item == null
        ? new CommitInfo.UnknownItem(change.item(), change.version())
        : refusal(change, item);
  }

  private boolean isNext(ItemChange change) {
    var item = items.get(change.item());
    int stored = item == null ? 0 : item.latest().version();
    return change.version() == stored + 1;
  }

  private static CommitInfo refusal(ItemChange change, Item item) {
    var current = item.latest();
    boolean repeated =
        change.version() <= current.version()
            && item.version(change.version()).metadata().equals(change.metadata());
    return repeated
        ? new CommitInfo.Repeated(change.item(), change.version(), current)
        : new CommitInfo.WrongVersion(change.item(), change.version(), current);
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
