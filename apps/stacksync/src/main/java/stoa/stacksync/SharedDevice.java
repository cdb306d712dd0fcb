package stoa.stacksync;

import java.util.Optional;
import java.util.UUID;
import stoa.Accessor;
import stoa.Shared;

/// A shared object: a device by itself, which knows whose it is.
///
/// It calls no other object.
@Shared(name = "stacksync.Device", key = "id")
public non-sealed class SharedDevice implements UserDevice {
  private final UUID id;
  private Optional<UUID> owner = Optional.empty();
  private Optional<Device> device = Optional.empty();

  /// Begins the device. Called by the store, and by `new` in woven code.
  public SharedDevice(UUID id) {
    this.id = id;
  }

  /// Gives the device to a user, unless it is another's; what is known about it is replaced when it
  /// is that user's.
  ///
  /// @return the user whose it is now
  public UUID claim(UUID user, Device known) {
    var holder = owner.orElse(user);
    if (holder.equals(user)) {
      owner = Optional.of(user);
      device = Optional.of(known);
    }
    return holder;
  }

  /// Returns the user of this device; empty when no user has claimed it.
  @Accessor
  public Optional<UUID> owner() {
    return owner;
  }

  @Override
  @Accessor
  public Device device() {
    return device.orElseThrow(() -> new NotFound("no client has claimed device " + id));
  }
}
