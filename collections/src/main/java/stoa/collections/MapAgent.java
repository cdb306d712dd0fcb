package stoa.collections;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Call;
import stoa.Shared;
import stoa.front.MethodRun;
import stoa.front.types.Keys;
import stoa.indexes.EntryAnswer;
import stoa.indexes.InstalledIndexes;
import stoa.spi.Forkable;

/// The part of a query that runs where a map is: an object without state, of which each group has
/// one.
@Shared(name = MapAgent.NAME)
class MapAgent implements Forkable<MapAgent> {
  /// The stored name of the class.
  static final String NAME = "stoa.MapAgent";

  // Up to so many keys of one object are read one by one, so that a transaction conflicts with
  // changes of these alone.
  private static final int SINGLE_MAX = 16;

  /// For the store.
  protected MapAgent() {}

  private static MethodRun run() {
    return Objects.requireNonNull(MethodRun.current(), "an agent runs in a store");
  }

  /// Answers a plan, see [EntryAnswer].
  ///
  /// @param map the name of the map
  /// @param shards the number of its children; 0 when it is one object
  @Accessor
  public List<Object> ask(List<String> plan, List<Object> predicates, String map, int shards) {
    return new EntryAnswer(predicates, keys -> values(map, shards, keys)).to(plan);
  }

  /// Returns those of some keys that the map has, each followed by its value.
  ///
  /// @param keys keys of objects in the agent's group
  @Accessor
  public List<Object> read(String map, int shards, List<Object> keys) {
    return readHere(map, shards, keys);
  }

  private static Map<Object, Object> values(String map, int shards, List<Object> keys) {
    MethodRun run = run();
    UnaryOperator<Object> objects = IndexedMap.objects(map, shards);
    var groups = new TreeMap<Integer, List<Object>>();
    var byObject = new HashMap<Object, Integer>();
    for (Object key : keys) {
      int group =
          byObject.computeIfAbsent(
              objects.apply(key), object -> run.group(IndexedMap.SINGLE, Keys.encode(object)));
      groups.computeIfAbsent(group, _ -> new ArrayList<>()).add(key);
    }
    int here = run.group(NAME, run.key());
    var values = new HashMap<Object, Object>();
    groups.forEach((group, some) -> {
      List<Object> found =
          group == here
              ? readHere(map, shards, some)
              : Call.get(MapAgent.class, InstalledIndexes.nameIn(NAME, run, group))
                  .read(map, shards, some);
      for (int i = 0; i < found.size(); i += 2) values.put(found.get(i), found.get(i + 1));
    });
    return values;
  }

  private static List<Object> readHere(String map, int shards, List<Object> keys) {
    UnaryOperator<Object> objects = IndexedMap.objects(map, shards);
    var byObject = new HashMap<Object, List<Object>>();
    for (Object key : keys) {
      byObject.computeIfAbsent(objects.apply(key), _ -> new ArrayList<>()).add(key);
    }
    var found = new ArrayList<Object>();
    byObject.forEach((object, some) -> {
      MapObject entries = Call.get(MapObject.class, object);
      if (some.size() > SINGLE_MAX) {
        found.addAll(entries.found(some));
        return;
      }
      for (Object key : some) {
        @Nullable Object value = entries.get(key);
        if (value == null) continue;
        found.add(key);
        found.add(value);
      }
    });
    return found;
  }

  @Override
  public MapAgent fork() {
    return new MapAgent();
  }
}
