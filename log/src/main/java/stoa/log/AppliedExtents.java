package stoa.log;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.segment.Commit;

/// The extents of a replica that has the log of its consensus on its device: without the entries
/// that the replica has not applied, and without the void ones.
///
/// Thread-safe. One thread at a time hides, shows and cuts.
final class AppliedExtents implements Extents {
  /*
   * The hidden entries of a stream are its last ones, so the first of them hides all from there on.
   * A void entry is an extent without bytes.
   *
   * Invariants:
   * (1) An entry is hidden before its commit. A reader looks after its read: what it has read is
   *     either hidden then, or applied, or was cut meanwhile.
   * (2) `cuts` changes after the commit of a cut and before its entries are hidden no more. So a
   *     reader that sees the same number before and after has read no entry that was cut.
   * (3) The entries of a batch and its header are shown together.
   */

  /// The hidden addresses of a stream.
  private record Span(long first, long last) {}

  private final Device device;
  private final Extents own;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<StreamId, Span> hidden = new HashMap<>(); // guarded by lock
  private volatile boolean hidesAny;
  private final AtomicLong cuts = new AtomicLong();

  AppliedExtents(Device device) {
    this.device = device;
    this.own = Extents.all(device);
  }

  // ---- hiding

  /// Hides addresses of streams, which their streams do not have yet.
  void hide(List<Streams.Place> places) {
    lock.lock();
    try {
      for (Streams.Place place : places) {
        var span = new Span(place.address(), place.address());
        hidden.merge(
            place.stream(),
            span,
            (old, next) ->
                new Span(Math.min(old.first(), next.first()), Math.max(old.last(), next.last())));
      }
      hidesAny = !hidden.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /// Shows the first hidden addresses of streams, all at once.
  void show(List<Streams.Place> places) {
    lock.lock();
    try {
      for (Streams.Place place : places) {
        Span old = hidden.get(place.stream());
        if (old != null) put(place.stream(), place.address() + 1, old.last());
      }
      hidesAny = !hidden.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /// Forgets the last hidden addresses of streams, which have no bytes any more.
  ///
  /// @param places in descending order
  void cut(List<Streams.Place> places) {
    lock.lock();
    try {
      cuts.incrementAndGet();
      for (Streams.Place place : places) {
        Span old = hidden.get(place.stream());
        if (old != null) put(place.stream(), old.first(), place.address() - 1);
      }
      hidesAny = !hidden.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  private void put(StreamId stream, long first, long last) {
    if (first > last) hidden.remove(stream);
    else hidden.put(stream, new Span(first, last));
  }

  /// Returns the first address of a stream that is hidden.
  private long end(StreamId stream) {
    if (!hidesAny) return Long.MAX_VALUE;
    lock.lock();
    try {
      Span span = hidden.get(stream);
      return span == null ? Long.MAX_VALUE : span.first();
    } finally {
      lock.unlock();
    }
  }

  private static boolean hasEntries(int space) {
    return space == Streams.ENTRIES || space == Streams.MARKS;
  }

  // ---- reading

  @Override
  public byte @Nullable [] read(StreamId stream, int space, long offset) {
    if (!hasEntries(space)) return own.read(stream, space, offset);
    while (true) {
      long before = cuts.get();
      byte[] data = own.read(stream, space, offset);
      if (data == null || data.length == 0 || offset >= end(stream)) return null;
      if (cuts.get() == before) return data;
    }
  }

  @Override
  public long floor(StreamId stream, int space, long offset) {
    if (!hasEntries(space)) return own.floor(stream, space, offset);
    long at = offset;
    while (true) {
      long before = cuts.get();
      long found = device.floorFilled(stream, space, at);
      if (found < 0) return found;
      long end = end(stream);
      if (found >= end) at = end - 1;
      else if (cuts.get() == before) return found;
    }
  }

  @Override
  public Device.@Nullable Extent readFloor(StreamId stream, int space, long offset) {
    if (!hasEntries(space)) return own.readFloor(stream, space, offset);
    long before = cuts.get();
    Device.Extent found = own.readFloor(stream, space, offset);
    if (found == null) return null;
    boolean isShown = found.data().length > 0 && found.offset() < end(stream);
    if (isShown && cuts.get() == before) return found;
    while (true) {
      long at = floor(stream, space, offset);
      if (at < 0) return null;
      byte[] data = read(stream, space, at);
      if (data != null) return new Device.Extent(at, data);
    }
  }

  @Override
  public void scan(StreamId stream, int space, long from, long to, Device.ExtentVisitor visitor) {
    if (!hasEntries(space)) {
      own.scan(stream, space, from, to, visitor);
      return;
    }
    long before = cuts.get();
    own.scan(
        stream,
        space,
        from,
        to,
        (at, data) -> {
          if (data.length == 0) return true;
          if (at >= end(stream)) return false;
          byte[] shown = cuts.get() == before ? data : read(stream, space, at);
          return shown == null || visitor.visit(at, shown);
        });
  }

  // ---- writing

  @Override
  public void append(StreamId stream, Commit commit) {
    own.append(stream, commit);
  }

  @Override
  public void trim(StreamId stream, Trim trim) {
    own.trim(stream, trim);
  }

  @Override
  public void release(StreamId stream, Trim trim) {
    own.release(stream, trim);
  }

  @Override
  public void trimLog(long before) {
    own.trimLog(before);
  }

  @Override
  public long trimmedBefore(StreamId stream, int space) {
    return own.trimmedBefore(stream, space);
  }

  @Override
  public void sync() {
    own.sync();
  }
}
