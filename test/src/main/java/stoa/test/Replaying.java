package stoa.test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.base.Clock;
import stoa.objects.CodeService;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.ViewService;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.store.threads.Threads;

/// The check of [StoaAssertions#assertReplaysEqual(StoaStore)].
final class Replaying {
  private static final int SHOWN_MAX = 10;

  private Replaying() {}

  /// A version of an object, and its state.
  ///
  /// @param version of the object
  /// @param state as bytes; null when there is none
  @SuppressWarnings("ArrayRecordComponent") // compared by isSame
  private record Seen(long version, byte @Nullable [] state) {
    boolean isSame(@Nullable Seen other) {
      return other != null && version == other.version && Arrays.equals(state, other.state);
    }
  }

  static void check(StoaStore store) {
    Map<String, Seen> live = objects(store.stoa());
    var disk = store.copy();
    Map<String, Seen> replayed;
    try (Stoa copy =
        EmbeddedEngine.open(
            store.config(),
            () -> Device.open(disk, DeviceConfig.standard()),
            Clock.system(),
            Threads.real())) {
      replayed = objects(copy);
    }
    var names = new TreeSet<>(live.keySet());
    names.addAll(replayed.keySet());
    List<String> different = new ArrayList<>();
    for (String name : names) {
      Seen here = live.get(name);
      if (here == null || !here.isSame(replayed.get(name))) different.add(name);
    }
    if (different.isEmpty()) return;
    StoaAssertions.failWith(
        ("%d of %d objects are not what the log makes of them: %s. Their classes keep something beside"
                + " their fields, such as a static field, or read what is not in the log")
            .formatted(
                different.size(),
                names.size(),
                String.join(", ", different.subList(0, Math.min(SHOWN_MAX, different.size())))));
  }

  private static Map<String, Seen> objects(Stoa stoa) {
    var service = ObjectService.of(stoa, _ -> true);
    var objects = new TreeMap<String, Seen>();
    for (CodeService.TypeVersion version : service.code().versions()) {
      String type = version.type();
      if (!version.active()) continue;
      for (var keys = service.list(type); keys.hasNext(); ) {
        byte[] key = keys.next();
        var container = service.container(type, key);
        ViewService.State state = service.views().fetch(container, -1);
        if (state.generation() == 0) continue;
        objects.put(container.key().toString(), new Seen(state.version(), state.checkpoint()));
      }
    }
    return objects;
  }
}
