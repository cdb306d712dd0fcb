package stoa.stacksync.papers;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import stoa.Accessor;
import stoa.Shared;
import stoa.Transactional;
import stoa.stacksync.Account;
import stoa.stacksync.CommitInfo;
import stoa.stacksync.Design;
import stoa.stacksync.Device;
import stoa.stacksync.ItemChange;
import stoa.stacksync.ItemState;
import stoa.stacksync.ItemTree;
import stoa.stacksync.Moves;
import stoa.stacksync.NotFound;
import stoa.stacksync.NotPermitted;
import stoa.stacksync.SharedDevice;
import stoa.stacksync.SyncService;
import stoa.stacksync.User;
import stoa.stacksync.Workspace;
import stoa.stacksync.WorkspaceInfo;

/// A shared object: the entry of the service. All facades, in all processes, have the indexes in
/// common, which are shared collections.
@Shared(name = "stacksync.papers.Facade", key = "id")
public class Facade implements SyncService {
  @Shared(key = "deviceIndex")
  private static Map<UUID, SharedDevice> devices = Map.of();

  @Shared(key = "workspaceIndex")
  private static Map<UUID, Workspace> workspaces = Map.of();

  @Shared(key = "userIndex")
  private static Map<UUID, User> users = Map.of();

  @Shared(key = "mailIndex")
  private static Map<String, UUID> mails = Map.of();

  private final UUID id;

  /// The facade of an id.
  public Facade(UUID id) {
    this.id = id;
  }

  @Override
  public boolean addUser(UUID user, String name, String mail, long quotaBytes) {
    if (users.containsKey(user)) return false;
    var holder = mails.putIfAbsent(mail, user);
    if (holder != null && !holder.equals(user)) {
      throw new NotPermitted("the mail address " + mail + " belongs to user " + holder);
    }
    var added = new User(user, name, mail);
    added.limit(quotaBytes);
    return users.putIfAbsent(user, added) == null;
  }

  @Override
  public void addDevice(UUID user, Device device) {
    var owner = user(user);
    var shared = new SharedDevice(device.id());
    var holder = shared.claim(user, device);
    if (!holder.equals(user)) {
      throw new NotPermitted("device " + device.id() + " belongs to user " + holder);
    }
    devices.putIfAbsent(device.id(), shared);
    owner.add(device.id(), shared);
  }

  @Override
  public boolean addWorkspace(UUID owner, UUID workspace, String name) {
    var user = user(owner);
    var shared = new Workspace(workspace, owner, user, name, Design.ITEMS_EMBEDDED);
    shared.admit(owner, owner);
    boolean added = workspaces.putIfAbsent(workspace, shared) == null;
    user.join(workspace, shared);
    return added;
  }

  @Override
  public void shareWorkspace(UUID owner, UUID workspace, UUID user) {
    var member = user(user);
    var shared = workspace(workspace);
    shared.admit(owner, user);
    member.join(workspace, shared);
  }

  @Override
  public void unshareWorkspace(UUID owner, UUID workspace, UUID user) {
    var member = user(user);
    workspace(workspace).dismiss(owner, user);
    member.leave(workspace);
  }

  @Override
  public List<CommitInfo> doCommit(
      UUID user, UUID device, UUID workspace, List<ItemChange> changes) {
    requireDevice(user, device);
    return workspace(workspace).commit(user, device, changes);
  }

  @Override
  @Transactional
  public List<CommitInfo> moveItems(
      UUID user, UUID device, UUID from, UUID to, List<ItemChange> changes) {
    Moves.check(from, to, changes);
    requireDevice(user, device);
    var target = workspace(to);
    requireMember(user, target, to);
    return Moves.move(user, device, workspace(from), target, changes);
  }

  @Override
  @Accessor
  public List<WorkspaceInfo> listWorkspaces(UUID user) {
    return user(user).workspaces().stream().map(Workspace::info).toList();
  }

  @Override
  @Accessor
  public List<ItemState> listChanges(UUID user, UUID workspace, long afterItem, int itemsMax) {
    var shared = workspace(workspace);
    requireMember(user, shared, workspace);
    return shared.changes(afterItem, itemsMax);
  }

  @Override
  @Accessor
  public List<ItemTree> listTree(UUID user, UUID workspace, long folder, int itemsMax) {
    var shared = workspace(workspace);
    requireMember(user, shared, workspace);
    return shared.tree(folder, itemsMax);
  }

  @Override
  @Accessor
  public Optional<Account> account(UUID user) {
    return Optional.ofNullable(users.get(user)).map(User::account);
  }

  @Override
  @Accessor
  public Optional<UUID> userByMail(String mail) {
    return Optional.ofNullable(mails.get(mail));
  }

  private static User user(UUID user) {
    var found = users.get(user);
    if (found == null) throw new NotFound("there is no user " + user + "; addUser adds one");
    return found;
  }

  private static Workspace workspace(UUID workspace) {
    var found = workspaces.get(workspace);
    if (found == null) {
      throw new NotFound("there is no workspace " + workspace + "; addWorkspace adds one");
    }
    return found;
  }

  private static void requireDevice(UUID user, UUID device) {
    var found = devices.get(device);
    if (found == null) throw new NotFound("there is no device " + device + "; addDevice adds one");
    var holder = found.owner().orElse(user);
    if (!holder.equals(user)) {
      throw new NotPermitted("device " + device + " belongs to user " + holder + ", not " + user);
    }
  }

  private static void requireMember(UUID user, Workspace workspace, UUID name) {
    if (workspace.isMember(user)) return;
    throw new NotPermitted("user " + user + " is not a member of workspace " + name);
  }

  @Override
  public String toString() {
    return "facade " + id;
  }
}
