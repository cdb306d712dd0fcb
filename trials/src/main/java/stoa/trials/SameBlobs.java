package stoa.trials;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.FileDisk;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.ObjectSnapshot;

/// Compares the bytes of blobs at the replicas of a group, after all use.
final class SameBlobs {
  private SameBlobs() {}

  /// Compares all objects of bytes, with their versions and snapshots.
  ///
  /// @param directories of the devices
  /// @throws AssertionError when they differ
  static void require(List<Path> directories) {
    try (var first = open(directories.getFirst())) {
      for (Path directory : directories.subList(1, directories.size())) {
        try (var other = open(directory)) {
          require(first, other, directory);
        }
      }
    }
  }

  private static Device open(Path directory) {
    return Device.open(new FileDisk(directory), DeviceConfig.standard());
  }

  private static List<StreamId> ids(Device device) {
    var ids = new ArrayList<StreamId>();
    device.objects(null, ids::add);
    return ids;
  }

  private static void require(Device first, Device other, Path directory) {
    same(ids(first), ids(other), "objects of " + directory);
    for (StreamId id : ids(first)) {
      String what = id + " of " + directory;
      require(first.object(id), other.object(id), what);
      List<ObjectSnapshot> kept = first.object(id).snapshots();
      List<ObjectSnapshot> there = other.object(id).snapshots();
      same(kept.size(), there.size(), "snapshots of " + what);
      for (int i = 0; i < kept.size(); i++) {
        same(kept.get(i).number(), there.get(i).number(), "snapshots of " + what);
        require(kept.get(i), there.get(i), kept.get(i) + " of " + directory);
      }
    }
  }

  private static void require(ObjectReader first, ObjectReader other, String what) {
    same(first.versionState(), other.versionState(), "versions of " + what);
    same(first.history(), other.history(), "extents of " + what);
    for (ObjectReader.CoveredBytes extent : first.history()) {
      if (extent.content() != ObjectReader.Content.DATA) continue;
      int length = Math.toIntExact(extent.length());
      byte[] bytes = first.read(extent.offset(), length);
      if (!Arrays.equals(bytes, other.read(extent.offset(), length))) {
        throw new AssertionError("the bytes of " + what + " at " + extent + " are others");
      }
    }
  }

  private static void same(Object first, Object other, String what) {
    if (!first.equals(other)) {
      throw new AssertionError(what + ": " + other + ", where another server has " + first);
    }
  }
}
