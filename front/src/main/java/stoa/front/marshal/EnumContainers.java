package stoa.front.marshal;

import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.fory.Fory;
import org.apache.fory.context.ReadContext;
import org.apache.fory.memory.MemoryBuffer;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;
import org.apache.fory.serializer.collection.CollectionSerializers;
import org.apache.fory.serializer.collection.MapSerializers;
import stoa.Corrupt;

/// Sets and maps of enums as Fory writes them, with the class of the enum first, which may be the
/// [StandIns] of a renamed enum.
@SuppressWarnings({"rawtypes", "unchecked"}) // Justification: Fory asks for raw types
final class EnumContainers {
  // The JDK has another class for the sets of an enum with this many constants.
  private static final Class<? extends Enum> LARGE = Character.UnicodeScript.class;

  private EnumContainers() {}

  /// @param renamed the enums by their stand-ins
  static void register(Fory fory, TypeResolver resolver, Map<Class<?>, Class<?>> renamed) {
    Class<EnumSet> sets = (Class) EnumSet.noneOf(TimeUnit.class).getClass();
    fory.registerSerializer(sets, new Sets(resolver, sets, renamed));
    Class<EnumSet> large = (Class) EnumSet.noneOf(LARGE).getClass();
    fory.registerSerializer(large, new Sets(resolver, large, renamed));
    fory.registerSerializer(EnumMap.class, new Maps(resolver, renamed));
  }

  private static Class enumOf(Class<?> named, Map<Class<?>, Class<?>> renamed) {
    Class<?> type = renamed.getOrDefault(named, named);
    if (type.isEnum()) return type;
    throw new Corrupt("a set or map of enums names the class " + type.getName());
  }

  private static final class Sets extends CollectionSerializers.EnumSetSerializer {
    private final Map<Class<?>, Class<?>> renamed;

    Sets(TypeResolver resolver, Class<EnumSet> type, Map<Class<?>, Class<?>> renamed) {
      super(resolver, type);
      this.renamed = renamed;
    }

    @Override
    public EnumSet read(ReadContext context) {
      MemoryBuffer buffer = context.getBuffer();
      Class<?> named = typeResolver.readTypeInfo(context).getType();
      EnumSet set = EnumSet.noneOf(enumOf(named, renamed));
      int size = readCollectionSize(context, buffer, true);
      Serializer<?> elements = typeResolver.getSerializer(named);
      for (int i = 0; i < size; i++) set.add((Enum) elements.read(context));
      return set;
    }
  }

  private static final class Maps extends MapSerializers.EnumMapSerializer {
    private final Map<Class<?>, Class<?>> renamed;

    Maps(TypeResolver resolver, Map<Class<?>, Class<?>> renamed) {
      super(resolver);
      this.renamed = renamed;
    }

    @Override
    public EnumMap newMap(ReadContext context, boolean entryReadAlwaysAdvances) {
      MemoryBuffer buffer = context.getBuffer();
      setNumElements(readMapSize(context, buffer, entryReadAlwaysAdvances));
      Class<?> named = typeResolver.readTypeInfo(context).getType();
      var map = new EnumMap(enumOf(named, renamed));
      context.reference(map);
      return map;
    }
  }
}
