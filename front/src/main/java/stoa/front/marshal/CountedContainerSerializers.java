package stoa.front.marshal;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import org.apache.fory.Fory;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.collection.CollectionSerializer;
import org.apache.fory.serializer.collection.MapSerializer;

/// Containers that hash or compare their elements, read under the [Effort] of a [ForyCodec]: it
/// gathers their elements first, and adds them when it has counted the work. [Filling] does the
/// same for the containers that may hold an object which is still being read.
///
/// Without an effort, as for states that the store itself wrote, it fills them while it reads them.
@SuppressWarnings({"unchecked", "rawtypes"}) // Justification: Fory's container serializers are raw
final class CountedContainerSerializers {
  /*
   * A serializer here wraps the serializer that Fory or StableOrderSerializers has for the class.
   * The wrapped serializer creates the container, which others may refer to from then on, and
   * finishes it. In between, Fory adds the elements to a list in its place.
   *
   * The cost of a container in which at most r elements have the same hash is r times the visits of
   * the hashes of all elements. Adding the elements hashes and compares as many, and so does a
   * comparison of two such containers.
   */
  private static final List<Class<?>> SETS =
      List.of(
          ConcurrentSkipListSet.class,
          CopyOnWriteArraySet.class,
          CopyOnWriteArrayList.class,
          Set.of(1).getClass(),
          Set.of(1, 2, 3).getClass(),
          Collections.newSetFromMap(new HashMap<>()).getClass());

  private static final List<Class<?>> MAPS =
      List.of(ConcurrentSkipListMap.class, Map.of(1, 1).getClass(), Map.of(1, 1, 2, 2).getClass());

  private CountedContainerSerializers() {}

  /// Wraps the serializers of a codec's containers. Call it after all code that registers others
  /// for them.
  static void register(ForyCodec codec, Fory fory, TypeResolver resolver) {
    for (Class type : SETS) {
      var before = (CollectionSerializer) resolver.getSerializer(type);
      fory.registerSerializer(type, new Sets(codec, resolver, type, before));
    }
    for (Class type : MAPS) {
      var before = (MapSerializer) resolver.getSerializer(type);
      fory.registerSerializer(type, new Maps(codec, resolver, type, before));
    }
  }

  /// Counts the work of adding keys to a container.
  static void take(Effort effort, Object container, Collection<?> keys) {
    effort.take(keys.size());
    if (isSimple(keys) && !(container instanceof CopyOnWriteArraySet)) return;
    long hashing = effort.hashing(keys);
    effort.take(hashing);
    int same = same(container, keys);
    effort.take(Effort.times(hashing, same - 1));
    effort.colliding(container, same);
  }

  private static boolean isSimple(Collection<?> keys) {
    for (Object key : keys) {
      if (key instanceof String || key instanceof Long || key instanceof Integer) continue;
      if (key != null && !(key instanceof UUID)) return false;
    }
    return true;
  }

  /// Returns whether a tree of the hash table orders keys whose hashes are equal.
  private static boolean isSpread(Object key) {
    return key instanceof Comparable && key.getClass().getModule() == Object.class.getModule();
  }

  /// Returns how many keys have the most frequent hash.
  private static int same(Object container, Collection<?> keys) {
    switch (container) {
      case CopyOnWriteArraySet<?> _ -> {
        return keys.size();
      }
      case SortedSet<?> _, SortedMap<?, ?> _, Queue<?> _, List<?> _ -> {
        return 1;
      }
      default -> {}
    }
    int[] hashes = new int[keys.size()];
    int at = 0;
    for (Object key : keys) {
      if (key != null && !isSpread(key)) hashes[at++] = key.hashCode();
    }
    Arrays.sort(hashes, 0, at);
    int most = 1;
    for (int i = 1, run = 1; i < at; i++) {
      run = hashes[i] == hashes[i - 1] ? run + 1 : 1;
      most = Math.max(most, run);
    }
    return most;
  }

  private static final class Sets extends CollectionSerializer<Collection> {
    private final ForyCodec codec;
    private final CollectionSerializer before;

    Sets(ForyCodec codec, TypeResolver resolver, Class type, CollectionSerializer before) {
      super(resolver, type, before.supportCodegenHook());
      this.codec = codec;
      this.before = before;
    }

    @Override
    public void write(WriteContext context, Collection value) {
      before.write(context, value);
    }

    @Override
    public Collection newCollection(ReadContext context, boolean elementReadAlwaysAdvances) {
      Collection made = before.newCollection(context, elementReadAlwaysAdvances);
      setNumElements(before.getAndClearNumElements());
      return codec.effort() == null ? made : new PendingContents.Elements(made, 0);
    }

    @Override
    public Collection onCollectionRead(Collection read) {
      boolean gathered = read instanceof PendingContents.Elements;
      return before.onCollectionRead(
          gathered ? ((PendingContents.Elements) read).fill(codec.effort()) : read);
    }
  }

  private static final class Maps extends MapSerializer<Map> {
    private final ForyCodec codec;
    private final MapSerializer before;

    Maps(ForyCodec codec, TypeResolver resolver, Class type, MapSerializer before) {
      super(resolver, type, before.supportCodegenHook());
      this.codec = codec;
      this.before = before;
    }

    @Override
    public void write(WriteContext context, Map value) {
      before.write(context, value);
    }

    @Override
    public Map newMap(ReadContext context, boolean entryReadAlwaysAdvances) {
      Map made = before.newMap(context, entryReadAlwaysAdvances);
      setNumElements(before.getAndClearNumElements());
      return codec.effort() == null ? made : new PendingContents.Entries(made, 0);
    }

    @Override
    public Map onMapRead(Map read) {
      boolean gathered = read instanceof PendingContents.Entries;
      return before.onMapRead(
          gathered ? ((PendingContents.Entries) read).fill(codec.effort()) : read);
    }
  }
}
