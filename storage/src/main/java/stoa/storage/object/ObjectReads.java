package stoa.storage.object;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.storage.index.IndexEntry;
import stoa.storage.segment.Retired;

/// Reads the present state of an object, or one of its snapshots. Thread-safe.
final class ObjectReads {
  /*
   * A read takes a view of the index and then reads the bytes at its places. A segment may be
   * retired in between: its live bytes were written elsewhere before, so the read begins again with
   * a new view.
   */
  /// In place of the number of a snapshot.
  static final long NOW = 0;

  // A read that begins again more often has met a bug: there are not that many retirements.
  private static final int ATTEMPTS_MAX = 1000;

  private static final byte[] NO_ITEM = {};
  private static final int ZEROS = 64 << 10;
  private static final ByteBuffer ZERO = ByteBuffer.allocate(ZEROS).asReadOnlyBuffer();

  private final VersionedObjects objects;
  private final StreamId id;
  private final long number;

  ObjectReads(VersionedObjects objects, StreamId id, long number) {
    this.objects = objects;
    this.id = id;
    this.number = number;
  }

  /// A read of one moment.
  @FunctionalInterface
  private interface Reading<T> {
    T of(ObjectMoment moment) throws IOException;
  }

  private <T> T at(Reading<T> reading) {
    for (int attempt = 1; ; attempt++) {
      try (var moment = moment()) {
        return reading.of(moment);
      } catch (Retired moved) {
        // The index knows the new place by now.
        if (attempt == ATTEMPTS_MAX) {
          throw new IllegalStateException("broken invariant: what lives is moved first", moved);
        }
      } catch (IOException e) {
        throw objects.unreadable(e);
      }
    }
  }

  private ObjectMoment moment() throws IOException {
    var view = objects.shown();
    if (number == NOW) return ObjectMoment.now(view, objects.log(), id);
    var moment = ObjectMoment.of(view, objects.log(), id, number);
    if (moment == null) {
      throw new IllegalStateException(
          "snapshot %d of object %s was released; make another".formatted(number, id));
    }
    return moment;
  }

  StreamId id() {
    return id;
  }

  boolean exists() {
    return this.<Boolean>at(ObjectMoment::exists);
  }

  long size() {
    return this.<Long>at(ObjectMoment::size);
  }

  long highest() {
    return this.<Long>at(ObjectMoment::highest);
  }

  VersionState versionState() {
    return this.<VersionState>at(ObjectMoment::versionState);
  }

  List<Long> snapshots() {
    return this.<List<Long>>at(ObjectMoment::snapshots);
  }

  void read(long offset, ByteBuffer target) {
    VersionedObjects.requireRange(offset, target.remaining());
    int start = target.position();
    int limit = target.limit();
    try {
      at(moment -> {
        target.limit(limit).position(start);
        read(moment, offset, target);
        return true;
      });
    } finally {
      target.limit(limit); // also after a failed read
    }
  }

  CompletableFuture<Void> readAsync(long offset, ByteBuffer target) {
    VersionedObjects.requireRange(offset, target.remaining());
    return objects.reading().submit(() -> read(offset, target));
  }

  private void read(ObjectMoment moment, long offset, ByteBuffer target) throws IOException {
    int start = target.position();
    int limit = target.limit();
    var run = new IndexEntry();
    try (var sweep = moment.extents(offset, offset + target.remaining())) {
      while (sweep.next()) {
        var extent = sweep.extent();
        if (extent.isHole()) continue;
        if (run.exists() && follows(run, extent)) {
          run.length += extent.length;
          continue;
        }
        fill(run, offset, start, limit, target);
        run.set(extent);
      }
    }
    fill(run, offset, start, limit, target);
    zero(target, limit);
  }

  /// Returns whether two extents are adjacent in one item too.
  private static boolean follows(IndexEntry run, IndexEntry next) {
    return next.position == run.position
        && next.offset == run.end()
        && next.skip == run.skip + run.length;
  }

