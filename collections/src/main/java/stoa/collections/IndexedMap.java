package stoa.collections;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Snapshot;
import stoa.base.Key;
import stoa.front.ChangeSet;
import stoa.front.Service;
import stoa.front.SharedStoa;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;
import stoa.indexes.EntrySource;
import stoa.indexes.InstalledIndexes;

/// A map whose values are in indexes, as queries see it. Immutable.
///
/// @param map the map's facade
/// @param name the name of the map
/// @param shards the number of its children; 0 when it is one object
/// @param keys the class of the keys
/// @param values the class of the values
/// @param <K> the class of the keys
/// @param <V> the class of the values
record IndexedMap<K, V>(
    SharedStoa stoa, MapView<K, V> map, String name, int shards, Class<K> keys, Class<V> values)
    implements EntrySource<K, V> {
  /// The stored name of a map that is one object, and of each child.
  static final String SINGLE = "stoa.Map";

  /// The stored name of the base object of a map of several objects.
  static final String SHARDED = "stoa.ShardedMap";

  // The most entries that one transaction enters in indexes.
  private static final int ENTERED_MAX = 256;

  /// Returns the name under which the indexes of a map are kept.
  static String ownerOf(String type, String name) {
    return type + " " + name;
  }

  /// Returns what finds the key of the object that has the entry of a key.
  static UnaryOperator<Object> objects(String map, int shards) {
    if (shards == 0) return _ -> map;
    Permutation permutation = Permutation.named(map);
    return key -> new ShardKey(map, permutation.child(KeyHash.of(key), shards));
  }

  @Override
  public String owner() {
    return ownerOf(shards == 0 ? SINGLE : SHARDED, name);
  }

  @Override
  public List<IndexedMember> members() {
    return ValueIndexes.of(values).members();
  }

  @Override
  public IndexedMember part(String part) {
    return IndexedMember.part(values, part);
  }

  private MapObject object(int number) {
    return stoa.get(MapObject.class, shards == 0 ? name : new ShardKey(name, number));
  }

  @Override
  public List<Object> ask(List<String> plan, List<Object> predicates, @Nullable Snapshot moment) {
    Object first = shards == 0 ? name : new ShardKey(name, 0);
    int group = stoa.service().group(new Key(SINGLE, Keys.encode(first), first));
    MapAgent agent = stoa.get(MapAgent.class, InstalledIndexes.nameIn(MapAgent.NAME, stoa, group));
    MapAgent seen = moment == null ? agent : moment.on(agent);
    return seen.ask(plan, predicates, name, shards);
  }

  @Override
  public void enter() {
    ValueIndexes indexes = ValueIndexes.of(values);
    List<String> ids = indexes.list();
    String mark = InstalledIndexes.mark(stoa, owner(), ids);
    int objects = Math.max(1, shards);
    // From now on, an entry without the indexes removes the mark.
    stoa.transact(() -> {
      for (int i = 0; i < objects; i++) object(i).declare(ids);
    });
    for (int i = 0; i < objects; i++) enter(object(i), indexes);
    InstalledIndexes.complete(stoa, owner(), ids, mark);
  }

  private void enter(MapObject object, ValueIndexes indexes) {
    Object from = null;
    do {
      Page page = object.lacking(indexes.list(), from, ENTERED_MAX);
      if (!page.items().isEmpty()) {
        stoa.transact(() -> {
          for (Object key : page.items()) {
            Object value = object.get(key);
            if (value != null) object.enter(key, (Indexed) indexes.held(value));
          }
        });
      }
      from = page.next();
    } while (from != null);
  }

  @Override
  public Service.Tail<ChangeSet> follow() {
    return stoa.follow(SINGLE, shards == 0 ? Keys.encode(name) : null);
  }

  @Override
  public Iterator<Map.Entry<K, V>> entries(Snapshot moment) {
    var seen = Objects.requireNonNull(moment.on(map));
    var all = new ArrayList<Map.Entry<K, V>>();
    seen.iterator().forEachRemaining(all::add);
    return all.iterator();
  }
}
