package stoa.objects;

import java.util.List;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.base.Key;
import stoa.storage.DeviceStats;
import stoa.store.Store;
import stoa.store.replicas.Divergence;

/// The operations of operators on a store: on its devices, the calls in progress, and objects whose
/// replicas have diverged. Thread-safe.
public final class OperatorService {
  private static final Key PROBED = Key.of("stoa/directory", "stoa/probe");

  private final LocalService stoa;
  private final Store store;

  OperatorService(LocalService stoa) {
    this.stoa = stoa;
    this.store = stoa.core();
  }

  /// Quarantines an object whose replicas have diverged: its calls fail with [stoa.Diverged] from
  /// now on, at every replica, until an operator deletes or [#accept]s it. Logs, and therefore
  /// waits.
  ///
  /// @param evidence the divergence that a [Standby] reported
  /// @return whether the object is in quarantine; false when it was deleted meanwhile
  public boolean quarantine(Divergence evidence) {
    return store.quarantine(evidence);
  }

  /// Returns the evidence against the objects in quarantine.
  public List<Divergence> diverged() {
    return store.diverged();
  }

  /// Ends the quarantine of an object: every replica continues with the state of this replica.
  /// Logs, and therefore waits. Versions of its past may differ between replicas.
  ///
  /// @param object its name, see [Divergence#object]
  /// @return false when it is not in quarantine
  /// @throws LimitExceeded when the state is too large for a log entry; an operator can then delete
  ///   the object
  public boolean accept(String object) {
    for (Divergence evidence : store.diverged()) {
      if (evidence.object().equals(object)) {
        return store.accept(stoa.catalog().key(evidence.space(), evidence.name()));
      }
    }
    return false;
  }

  /// Returns the statistics of the store's devices, by shard.
  public List<DeviceStats> devices() {
    return stoa.devices();
  }

  /// The room that a device takes, and the room that it may take.
  ///
  /// @param usedBytes the size of its segments and index
  /// @param freeBytes the room on its disk; [Long#MAX_VALUE] without a limit
  /// @param quotaBytes the size that they may have; [Long#MAX_VALUE] without a quota
  /// @param fillableBytes the size at which it refuses changes for its quota: the quota without the
  ///   reserve for deletions; [Long#MAX_VALUE] without a quota
  public record Room(long usedBytes, long freeBytes, long quotaBytes, long fillableBytes) {}

  /// Returns the room of the store's devices, by shard. It may ask the disk.
  public List<Room> room() {
    return stoa.shards().stream()
        .map(device ->
            new Room(
                device.usedBytes(),
                device.roomBytes(),
                device.boundBytes(),
                device.fillableBytes()))
        .toList();
  }

  /// Asks the store for the end of a stream, as a read does.
  ///
  /// @throws stoa.StoaException when it cannot answer: its log or a device has failed, or other
  ///   servers do not confirm that it leads
  public void probe() {
    Throwable failed = stoa.failure();
    if (failed != null) throw new Unavailable(String.valueOf(failed.getMessage()), failed);
    var _ = store.tail(PROBED);
  }

  /// Returns running and waiting calls, at most the given number, running calls first.
  public List<ObjectCall> calls(int callsMax) {
    return stoa.calls(callsMax);
  }

  /// Returns how many calls wait for conditions of their objects.
  public int waitingCalls() {
    return store.waitingCalls();
  }

  /// Returns how many timers this store has, and what they have done.
  public TimerCounts timers() {
    return stoa.alarms().status();
  }

  /// Returns how the listeners of objects are.
  public ListenerCounts listeners() {
    return stoa.deliveries().counts();
  }

  /// Cancels a call; returns whether the call was in progress and cancelable.
  public boolean cancel(long id) {
    return stoa.cancel(id);
  }
}
