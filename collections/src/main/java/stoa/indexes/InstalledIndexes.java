package stoa.indexes;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;
import stoa.Forbidden;
import stoa.LogAddress;
import stoa.MapQuery;
import stoa.Query;
import stoa.Stoa;
import stoa.base.Key;
import stoa.front.MethodRun;
import stoa.front.SharedCall;
import stoa.front.SharedStoa;
import stoa.front.types.IndexedMember;
import stoa.front.types.SharedType;
import stoa.spi.Indexes;

/// Keeps indexes in shared objects: [#PARTS] of them for an index, over which the values are
/// spread. Stateless.
public final class InstalledIndexes implements Indexes {
  /// The number of parts of an index.
  static final int PARTS = 16;

  // The most objects that one transaction enters in new indexes.
  private static final int ENTERED_MAX = 256;

  private final HeldForms forms;

  /// For [stoa.collections.InstalledCollections].
  public InstalledIndexes(HeldForms forms) {
    this.forms = forms;
  }

  /// Returns the key of a part of an index.
  static String nameOf(String type, String index, int number) {
    return type + " " + index + " " + number;
  }

  /// Returns a part of an index.
  static IndexPart partAt(Stoa stoa, String type, String index, int number) {
    return stoa.get(IndexPart.class, nameOf(type, index, number));
  }

  /// Returns the number of the part of a value.
  static int numberOf(String value) {
    int hash = value.hashCode() * 0x9E3779B9;
    return hash >>> 28; // one of PARTS
  }

  private static IndexPart part(Stoa stoa, String type, String index, String value) {
    return partAt(stoa, type, index, numberOf(value));
  }

  @Override
  public int partOf(String value) {
    return numberOf(value);
  }

  @Override
  public Object part(Stoa stoa, String type, String index, int number) {
    return partAt(stoa, type, index, number);
  }

  @Override
  public @Nullable String enter(
      Stoa stoa, String type, String index, boolean unique, String value, String object) {
    IndexPart part = part(stoa, type, index, value);
    if (unique) return part.claim(value, object);
    part.add(value, object);
    return null;
  }

  @Override
  public void leave(Stoa stoa, String type, String index, String value, String object) {
    part(stoa, type, index, value).remove(value, object);
  }

  @Override
  public void change(Stoa stoa, String type, String index, String value, List<String> changes) {
    part(stoa, type, index, value).change(changes);
  }

  @Override
  public void lostEntry(Stoa stoa, String owner, String index) {
    list(stoa, owner).lostSince(index);
  }

  @Override
  public void lost(Stoa stoa, String type, String index) {
    list(stoa, type).lost(index);
  }

  /// Returns the list of the indexes of a type, or of a map.
  static IndexList list(Stoa stoa, String type) {
    return stoa.get(IndexList.class, type);
  }

  // ---- the entries of maps

  /// Returns those of some indexes of a map that lack entries.
  public static List<String> incomplete(Stoa stoa, String owner, List<String> ids) {
    return list(stoa, owner).incomplete(ids);
  }

  /// Sets a mark in front of looking for the entries that indexes lack, and returns it.
  public static String mark(Stoa stoa, String owner, List<String> ids) {
    return list(stoa, owner).marked(ids);
  }

  /// Notes that indexes have all entries, unless one has lost some since a mark.
  public static void complete(Stoa stoa, String owner, List<String> ids, String mark) {
    var _ = list(stoa, owner).completedSince(ids, mark);
  }

  /// Notes that indexes lack entries.
  public static void lose(Stoa stoa, String owner, List<String> ids) {
    for (String id : ids) list(stoa, owner).lostSince(id);
  }

  // ---- agents

  /// Returns an agent in a group.
  static IndexAgent agent(SharedStoa stoa, int group) {
    return stoa.get(IndexAgent.class, nameIn(IndexAgent.NAME, stoa, group));
  }

  /// Returns the key of an agent in a group.
  ///
  /// @param type the stored name of the agents
  public static String nameIn(String type, SharedStoa stoa, int group) {
    return IndexAgent.nameIn(type, group, stoa.service()::group);
  }

  /// Returns the key of an agent in a group, for a running method.
  ///
  /// @param type the stored name of the agents
  public static String nameIn(String type, MethodRun run, int group) {
    return IndexAgent.nameIn(type, group, key -> run.group(key.space(), key.name()));
  }

  /// Returns an encoded key as a text.
  public static String text(byte[] key) {
    return new String(key, StandardCharsets.ISO_8859_1);
  }

  /// Returns the encoded key in a text.
  public static byte[] key(String object) {
    return object.getBytes(StandardCharsets.ISO_8859_1);
  }

  @Override
  public void delete(Stoa stoa, Object shared) {
    SharedCall call = ((SharedStoa) stoa).own(shared);
    int group = call.stoa().service().group(call.key());
    agent(call.stoa(), group).leave(call.shared().name(), text(call.key().name()));
  }

