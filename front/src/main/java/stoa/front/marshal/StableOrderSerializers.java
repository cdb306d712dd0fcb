package stoa.front.marshal;

import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CopyOnWriteArraySet;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import org.apache.fory.Fory;
import org.apache.fory.collection.MapSnapshot;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.memory.MemoryBuffer;
import org.apache.fory.reflect.FieldAccessor;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;
import org.apache.fory.serializer.collection.CollectionSerializer;
import org.apache.fory.serializer.collection.CollectionSerializers;
import org.apache.fory.serializer.collection.ConcurrentMapSerializer;
import org.apache.fory.serializer.collection.MapSerializer;
import org.apache.fory.serializer.collection.MapSerializers;
import stoa.NotShareable;
import stoa.front.types.Hashing;

/// Collections whose order is the same in every JVM that has read the same bytes.
///
/// It refuses `HashMap`, `HashSet` and `ConcurrentHashMap` when the hash of a key depends on an
/// address. The sets and maps of `Set.of` and `Map.of`, whose order is salted in each JVM, become
/// unmodifiable collections in the order of the bytes. A `LinkedHashMap` in the order of access
/// stays one.
@SuppressWarnings({"unchecked", "rawtypes"}) // Justification: Fory's container serializers are raw
final class StableOrderSerializers {
  // Collections that Fory writes and, in some states, cannot read.
  private static final List<Class<?>> REFUSED =
      List.of(
          ArrayBlockingQueue.class,
          LinkedBlockingQueue.class,
          ConcurrentHashMap.newKeySet().getClass());

  private StableOrderSerializers() {}

