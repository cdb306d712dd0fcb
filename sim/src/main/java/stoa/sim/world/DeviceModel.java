package stoa.sim.world;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import stoa.base.StreamId;
import stoa.sim.Chance;
import stoa.storage.Device;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.ObjectReader.CoveredBytes;
import stoa.storage.object.ObjectSnapshot;
import stoa.storage.object.VersionedObject;

/// The correct contents of a device: of its versioned objects a [VersionedModel] of each, and a
/// copy of it for each of its snapshots; of records the latest at each untrimmed place. Compares a
/// device with it.
///
/// One owner.
public final class DeviceModel {
  public static final int RECORD_SPACES = 2;

  private final SortedMap<StreamId, StoredObject> objects = new TreeMap<>();
  private final NavigableMap<Place, byte[]> records = new TreeMap<>();
  // Ids that are no objects.
  private final SortedSet<StreamId> recordsOnly = new TreeSet<>();
  // Each space is named by its place at offset 0.
  private final Map<Place, Long> trims = new TreeMap<>();

  public DeviceModel() {}

  /// The place of a record.
  public record Place(StreamId id, int space, long offset) implements Comparable<Place> {
    @Override
    public int compareTo(Place other) {
      int byId = id.compareTo(other.id);
      if (byId != 0) return byId;
      return space != other.space
          ? Integer.compare(space, other.space)
          : Long.compare(offset, other.offset);
    }
  }

  /// An object and its snapshots.
  public static final class StoredObject {
    public VersionedModel now;
    public final List<Snapshot> snapshots = new ArrayList<>();

    public StoredObject(VersionedModel now) {
      this.now = now;
    }

    StoredObject copy() {
      var copy = new StoredObject(now.copy());
      for (var snapshot : snapshots)
        copy.snapshots.add(new Snapshot(snapshot.number, snapshot.model));
      return copy;
    }
  }

  /// A snapshot; its number is 0 while it is unknown, because the call that made it never returned.
  public static final class Snapshot {
    private long number;
    final VersionedModel model;

    public Snapshot(long number, VersionedModel model) {
      this.number = number;
      this.model = model;
    }

    public long number() {
      return number;
    }
  }

  /// The effect of an operation.
  @FunctionalInterface
  public interface Effect {
    /// Applies it, and returns whether it changes anything.
    boolean on(DeviceModel model);
  }

  DeviceModel copy() {
    var copy = new DeviceModel();
    objects.forEach((id, kept) -> copy.objects.put(id, kept.copy()));
    copy.records.putAll(records);
    copy.recordsOnly.addAll(recordsOnly);
    copy.trims.putAll(trims);
    return copy;
  }

  public void add(StreamId id, VersionedModel empty) {
    objects.put(id, new StoredObject(empty));
  }

  /// Adds an id with records in space 0, and without a versioned object.
  public void addRecords(StreamId id) {
    recordsOnly.add(id);
  }

  public StoredObject of(StreamId id) {
    return Objects.requireNonNull(objects.get(id));
  }

  public void put(Place place, byte[] data) {
    if (place.offset >= trimmedBefore(place.id, place.space)) records.put(place, data);
  }

  /// Releases the records of a space before a place.
  public void trim(Place before) {
    var first = new Place(before.id, before.space, 0);
    trims.merge(first, before.offset, Math::max);
    records.subMap(first, before).clear();
  }

  private long trimmedBefore(StreamId id, int space) {
    return trims.getOrDefault(new Place(id, space, 0), 0L);
  }

  /// Deletes an object.
  public void delete(StreamId id) {
    var kept = of(id);
    kept.now = new VersionedModel(kept.now.base(), kept.now.room());
  }

  public void release(StreamId id, long number) {
    of(id).snapshots.removeIf(snapshot -> snapshot.number == number);
  }

  /// Compares all that a device shows with this.
  ///
  /// @throws AssertionError when they differ
  public void require(Device device, Chance probes) {
    var listed = new ArrayList<StreamId>();
    device.objects(null, listed::add);
    var expected = new ArrayList<StreamId>();
    objects.forEach((id, kept) -> {
      if (kept.now.exists()) expected.add(id);
    });
    same("the list of objects", expected, listed);
    if (!objects.isEmpty()) {
      var after = probes.of(List.copyOf(objects.keySet()));
      var behind = new ArrayList<StreamId>();
      device.objects(after, id -> behind.add(id) && behind.size() < 2);
      same(
          "the list behind " + after,
          expected.stream().filter(id -> id.compareTo(after) > 0).limit(2).toList(),
          behind);
    }
    for (var id : objects.keySet()) require(device.object(id), probes);
    if (probes.percent(20)) same("damage", List.of(), device.scrub().damages());
    requireRecords(device);
  }

  private void requireRecords(Device device) {
    for (var id : objects.keySet()) {
      for (int space = 0; space < RECORD_SPACES; space++) requireRecords(device, id, space);
    }
    for (var id : recordsOnly) requireRecords(device, id, 0);
  }

  private void requireRecords(Device device, StreamId id, int space) {
    var from = new Place(id, space, 0);
    var to = new Place(id, space, Long.MAX_VALUE);
    var left = new ArrayList<>(records.subMap(from, true, to, true).entrySet());
    String name = "space " + space + " of " + id;
    same(name + ": the bound", trimmedBefore(id, space), device.trimmedBefore(id, space));
    device.scan(
        id,
        space,
        0,
        Long.MAX_VALUE,
        (offset, data) -> {
          if (left.isEmpty()) throw new AssertionError(name + ": a record too many at " + offset);
          var expected = left.removeFirst();
          same(name, expected.getKey(), new Place(id, space, offset));
          if (!Arrays.equals(expected.getValue(), data)
              || !Arrays.equals(data, device.read(id, space, offset))) {
            throw new AssertionError(name + ": another record at " + offset);
          }
          return true;
        });
    same(name + ": records missing", 0, left.size());
    var last = records.floorKey(to);
    boolean any = last != null && last.compareTo(from) >= 0;
    same(name + ": the last", any ? last.offset : -1L, device.floor(id, space, Long.MAX_VALUE));
  }

