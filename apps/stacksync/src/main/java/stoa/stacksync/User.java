package stoa.stacksync;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.UUID;
import stoa.Accessor;
import stoa.Mutator;
import stoa.Shared;

/// A shared object: one user, with devices, the workspaces to which the user belongs, and a quota.
///
/// It calls no other object than its devices, so that any may call it.
@Shared(name = "stacksync.User", key = "id")
public class User implements Purse {
  private final UUID id;
  private final String name;
  private final String mail;
  private final Map<UUID, UserDevice> devices = new LinkedHashMap<>();
  private final Map<UUID, Workspace> workspaces = new LinkedHashMap<>();
  private Quota quota = new Quota(0, 0);

  /// Begins the user. Called by the store, and by `new` in woven code.
  public User(UUID id, String name, String mail) {
    this.id = id;
    this.name = name;
    this.mail = mail;
  }

  /// Returns the data about the user.
  @Accessor
  public Account account() {
    var known = devices.values().stream().map(UserDevice::device).toList();
    return new Account(id, name, mail, quota, known);
  }

  /// The workspaces of which the user is a member.
  @Accessor
  public List<Workspace> workspaces() {
    return List.copyOf(workspaces.values());
  }

  /// Sets the user's limit. Existing data stays.
  public void limit(long bytes) {
    quota = quota.withLimitBytes(bytes);
  }

  /// Adds a device, or replaces what is known about it.
  @Mutator
  public void add(UUID device, UserDevice known) {
    devices.put(device, known);
  }

  /// The user became a member of a workspace.
  @Mutator
  public void join(UUID workspace, Workspace shared) {
    workspaces.put(workspace, shared);
  }

  /// The user is no longer a member.
  @Mutator
  public void leave(UUID workspace) {
    workspaces.remove(workspace);
  }

  @Override
  public Charge charge(SequencedMap<Long, Long> differences) {
    var charge = Charge.of(quota, differences);
    quota = charge.quota();
    return charge;
  }

  @Override
  public void adjust(long differenceBytes) {
    quota = quota.plus(differenceBytes);
  }

  @Override
  public String toString() {
    return "user " + id + " (" + name + ")";
  }
}
