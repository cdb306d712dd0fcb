package stoa.listening;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import stoa.Accessor;
import stoa.LimitExceeded;
import stoa.Listeners;
import stoa.Shared;
import stoa.spi.ListenerObjects;

/// Keeps the names of the listeners of a store.
@Shared(name = "stoa.Listeners")
class ListenersObject {
  /// A listener.
  record Entry(String name, ListenerObjects.Selection heard, ListenerObjects.Target target) {}

  private final TreeMap<String, Entry> all = new TreeMap<>();

  protected ListenersObject() {}

  void add(Entry entry) {
    if (all.containsKey(entry.name())) {
      throw new IllegalArgumentException(
          "there is a listener \"" + entry.name() + "\" already; stop it first");
    }
    if (all.size() >= Listeners.LISTENERS_MAX) {
      throw new LimitExceeded(
          "there are "
              + Listeners.LISTENERS_MAX
              + " listeners, the most that a store has; let one listener call several objects");
    }
    all.put(entry.name(), entry);
  }

  boolean remove(String name) {
    return all.remove(name) != null;
  }

  @Accessor
  List<Entry> all() {
    return new ArrayList<>(all.values());
  }
}
