package stoa.migration;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.Placement;
import stoa.TransactionAction;
import stoa.base.StreamId;
import stoa.front.PlacedObject;
import stoa.front.PlacedObjects;
import stoa.front.types.SharedMethod;
import stoa.migration.core.CopyVersion;

/// Makes calls where the root has said that objects are, and reports their cost to the root; in a
/// process other than the root's. Thread-safe.
///
/// Its knowledge of an object's side may be outdated; then a call takes longer, see [AutoRoot].
final class AutoClient implements Auto {
  private final PlacedObjects objects;
  private final Uplink uplink;
  private final Map<StreamId, UnreportedCosts> all = new ConcurrentHashMap<>();

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
    boolean noted =
        method.kind() != SharedMethod.Kind.ACCESSOR && objects.placement(object) == Placement.AUTO;
    var tries = new Tries(object);
    while (true) {
      boolean atServer = caller.isAtServer(object.stream());
      var costs = noted ? costs(object.stream()) : null;
      int weight = costs == null ? UnreportedCosts.NOT_NOTED : costs.weight();
      var meter = new Meter(weight != UnreportedCosts.NOT_NOTED);
      long start = weight == UnreportedCosts.NOT_NOTED ? 0 : System.nanoTime();
      try {
        return atServer ? objects.call(object, method, arguments) : inTree.call(meter);
      } catch (Seat.AtServer elsewhere) {
        tries.failed("it went to the server meanwhile");
      } finally {
        boolean ran = atServer || meter.running() != null;
        if (costs != null && weight != UnreportedCosts.NOT_NOTED && ran) {
          note(object, costs, atServer, weight, start, meter);
        }
      }
    }
  }

  private UnreportedCosts costs(StreamId object) {
    UnreportedCosts costs = all.get(object);
    return costs != null ? costs : all.computeIfAbsent(object, _ -> new UnreportedCosts());
  }

  private void note(
      PlacedObject object,
      UnreportedCosts costs,
      boolean atServer,
      int weight,
      long began,
      Meter meter) {
    var ran = meter.running();
    CopyVersion from = ran == null ? null : ran.version(object);
    CopyVersion left = from == null ? null : from.updated();
    var due = costs.note(atServer, weight, began, System.nanoTime(), meter, from, left);
    if (due != null) uplink.ran(object.stream(), due);
  }

  /// Sends the pending reports.
  void tick() {
    all.forEach((object, costs) -> {
      var due = costs.taken();
      if (due.count() > 0) uplink.ran(object, due);
    });
  }

  @Override
  public <X extends Exception> void inTree(Collection<PlacedObject> some, TransactionAction<X> body)
      throws X {
    body.run(); // who waits for an object that is lent asks for it, see Seat
  }
}
