package stoa.stacksync;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.UUID;

/// A user as a part of the state of a [WholeFacade].
public final class EmbeddedUser implements Purse {
  private final UUID id;
  private final String name;
  private final String mail;
  private final Map<UUID, Device> devices = new LinkedHashMap<>();
  private final Map<UUID, UUID> workspaces = new LinkedHashMap<>();
  private Quota quota;

  EmbeddedUser(UUID id, String name, String mail, long quotaBytes) {
    this.id = id;
    this.name = name;
    this.mail = mail;
    quota = new Quota(quotaBytes, 0);
  }

  Account account() {
    return new Account(id, name, mail, quota, List.copyOf(devices.values()));
  }

  boolean has(UUID device) {
    return devices.containsKey(device);
  }

  void add(Device device) {
    devices.put(device.id(), device);
  }

  /// The workspaces of which the user is a member, with their owners.
  Map<UUID, UUID> workspaces() {
    return new LinkedHashMap<>(workspaces);
  }

  void join(UUID workspace, UUID owner) {
    workspaces.put(workspace, owner);
  }

  void leave(UUID workspace) {
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
}
