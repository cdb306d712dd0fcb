package stoa.stacksync;

import java.time.Instant;
import java.util.UUID;

/// One version of an item, as the service keeps it.
///
/// @param version its number, from 1
/// @param metadata what the device said
/// @param device which one it was
/// @param committedAt when the service took it
public record ItemVersion(int version, Metadata metadata, UUID device, Instant committedAt) {
  /// Returns the same with another description.
  ItemVersion with(Metadata value) {
    return new ItemVersion(version, value, device, committedAt);
  }
}
