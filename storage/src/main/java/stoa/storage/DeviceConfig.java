package stoa.storage;

/// How a device is laid out.
///
/// @param segmentBytes the size at which a new segment begins
public record DeviceConfig(int segmentBytes) {
  /// The standard layout.
  public static DeviceConfig standard() {
    return new DeviceConfig(64 << 20);
  }
}