  static void register(Fory fory, TypeResolver resolver, Filling filling) {
    fory.registerSerializer(HashMap.class, new HashMaps(resolver, filling));
    fory.registerSerializer(LinkedHashMap.class, new LinkedHashMaps(resolver, filling));
    fory.registerSerializer(ConcurrentHashMap.class, new ConcurrentHashMaps(resolver, filling));
    fory.registerSerializer(LinkedHashSet.class, new LinkedHashSets(resolver, filling));
    fory.registerSerializer(TreeMap.class, new TreeMaps(resolver, filling));
    fory.registerSerializer(PriorityQueue.class, new PriorityQueues(resolver, filling));
    fory.registerSerializer(TreeSet.class, new TreeSets(resolver, filling));
    fory.registerSerializer(ConcurrentSkipListSet.class, new SkipListSets(resolver));
    fory.registerSerializer(HashSet.class, new HashSets(resolver, filling));
    for (List<?> sample : lists()) {
      fory.registerSerializer(sample.getClass(), new FixedLists(resolver, sample.getClass()));
    }
    List<BiFunction<Object, Object, Map.Entry>> entries =
        List.of(Map::entry, AbstractMap.SimpleEntry::new, AbstractMap.SimpleImmutableEntry::new);
    for (int i = 0; i < entries.size(); i++) {
      Class<?> type = entries.get(i).apply(1, 1).getClass();
      fory.register(type, ForyCodec.ENTRY_ID + i);
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

  /// Returns the classes whose instances are created after their contents.
  @SuppressWarnings("JdkObsolete") // Justification: wrappers of such a list have other classes
  static Set<Class<?>> late() {
    var array = new ArrayList<Integer>(List.of(1));
    var linked = new LinkedList<Integer>(List.of(1));
    var tree = new TreeMap<Integer, Integer>();
    var samples = new ArrayList<Object>(lists());
    Collections.addAll(
        samples,
        Optional.empty(),
        new AtomicReference<>(),
        Map.entry(1, 1),
        new AbstractMap.SimpleEntry<>(1, 1),
        new AbstractMap.SimpleImmutableEntry<>(1, 1),
        Arrays.asList(1),
        Collections.singleton(1),
        Collections.singletonList(1),
        Collections.singletonMap(1, 1),
        Set.of(1),
        Set.of(1, 2, 3),
        Map.of(1, 1),
        Map.of(1, 1, 2, 2),
        new CopyOnWriteArrayList<>(),
        new CopyOnWriteArraySet<>(),
        Collections.newSetFromMap(new HashMap<>()),
        array.subList(0, 1),
        linked.subList(0, 1),
        Collections.unmodifiableCollection(array),
        Collections.unmodifiableList(array),
        Collections.unmodifiableList(linked),
        Collections.unmodifiableSet(new HashSet<>()),
        Collections.unmodifiableSortedSet(new TreeSet<>()),
        Collections.unmodifiableMap(tree),
        Collections.unmodifiableSortedMap(tree),
        Collections.synchronizedCollection(array),
        Collections.synchronizedList(array),
        Collections.synchronizedList(linked),
        Collections.synchronizedSet(new HashSet<>()),
        Collections.synchronizedSortedSet(new TreeSet<>()),
        Collections.synchronizedMap(tree),
        Collections.synchronizedSortedMap(tree));
    var types = new LinkedHashSet<Class<?>>();
    for (Object sample : samples) types.add(sample.getClass());
    return types;
  }

  /// Returns a list of each class that unmodifiable lists of the JDK have.
  private static List<List<?>> lists() {
    return List.of(List.of(1), List.of(1, 2, 3), List.of(1, 2, 3).subList(1, 2));
  }

  private static void checkKeys(Collection<?> keys, Class<?> container, String remedy) {
    for (Object key : keys) {
      Object part = Hashing.byAddress(key);
      if (part == null) continue;
      throw new NotShareable(
          "a "
              + container.getSimpleName()
              + " has the key "
              + key
              + ", and "
              + part
              + " of "
              + part.getClass().getTypeName()
              + " hashes by its address, so that the order differs from one JVM to the next; use "
              + remedy);
    }
  }

  private static final class HashMaps extends MapSerializer<Map> {
    private final Filling filling;

    HashMaps(TypeResolver resolver, Filling filling) {
      super(resolver, (Class) HashMap.class, true);
      this.filling = filling;
    }

    @Override
    public Map onMapWrite(WriteContext context, Map value) {
      checkKeys(value.keySet(), HashMap.class, "EnumMap or LinkedHashMap");
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

    @Override
    public Map read(ReadContext context) {
      return filling.read(this, context);
    }
  }

  /// ```
  /// in the order of insertion   size, entries
  /// in the order of access      MARK, size, entries
  /// ```
  ///
  /// The entries are written in the map's order, which writing does not change.
  private static final class LinkedHashMaps extends MapSerializer<Map> {
    // No size.
    private static final int MARK = -1;

    private static final FieldAccessor BY_ACCESS =
        LosslessSerializers.field(LinkedHashMap.class, "accessOrder");

    private final Filling filling;

    LinkedHashMaps(TypeResolver resolver, Filling filling) {
      super(resolver, (Class) LinkedHashMap.class, true);
      this.filling = filling;
    }

    @Override
    public Map onMapWrite(WriteContext context, Map value) {
      if (BY_ACCESS.getBoolean(value)) context.getBuffer().writeVarUInt32Small7(MARK);
      return super.onMapWrite(context, value);
    }

    @Override
    public Map newMap(ReadContext context, boolean entryReadAlwaysAdvances) {
      MemoryBuffer buffer = context.getBuffer();
      int start = buffer.readerIndex();
      boolean byAccess = buffer.readVarUInt32Small7() == MARK;
      if (!byAccess) buffer.readerIndex(start);
      int size = readMapSize(context, buffer, entryReadAlwaysAdvances);
      setNumElements(size);
      var map = byAccess ? new LinkedHashMap(size, 0.75f, true) : new LinkedHashMap(size);
      context.reference(map);
      return map;
    }

    @Override
    public Map read(ReadContext context) {
      return filling.read(this, context);
    }
  }

  private static final class ConcurrentHashMaps extends ConcurrentMapSerializer<Map> {
    private final Filling filling;

    ConcurrentHashMaps(TypeResolver resolver, Filling filling) {
      super(resolver, (Class) ConcurrentHashMap.class, true);
      this.filling = filling;
    }

    @Override
    public MapSnapshot onMapWrite(WriteContext context, Map value) {
      checkKeys(value.keySet(), ConcurrentHashMap.class, "ConcurrentSkipListMap or LinkedHashMap");
      return super.onMapWrite(context, value);
    }

    @Override
    public Map newMap(ReadContext context, boolean entryReadAlwaysAdvances) {
      int size = readMapSize(context, context.getBuffer(), entryReadAlwaysAdvances);
      setNumElements(size);
      var map = new ConcurrentHashMap(size);
      context.reference(map);
      return map;
    }

    @Override
    public Map read(ReadContext context) {
      return filling.read(this, context);
    }
  }

  /// Refuses views of other sets, such as those of `headSet` and `descendingSet`: they have the
  /// class of sets, and would lose their bounds and the shared set.
  private static void checkWhole(FieldAccessor map, Class<?> whole, Collection set) {
    if (whole.isInstance(map.getObject(set))) return;
    throw new NotShareable(
        "a view of a "
            + set.getClass().getName()
            + ", which "
            + set
            + " is, cannot travel or be stored; copy it into a new "
            + set.getClass().getSimpleName());
  }

  private static final class TreeSets extends CollectionSerializers.SortedSetSerializer<SortedSet> {
    private static final FieldAccessor MAP = LosslessSerializers.field(TreeSet.class, "m");

    private final Filling filling;

    TreeSets(TypeResolver resolver, Filling filling) {
      super(resolver, (Class) TreeSet.class);
      this.filling = filling;
    }

    @Override
    public Collection onCollectionWrite(WriteContext context, SortedSet value) {
      checkWhole(MAP, TreeMap.class, value);
      return super.onCollectionWrite(context, value);
    }

    @Override
    public SortedSet read(ReadContext context) {
      return (SortedSet) filling.read(this, context, this::readElements);
    }
  }

  private static final class TreeMaps extends MapSerializers.SortedMapSerializer<SortedMap> {
    private final Filling filling;

    TreeMaps(TypeResolver resolver, Filling filling) {
      super(resolver, (Class) TreeMap.class);
      this.filling = filling;
    }

    @Override
    public SortedMap read(ReadContext context) {
      return (SortedMap) filling.read(this, context);
    }
  }

  private static final class LinkedHashSets extends CollectionSerializer<Collection> {
    private final Filling filling;

    LinkedHashSets(TypeResolver resolver, Filling filling) {
      super(resolver, (Class) LinkedHashSet.class, true);
      this.filling = filling;
    }

    @Override
    public Collection newCollection(ReadContext context, boolean elementReadAlwaysAdvances) {
      int size = readCollectionSize(context, context.getBuffer(), elementReadAlwaysAdvances);
      setNumElements(size);
      var set = new LinkedHashSet(size);
      context.reference(set);
      return set;
    }

    @Override
    public Collection read(ReadContext context) {
      return filling.read(this, context, this::readElements);
    }
  }

  private static final class PriorityQueues extends CollectionSerializers.PriorityQueueSerializer {
    private final Filling filling;

    PriorityQueues(TypeResolver resolver, Filling filling) {
      super(resolver, PriorityQueue.class);
      this.filling = filling;
    }

    @Override
    public PriorityQueue read(ReadContext context) {
      return (PriorityQueue) filling.read(this, context, this::readElements);
    }
  }

  private static final class SkipListSets extends CollectionSerializer<Collection> {
    private static final FieldAccessor MAP =
        LosslessSerializers.field(ConcurrentSkipListSet.class, "m");

    private final CollectionSerializer as;

    SkipListSets(TypeResolver resolver) {
      super(resolver, (Class) ConcurrentSkipListSet.class, false);
      as = (CollectionSerializer) (Serializer) resolver.getSerializer(ConcurrentSkipListSet.class);
    }

    @Override
    public void write(WriteContext context, Collection value) {
      checkWhole(MAP, ConcurrentSkipListMap.class, value);
      as.write(context, value);
    }

    @Override
    public Collection newCollection(ReadContext context, boolean elementReadAlwaysAdvances) {
      Collection made = as.newCollection(context, elementReadAlwaysAdvances);
      setNumElements(as.getAndClearNumElements());
      return made;
    }

    @Override
    public Collection onCollectionRead(Collection read) {
      return as.onCollectionRead(read);
    }
  }

  private static final class HashSets extends CollectionSerializer<Collection> {
    private final Filling filling;

    HashSets(TypeResolver resolver, Filling filling) {
      super(resolver, (Class) HashSet.class, true);
      this.filling = filling;
    }

    @Override
    public Collection onCollectionWrite(WriteContext context, Collection value) {
      checkKeys(value, HashSet.class, "EnumSet or LinkedHashSet");
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

    @Override
    public Collection read(ReadContext context) {
      return filling.read(this, context, this::readElements);
    }
  }

  /// The lists of `List.of` and `Stream.toList`; the latter may hold nulls.
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
      throw ForyCodec.refused(value.getClass().getName());
    }

    @Override
    public Collection newCollection(ReadContext context, boolean elementReadAlwaysAdvances) {
      throw ForyCodec.refused(getType().getName());
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