  /// Compares one object and its snapshots with this.
  public void require(VersionedObject object, Chance probes) {
    var kept = of(object.id());
    var model = kept.now;
    String name = "object " + object.id();
    require(name, object, model, probes);
    var snapshots = object.snapshots();
    same(name + ": number of snapshots", kept.snapshots.size(), snapshots.size());
    for (int i = 0; i < snapshots.size(); i++) {
      var snapshot = kept.snapshots.get(i);
      long number = snapshots.get(i).number();
      if (snapshot.number == 0) snapshot.number = number;
      same(name + ": number of snapshot " + i, snapshot.number, number);
      require(name + " snapshot " + i, snapshots.get(i), snapshot.model, probes);
    }
    var stat = object.stat();
    same(name + ": stat.size", model.size(), stat.size());
    same(name + ": stat.bytes", model.dataBytes(), stat.bytes());
    same(name + ": stat.attributes", model.attributes().size(), stat.attributes());
    same(name + ": stat.highestVersion", model.highest(), stat.highestVersion());
    same(name + ": stat.missingVersions", model.missing(), stat.missingVersions());
    same(name + ": stat.snapshots", snapshots.size(), stat.snapshots());
    if (stat.extents() < model.history().size()) {
      throw new AssertionError(name + ": stat.extents is " + stat.extents());
    }
  }

  /// Compares the contents of a snapshot with those at its creation.
  public void require(ObjectSnapshot snapshot, Chance probes) {
    for (var kept : of(snapshot.id()).snapshots) {
      if (kept.number == snapshot.number()) {
        require("snapshot " + kept.number, snapshot, kept.model, probes);
      }
    }
  }

  private static void require(
      String name, ObjectReader reader, VersionedModel model, Chance probes) {
    same(name + ": versions", model.state(), reader.versionState());
    same(name + ": exists", model.exists(), reader.exists());
    same(name + ": history", model.history(), history(name, reader.history()));
    same(name + ": size", model.size(), reader.size());
    long base = model.base();
    int room = model.room();
    int around = (int) Math.min(base, 50);
    int behind = (int) Math.min(50, Long.MAX_VALUE - base - room);
    bytes(name, reader, model, base - around, around + room + behind);
    for (int i = 0; i < 3; i++) {
      int at = probes.below(room);
      bytes(name, reader, model, base + at, 1 + probes.below(room - at));
    }
    int from = probes.below(room);
    history(name, reader, model, base + from, base + from + probes.below(room - from + 1));
    attributes(name, reader, model);
  }

  private static void bytes(
      String name, ObjectReader reader, VersionedModel model, long offset, int length) {
    byte[] expected = model.read(offset, length);
    var target = ByteBuffer.allocate(length + 4).position(2).limit(length + 2);
    reader.read(offset, target);
    same(name + ": position behind what was read", length + 2, target.position());
    var read = Arrays.copyOfRange(target.array(), 2, length + 2);
    int differs = Arrays.mismatch(expected, read);
    if (differs >= 0) {
      throw new AssertionError(
          "%s: the byte at %d is %d and must be %d (read from %d, %d bytes)"
              .formatted(name, offset + differs, read[differs], expected[differs], offset, length));
    }
  }

  private static List<CoveredBytes> history(String name, List<CoveredBytes> extents) {
    var joined = new ArrayList<CoveredBytes>();
    long end = 0;
    for (var extent : extents) {
      if (extent.offset() < end || extent.length() <= 0) {
        throw new AssertionError(name + ": the history is out of order at " + extent);
      }
      end = extent.offset() + extent.length();
      VersionedModel.join(joined, extent);
    }
    return joined;
  }

  private static void history(
      String name, ObjectReader reader, VersionedModel model, long from, long to) {
    var seen = new ArrayList<CoveredBytes>();
    reader.history(from, to, seen::add);
    var expected = new ArrayList<CoveredBytes>();
    for (var extent : model.history()) {
      long a = Math.max(from, extent.offset());
      long b = Math.min(to, extent.offset() + extent.length());
      if (a < b) expected.add(new CoveredBytes(a, b - a, extent.version(), extent.content()));
    }
    same(name + ": history from " + from + " to " + to, expected, history(name, seen));
  }

  private static void attributes(String name, ObjectReader reader, VersionedModel model) {
    var expected = model.attributes();
    var seen = reader.attributes();
    same(name + ": names of attributes", expected.keySet(), seen.keySet());
    for (var attribute : VersionedChange.NAMES) {
      byte[] value = reader.attribute(attribute);
      if (!Arrays.equals(expected.get(attribute), value)
          || !Arrays.equals(expected.get(attribute), seen.get(attribute))) {
        throw new AssertionError(
            "%s: attribute %s is %s and must be %s"
                .formatted(
                    name,
                    attribute,
                    Arrays.toString(value),
                    Arrays.toString(expected.get(attribute))));
      }
    }
  }

  private static void same(String what, Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new AssertionError("%s is %s and must be %s".formatted(what, actual, expected));
    }
  }
}
