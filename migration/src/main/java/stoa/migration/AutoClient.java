package stoa.migration;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.Action;
import stoa.Placement;
import stoa.base.StreamId;
import stoa.migration.core.Version;
import stoa.objects.PlacedObject;
import stoa.objects.PlacedObjects;
import stoa.objects.types.SharedMethod;

/// Makes calls where the root has said that objects are, and tells it what they took; in a process
/// other than the root's. Thread-safe.
///
/// It may not know yet where an object is; then a call takes longer, see [AutoRoot].
final class AutoClient implements Auto {
  private final PlacedObjects objects;
  private final Uplink uplink;
  private final Map<StreamId, Batch> all = new ConcurrentHashMap<>();

  AutoClient(PlacedObjects objects, Uplink uplink) {
    this.objects = objects;
    this.uplink = uplink;
  }

  @Override
  public @Nullable Object call(
      PlacedObject object,
      SharedMethod method,
      @Nullable Object[] arguments,
      Member caller,
      InTree inTree)
      throws Throwable {
    uplink.know(object);
    while (true) {
      boolean atServer = caller.isAtServer(object.stream());
      var meter = new Meter();
      long start = System.nanoTime();
      try {
        return atServer ? objects.call(object, method, arguments) : inTree.call(meter);
      } catch (Seat.Elsewhere elsewhere) {
        // It is at the server by now.
      } finally {
        boolean counts = method.kind() != SharedMethod.Kind.ACCESSOR;
        counts &= objects.placement(object) == Placement.AUTO;
        if (counts && (atServer || meter.running() != null)) {
          note(object, atServer, System.nanoTime() - start, meter);
        }
      }
    }
  }

  private void note(PlacedObject object, boolean atServer, long nanos, Meter meter) {
    var ran = meter.running();
    Version from = ran == null ? null : ran.version(object);
    Version left = from == null ? null : from.updated();
    var batch = all.computeIfAbsent(object.stream(), _ -> new Batch());
    var due = batch.note(atServer, nanos, meter, from, left);
    if (due != null) uplink.ran(object.stream(), due);
  }

  /// Tells what is not told yet.
  void tick() {
    all.forEach((object, batch) -> {
      var due = batch.taken();
      if (due.count() > 0) uplink.ran(object, due);
    });
  }

  @Override
  public <X extends Exception> void inTree(Collection<PlacedObject> some, Action<X> body) throws X {
    body.run(); // who waits for an object that is lent asks for it, see Seat
  }
}