  private void fill(IndexEntry run, long offset, int start, int limit, ByteBuffer target) {
    if (!run.exists()) return;
    int from = start + (int) (run.offset - offset);
    zero(target, from);
    target.limit(from + (int) run.length);
    objects.log().readData(run.position, run.skip, target);
    target.limit(limit);
    run.clear();
  }

  private static void zero(ByteBuffer target, int end) {
    while (target.position() < end) {
      int n = Math.min(ZEROS, end - target.position());
      target.put(ZERO.slice(0, n));
    }
  }

  void history(long from, long to, ObjectReader.HistoryVisitor visitor) {
    VersionedObjects.requireRange(from, 0);
    at(moment -> history(moment, from, Math.max(from, to), visitor));
  }

  List<ObjectReader.CoveredBytes> history() {
    return at(moment -> {
      var result = new ArrayList<ObjectReader.CoveredBytes>();
      history(moment, 0, Long.MAX_VALUE, result::add);
      return List.copyOf(result);
    });
  }

  /// Visits extents, and joins adjacent ones of one version: their division in the log does not
  /// matter to callers. Returns true.
  private static boolean history(
      ObjectMoment moment, long from, long to, ObjectReader.HistoryVisitor visitor)
      throws IOException {
    var whole = new IndexEntry();
    try (var sweep = moment.extents(from, to)) {
      while (sweep.next()) {
        var extent = sweep.extent();
        boolean goesOn =
            whole.exists()
                && whole.end() == extent.offset
                && whole.version == extent.version
                && whole.mark == extent.mark;
        if (goesOn) {
          whole.length += extent.length;
          continue;
        }
        if (whole.exists() && !visitor.visit(covered(whole))) return true;
        whole.set(extent);
      }
    }
    if (whole.exists()) visitor.visit(covered(whole));
    return true;
  }

  private static ObjectReader.CoveredBytes covered(IndexEntry extent) {
    var content = extent.isHole() ? ObjectReader.Content.HOLE : ObjectReader.Content.DATA;
    return new ObjectReader.CoveredBytes(extent.offset, extent.length, extent.version, content);
  }

  byte @Nullable [] attribute(String name) {
    long slot = AttributeName.slot(name);
    byte[] item =
        at(moment -> {
          var found = new IndexEntry();
          boolean there = moment.attribute(slot, found) && !found.isHole();
          return there ? item(moment, found) : NO_ITEM;
        });
    if (item.length == 0 || !AttributeName.name(item).equals(name)) return null;
    return AttributeName.value(item);
  }

  SortedMap<String, byte[]> attributes() {
    return at(moment -> {
      var result = new TreeMap<String, byte[]>();
      var found = new IndexEntry();
      for (long slot : moment.slots()) {
        if (!moment.attribute(slot, found) || found.isHole()) continue;
        byte[] item = item(moment, found);
        result.put(AttributeName.name(item), AttributeName.value(item));
      }
      return Collections.unmodifiableSortedMap(result);
    });
  }

  private byte[] item(ObjectMoment moment, IndexEntry found) {
    return objects.attribute(moment.owner(), found);
  }

  ObjectStat stat() {
    return at(moment -> {
      long bytes = 0;
      long extents = 0;
      try (var sweep = moment.extents(0, Long.MAX_VALUE)) {
        while (sweep.next()) {
          extents++;
          if (!sweep.extent().isHole()) bytes += sweep.extent().length;
        }
      }
      var found = new IndexEntry();
      int attributes = 0;
      for (long slot : moment.slots()) {
        if (moment.attribute(slot, found) && !found.isHole()) attributes++;
      }
      var state = moment.versionState();
      long missing = 0;
      for (var range : state.missing()) missing += range.count();
      return new ObjectStat(
          moment.size(),
          bytes,
          extents,
          attributes,
          state.highest(),
          missing,
          moment.snapshots().size());
    });
  }
}
