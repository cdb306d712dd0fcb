package stoa.stacksync;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.UUID;
import java.util.stream.IntStream;
import stoa.Accessor;
import stoa.Call;
import stoa.Shared;
import stoa.Transactional;

/// A shared object: the entry of the service, which finds the objects that a request names.
///
/// There may be any number of facades, one for each thread or process that serves devices; a facade
/// works on one request at a time. They have the [Directory] in common, so that it does not matter
/// which one a device asks. Repeating a request is harmless. All facades of a store have one
/// [Design]; in [Design#FACADE_ALONE] there is [WholeFacade] instead.
///
/// Requests throw [NotFound] for ids that were never added, and [NotPermitted] for what the user
/// may not do.
@Shared(name = "stacksync.Facade")
public class Facade implements SyncService {
  private static final int DIRECTORIES = 16;
  private static final int REMEMBERED_MAX = 1_000;

  /*
   * (1) An entry of the directory never changes, so what was found there is remembered: a commit
   *     then asks no directory at all. The eldest is forgotten first.
   * (2) Accessors and transactions change nothing here, so they ask the directory.
   */
  private final Design design;
  private final List<Directory> directories;
  private final SequencedMap<UUID, UUID> deviceOwners = new LinkedHashMap<>();
  private final SequencedMap<UUID, Workspace> workspaces = new LinkedHashMap<>();

  protected Facade(Design design) {
    if (design == Design.FACADE_ALONE) {
      throw new IllegalArgumentException(
          "a facade of the design " + design + " is a WholeFacade; Services.open opens it");
    }
    this.design = design;
    directories =
        IntStream.range(0, DIRECTORIES).mapToObj(i -> Call.get(Directory.class, i)).toList();
  }

  @Override
  public boolean addUser(UUID id, String name, String mail, long quotaBytes) {
    if (directory(id).user(id).isPresent()) return false;
    var holder = directory(mail).claimMail(mail, id);
    if (!holder.equals(id)) {
      throw new NotPermitted("the mail address " + mail + " belongs to user " + holder);
    }
    var user = Call.get(User.class, id, name, mail);
    user.limit(quotaBytes);
    return directory(id).addUser(id, user);
  }

  @Override
  public void addDevice(UUID user, Device device) {
    var owner = user(user);
    var shared = Call.get(SharedDevice.class, device.id());
    var holder =
        switch (design) {
          case ITEMS_EMBEDDED, FACADE_ALONE ->
              directory(device.id()).claimDevice(device.id(), user);
          case EVERYTHING_SHARED -> shared.claim(user, device);
        };
    if (!holder.equals(user)) {
      throw new NotPermitted("device " + device.id() + " belongs to user " + holder);
    }
    owner.add(device.id(), design == Design.EVERYTHING_SHARED ? shared : device);
  }

  @Override
  public boolean addWorkspace(UUID owner, UUID id, String name) {
    var user = user(owner);
    var workspace = Call.get(Workspace.class, id, owner, user, name, design);
    workspace.admit(owner, owner);
    boolean added = directory(id).addWorkspace(id, workspace);
    user.join(id, workspace);
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
    return remembered(workspace).commit(user, device, changes);
  }

  @Override
  @Transactional
  public List<CommitInfo> moveItems(
      UUID user, UUID device, UUID from, UUID to, List<ItemChange> changes) {
    Moves.check(from, to, changes);
    requireOwner(user, device, deviceOwner(device));
    var source = workspace(from);
    var target = workspace(to);
    requireMember(user, target, to);
    return Moves.move(user, device, source, target, changes);
  }

  /// The design of the service.
  @Accessor
  public Design design() {
    return design;
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
    return directory(user).user(user).map(User::account);
  }

  @Override
  @Accessor
  public Optional<UUID> userByMail(String mail) {
    return directory(mail).userByMail(mail);
  }

  private void requireDevice(UUID user, UUID device) {
    requireOwner(
        user,
        device,
        switch (design) {
          case ITEMS_EMBEDDED, FACADE_ALONE -> rememberedOwner(device);
          case EVERYTHING_SHARED -> deviceOwner(device);
        });
  }

  private static void requireOwner(UUID user, UUID device, Optional<UUID> holder) {
    if (holder.isEmpty()) {
      throw new NotFound("there is no device " + device + "; addDevice adds one");
    }
    if (!holder.get().equals(user)) {
      throw new NotPermitted(
          "device " + device + " belongs to user " + holder.get() + ", not " + user);
    }
  }

  private static void requireMember(UUID user, Workspace workspace, UUID id) {
    if (workspace.isMember(user)) return;
    throw new NotPermitted("user " + user + " is not a member of workspace " + id);
  }

  /// Asks for the user of a device, and remembers nothing.
  private Optional<UUID> deviceOwner(UUID device) {
    return switch (design) {
      case ITEMS_EMBEDDED, FACADE_ALONE -> directory(device).deviceOwner(device);
      case EVERYTHING_SHARED -> Call.get(SharedDevice.class, device).owner();
    };
  }

  private Optional<UUID> rememberedOwner(UUID device) {
    var known = deviceOwners.get(device);
    if (known != null) return Optional.of(known);
    var found = deviceOwner(device);
    found.ifPresent(owner -> remember(deviceOwners, device, owner));
    return found;
  }

  private Workspace remembered(UUID id) {
    var known = workspaces.get(id);
    if (known != null) return known;
    var found = workspace(id);
    remember(workspaces, id, found);
    return found;
  }

  private static <V> void remember(SequencedMap<UUID, V> memory, UUID id, V found) {
    memory.put(id, found);
    if (memory.size() > REMEMBERED_MAX) memory.pollFirstEntry();
  }

  private User user(UUID id) {
    return directory(id)
        .user(id)
        .orElseThrow(() -> new NotFound("there is no user " + id + "; addUser adds one"));
  }

  private Workspace workspace(UUID id) {
    return directory(id)
        .workspace(id)
        .orElseThrow(() -> new NotFound("there is no workspace " + id + "; addWorkspace adds one"));
  }

  private Directory directory(Object key) {
    return directories.get(Math.floorMod(key.hashCode(), DIRECTORIES));
  }
}
