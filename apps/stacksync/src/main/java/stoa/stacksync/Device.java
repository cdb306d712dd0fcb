package stoa.stacksync;

import java.util.UUID;

/// A machine on which a user keeps workspaces. Immutable.
///
/// @param id unique in the service
/// @param name what the user calls it
/// @param os its operating system
public record Device(UUID id, String name, String os) implements UserDevice {
  @Override
  public Device device() {
    return this;
  }
}
