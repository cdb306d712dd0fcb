package stoa.objects.marshal;

import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.BiFunction;
import org.apache.fory.Fory;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;
import org.apache.fory.serializer.collection.CollectionSerializer;
import org.apache.fory.serializer.collection.MapSerializer;
import stoa.NotShareable;
import stoa.objects.types.Hashing;

/// Hash collections whose order is the same in every JVM that has read the same bytes.
///
/// `HashMap` and `HashSet` are refused when a key hashes by its address. What `Set.of` and `Map.of`
/// made, whose order is salted in each JVM, is read back as an unmodifiable collection in the order
/// of the bytes.
@SuppressWarnings({"unchecked", "rawtypes"}) // Justification: Fory's container serializers are raw
final class Ordered {
  /// Collections that Fory writes and, in some states, cannot read.
  private static final List<Class<?>> REFUSED =
      List.of(
          ArrayBlockingQueue.class,
          LinkedBlockingQueue.class,
          ConcurrentHashMap.newKeySet().getClass());

  private Ordered() {}

  static void register(Fory fory, TypeResolver resolver) {
    fory.registerSerializer(HashMap.class, new HashMaps(resolver));
    fory.registerSerializer(HashSet.class, new HashSets(resolver));
    for (List<?> sample : lists()) {
      fory.registerSerializer(sample.getClass(), new FixedLists(resolver, sample.getClass()));
    }
    List<BiFunction<Object, Object, Map.Entry>> entries =
        List.of(Map::entry, AbstractMap.SimpleEntry::new, AbstractMap.SimpleImmutableEntry::new);
    for (int i = 0; i < entries.size(); i++) {
      Class<?> type = entries.get(i).apply(1, 1).getClass();
      fory.register(type, Codec.ENTRY_ID + i);
      fory.registerSerializer(type, new Entries(resolver, type, entries.get(i)));
    }
    for (Class type : REFUSED) fory.registerSerializer(type, new Refused(resolver, type));
    for (Set<?> sample : new Set<?>[] {Set.of(1), Set.of(1, 2, 3)}) {
      fory.registerSerializer(sample.getClass(), new FixedSets(resolver, sample.getClass()));
    }
    for (Map<?, ?> sample : new Map<?, ?>[] {Map.of(1, 1), Map.of(1, 1, 2, 2)}) {
      fory.registerSerializer(sample.getClass(), new FixedMaps(resolver, sample.getClass()));
    }
  }

  /// One of each class that unmodifiable lists of the JDK have.
  private static List<List<?>> lists() {
    return List.of(List.of(1), List.of(1, 2, 3), List.of(1, 2, 3).subList(1, 2));
  }

  private static void checkKeys(Collection<?> keys, String container, String remedy) {
    for (Object key : keys) {
      if (key == null || !Hashing.isByIdentity(key.getClass())) continue;
      throw new NotShareable(
          "a "
              + container
              + " has the key "
              + key
              + " of "
              + key.getClass().getTypeName()
              + ", which hashes by its address, so that the order differs from one JVM to the next;"
              + " use "
              + remedy);
    }
  }

  private static final class HashMaps extends MapSerializer<Map> {
    HashMaps(TypeResolver resolver) {
      super(resolver, (Class) HashMap.class, true);
    }

    @Override
    public Map onMapWrite(WriteContext context, Map value) {
      checkKeys(value.keySet(), "HashMap", "EnumMap or LinkedHashMap");
      return super.onMapWrite(context, value);
    }

    @Override
    public Map newMap(ReadContext context, boolean entryReadAlwaysAdvances) {
      int size = readMapSize(context, context.getBuffer(), entryReadAlwaysAdvances);
      setNumElements(size);
      var map = new HashMap(size);
      context.reference(map);
      return map;
    }
  }

  private static final class HashSets extends CollectionSerializer<Collection> {
    HashSets(TypeResolver resolver) {
      super(resolver, (Class) HashSet.class, true);
    }

    @Override
    public Collection onCollectionWrite(WriteContext context, Collection value) {
      checkKeys(value, "HashSet", "EnumSet or LinkedHashSet");
      return super.onCollectionWrite(context, value);
    }

    @Override
    public Collection newCollection(ReadContext context, boolean elementReadAlwaysAdvances) {
      int size = readCollectionSize(context, context.getBuffer(), elementReadAlwaysAdvances);
      setNumElements(size);
      var set = new HashSet(size);
      context.reference(set);
      return set;
    }
  }

  /// What `List.of` and `Stream.toList` made; the latter may hold nulls.
  private static final class FixedLists extends CollectionSerializer<Collection> {
    FixedLists(TypeResolver resolver, Class type) {
      super(resolver, type, true);
    }

    @Override
    public Collection newCollection(ReadContext context, boolean elementReadAlwaysAdvances) {
      int size = readCollectionSize(context, context.getBuffer(), elementReadAlwaysAdvances);
      setNumElements(size);
      return new ArrayList(size);
    }

    @Override
    public Collection onCollectionRead(Collection collection) {
      for (Object element : collection) {
        if (element == null) return Collections.unmodifiableList((List) collection);
      }
      return List.copyOf(collection);
    }
  }

  private static final class Refused extends CollectionSerializer<Collection> {
    Refused(TypeResolver resolver, Class type) {
      super(resolver, type, true);
    }

    @Override
    public Collection onCollectionWrite(WriteContext context, Collection value) {
      throw Codec.refused(value.getClass().getName());
    }

    @Override
    public Collection newCollection(ReadContext context, boolean elementReadAlwaysAdvances) {
      throw Codec.refused(getType().getName());
    }
  }

  /// Entries that stand alone.
  private static final class Entries extends Serializer<Map.Entry> {
    private final BiFunction<Object, Object, Map.Entry> maker;

    Entries(TypeResolver resolver, Class type, BiFunction<Object, Object, Map.Entry> maker) {
      super(resolver.getConfig(), type);
      this.maker = maker;
    }

    @Override
    public void write(WriteContext context, Map.Entry entry) {
      context.writeRef(entry.getKey());
      context.writeRef(entry.getValue());
    }

    @Override
    public Map.Entry read(ReadContext context) {
      context.increaseDepth();
      Object key = context.readRef();
      Object value = context.readRef();
      context.decreaseDepth();
      return maker.apply(key, value);
    }
  }

  private static final class FixedSets extends CollectionSerializer<Collection> {
    FixedSets(TypeResolver resolver, Class type) {
      super(resolver, type, true);
    }

    @Override
    public Collection newCollection(ReadContext context, boolean elementReadAlwaysAdvances) {
      int size = readCollectionSize(context, context.getBuffer(), elementReadAlwaysAdvances);
      setNumElements(size);
      return new LinkedHashSet(size);
    }

    @Override
    public Collection onCollectionRead(Collection collection) {
      return Collections.unmodifiableSet((LinkedHashSet) collection);
    }
  }

  private static final class FixedMaps extends MapSerializer<Map> {
    FixedMaps(TypeResolver resolver, Class type) {
      super(resolver, type, true);
    }

    @Override
    public Map newMap(ReadContext context, boolean entryReadAlwaysAdvances) {
      int size = readMapSize(context, context.getBuffer(), entryReadAlwaysAdvances);
      setNumElements(size);
      return new LinkedHashMap(size);
    }

    @Override
    public Map onMapRead(Map map) {
      return Collections.unmodifiableMap(map);
    }
  }
}
