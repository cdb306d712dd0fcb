package stoa.sim.world;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.sim.Chance;
import stoa.storage.object.WriteTransaction;

/// The effect of one version on a versioned object.
///
/// @param parts writes and truncations, in the order of their calls
/// @param attributes values by name
public record VersionedChange(List<Part> parts, SortedMap<String, Value> attributes) {
  static final List<String> NAMES = List.of("owner", "type", "a", "é", "x".repeat(255));

  /// A part of a transaction.
  public sealed interface Part {}

  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  public record Write(long offset, byte[] data) implements Part {}

  public record Truncate(long size) implements Part {}

  /// The value of an attribute.
  ///
  /// @param bytes null for a removal
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  public record Value(byte @Nullable [] bytes) {}

  /// Returns whether it is a single write.
  public boolean isSingle() {
    return attributes.isEmpty() && parts.size() == 1 && parts.getFirst() instanceof Write;
  }

  /// Returns the single write.
  public Write single() {
    if (parts.getFirst() instanceof Write write) return write;
    throw new IllegalStateException("broken invariant: it is a single write");
  }

  /// Returns a random change, most often a single write.
  public static VersionedChange any(Chance chance, long base, int room) {
    var parts = new ArrayList<Part>();
    var attributes = new TreeMap<String, Value>();
    if (chance.percent(60)) {
      parts.add(write(chance, base, room));
      return new VersionedChange(parts, attributes);
    }
    int count = chance.percent(10) ? chance.below(40) : chance.below(5);
    for (int i = 0; i < count; i++) {
      if (chance.percent(12)) parts.add(truncate(chance, base, room));
      else parts.add(write(chance, base, room));
    }
    for (int i = chance.percent(50) ? chance.below(4) : 0; i > 0; i--) {
      attributes.put(
          chance.of(NAMES), chance.percent(25) ? new Value(null) : new Value(value(chance)));
    }
    return new VersionedChange(parts, attributes);
  }

  private static Write write(Chance chance, long base, int room) {
    int at = chance.below(room);
    int length =
        switch (chance.below(8)) {
          case 0 -> 0;
          case 1 -> 1;
          case 2 -> room - at;
          case 3, 4 -> 1 + chance.below(room - at);
          default -> 1 + chance.below(Math.max(1, room / 8));
        };
    if (chance.percent(20)) at = at / 4096 * 4096;
    var data = new byte[Math.min(length, room - at)];
    fill(chance, data);
    return new Write(base + at, data);
  }

  private static Truncate truncate(Chance chance, long base, int room) {
    if (chance.percent(5)) return new Truncate(Long.MAX_VALUE);
    return new Truncate(base + chance.below(room + 1));
  }

  private static byte[] value(Chance chance) {
    var value = new byte[chance.percent(10) ? chance.below(2000) : chance.below(20)];
    fill(chance, value);
    return value;
  }

  public static void fill(Chance chance, byte[] data) {
    for (int i = 0; i < data.length; ) {
      long any = chance.any();
      for (int j = 0; j < Long.BYTES && i < data.length; j++) data[i++] = (byte) (any >>> (8 * j));
    }
  }

  /// Adds one part to an open transaction.
  public static void add(Part part, WriteTransaction to) {
    switch (part) {
      case Write write -> to.write(write.offset, ByteBuffer.wrap(write.data));
      case Truncate truncate -> to.truncate(truncate.size);
    }
  }

  /// Adds the attributes to an open transaction.
  public void addAttributes(WriteTransaction to) {
    attributes.forEach((name, value) -> {
      byte[] bytes = value.bytes();
      if (bytes == null) to.removeAttribute(name);
      else to.attribute(name, bytes);
    });
  }
}