  @Override
  public <T> Query<T> query(Stoa stoa, Class<T> type) {
    java.util.Objects.requireNonNull(type, "the type is null");
    MethodRun.refuse("begin a query");
    SharedStoa shared = shared(stoa);
    var query = new TypedQuery<T>(shared, type);
    shared.beginIndexes(type);
    return query;
  }

  @Override
  public <K, V> MapQuery<K, V> query(Stoa stoa, ConcurrentMap<K, V> map) {
    MethodRun.refuse("begin a query");
    @SuppressWarnings("unchecked") // Justification: a map is a source of its own entries
    EntrySource<K, V> source = (EntrySource<K, V>) source(map);
    return new EntryQuery<>(source);
  }

  private static EntrySource<?, ?> source(ConcurrentMap<?, ?> map) {
    java.util.Objects.requireNonNull(map, "the map is null");
    EntrySource<?, ?> source = map instanceof Queried queried ? queried.source() : null;
    if (source != null && !source.members().isEmpty()) return source;
    throw new IllegalArgumentException(
        "the class of the values has no @Index by which a query finds them; annotate a component,"
            + " a field or a method without parameters, or look at the entries yourself");
  }

  @Override
  public List<String> differences(Stoa stoa, ConcurrentMap<?, ?> map, @Nullable LogAddress moment) {
    MethodRun.refuse("check indexes");
    checkOutside(shared(stoa));
    return IndexCheck.differences(source(map), moment);
  }

  private static void checkOutside(SharedStoa stoa) {
    if (!stoa.isTransacting()) return;
    throw new IllegalStateException("a transaction cannot check indexes; check them outside");
  }

  @Override
  public void begin(Stoa stoa, Class<?> type) {
    SharedStoa shared = (SharedStoa) stoa;
    SharedType known = SharedType.of(type);
    List<String> ids = ids(known);
    IndexList list = list(stoa, known.name());
    try {
      if (list.incomplete(ids).isEmpty() || shared.service().names(type).hasNext()) return;
      check(shared, known.name(), ids);
      if (!shared.service().names(type).hasNext()) list.completed(ids);
    } catch (Forbidden | IllegalStateException later) {
      return; // a query says why
    }
  }

  private static List<String> ids(SharedType type) {
    return type.indexes().stream().map(IndexedMember::id).toList();
  }

  /// Checks that the code in all groups has some indexes, so that objects that begin enter them.
  private static void check(SharedStoa stoa, String type, List<String> ids) {
    for (int i = 0; i < stoa.service().groups(); i++) {
      var _ = agent(stoa, i).check(type, ids);
    }
  }

  /// Enters the existing objects of a class in those of its indexes that lack some.
  static void completeNow(SharedStoa stoa, Class<?> type) {
    SharedType known = SharedType.of(type);
    List<String> ids = ids(known);
    check(stoa, known.name(), ids);
    var groups = new ArrayList<List<String>>();
    for (int i = 0; i < stoa.service().groups(); i++) groups.add(new ArrayList<>());
    Iterator<byte[]> names = stoa.service().names(type);
    while (names.hasNext()) {
      byte[] name = names.next();
      int group = stoa.service().group(new Key(known.name(), name, known.name()));
      List<String> some = groups.get(group);
      some.add(text(name));
      if (some.size() < ENTERED_MAX) continue;
      agent(stoa, group).enter(known.name(), some);
      some.clear();
    }
    for (int i = 0; i < groups.size(); i++) {
      if (!groups.get(i).isEmpty()) agent(stoa, i).enter(known.name(), groups.get(i));
    }
    list(stoa, known.name()).completed(ids);
  }

  @Override
  public List<String> differences(Stoa stoa, Class<?> type, @Nullable LogAddress moment) {
    java.util.Objects.requireNonNull(type, "the type is null");
    MethodRun.refuse("check indexes");
    SharedStoa shared = shared(stoa);
    checkOutside(shared);
    return IndexCheck.differences(shared, type, moment);
  }

  @Override
  public List<String> indexesOf(Stoa stoa, String type) {
    return agent(shared(stoa), 0).indexes(type);
  }

  @Override
  public List<String> differences(
      Stoa stoa, String type, String index, Iterable<byte[]> objects, @Nullable LogAddress moment) {
    return forms.isOfMap(type)
        ? IndexCheck.differences(shared(stoa), type, index, forms, moment)
        : IndexCheck.differences(shared(stoa), type, index, objects, moment);
  }

  private static SharedStoa shared(Stoa stoa) {
    if (stoa instanceof SharedStoa shared) return shared;
    throw new UnsupportedOperationException(
        stoa.getClass().getName() + " has no queries; open one with stoa-objects");
  }
}
