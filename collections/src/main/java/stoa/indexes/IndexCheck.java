package stoa.indexes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.Ref;
import stoa.Snapshot;
import stoa.base.Key;
import stoa.front.SharedStoa;
import stoa.front.types.IndexForm;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;
import stoa.front.types.SharedType;

/// Compares an index of a class with a recount of the objects. One thread uses it.
final class IndexCheck {
  /*
   * A call changes its object, and then the indexes. A moment between these steps shows a
   * difference that the call removes. So what differs counts only if it does at several moments.
   */
  private static final int MOMENTS = 3;

  private static final int OBJECTS_AT_ONCE = 1_000;
  private static final int ROWS_AT_ONCE = 10_000;
  private static final int LINES_MAX = 1_000;

  private final SharedStoa stoa;
  private final String type;
  private final String index;
  private final Iterable<byte[]> objects;
  private final UnaryOperator<String> decoding;

  /// @param type the stored name of the class
  /// @param index the id of the index
  /// @param objects the keys of the objects, new ones each time
  /// @param decoding makes a text for people of a value's form
  private IndexCheck(
      SharedStoa stoa,
      String type,
      String index,
      Iterable<byte[]> objects,
      UnaryOperator<String> decoding) {
    this.stoa = stoa;
    this.type = type;
    this.index = index;
    this.objects = objects;
    this.decoding = decoding;
  }

  /// Returns the differences of all indexes of a class, a line each.
  ///
  /// @param moment a moment between calls; null for the present
  static List<String> differences(SharedStoa stoa, Class<?> type, @Nullable Snapshot moment) {
    var found = new ArrayList<String>();
    SharedType shared = SharedType.of(type);
    Iterable<byte[]> objects = () -> stoa.service().names(type);
    for (IndexedMember member : shared.indexes()) {
      UnaryOperator<String> decoding = value -> shown(member.form(), value);
      var check = new IndexCheck(stoa, shared.name(), member.id(), objects, decoding);
      found.addAll(moment == null ? check.differences() : check.differences(moment));
    }
    return some(found);
  }

  /// Returns the differences of an index of a class that the program lacks.
  static List<String> differences(
      SharedStoa stoa, String type, String index, Iterable<byte[]> objects) {
    IndexForm form = IndexForm.named(word(index, 2));
    UnaryOperator<String> decoding = value -> form == null ? "a record" : shown(form, value);
    return some(new IndexCheck(stoa, type, index, objects, decoding).differences());
  }

  private static String word(String id, int number) {
    return id.split(" ", -1)[number];
  }

  private static List<String> some(List<String> found) {
    if (found.size() <= LINES_MAX) return found;
    String rest = "and %,d more".formatted(found.size() - LINES_MAX);
    var some = new ArrayList<>(found.subList(0, LINES_MAX));
    some.add(rest);
    return some;
  }

  private List<String> differences() {
    List<String> found = differencesNow();
    for (int i = 1; i < MOMENTS && !found.isEmpty(); i++) {
      found.retainAll(new HashSet<>(differencesNow()));
    }
    return found;
  }

  private List<String> differencesNow() {
    try (Snapshot moment = stoa.snapshot()) {
      return differences(moment);
    }
  }

  private List<String> differences(Snapshot moment) {
    var found = new ArrayList<String>();
    IndexList list = moment.on(InstalledIndexes.list(stoa, type));
    boolean isComplete = list.incomplete(List.of(index)).isEmpty();
    Map<String, Set<String>> entries = entries(moment);
    var all = new TreeSet<>(entries.keySet());
    for (byte[] name : objects) all.add(InstalledIndexes.text(name));
    Map<String, String> values = values(moment, all, found);
    for (String object : all) {
      Set<String> entered = entries.getOrDefault(object, Set.of());
      String value = values.get(object);
      for (String one : entered) if (!one.equals(value)) found.add(surplus(object, one, value));
      if (value != null && isComplete && !entered.contains(value)) {
        found.add(name() + " lacks " + ref(object) + ", which has " + decoding.apply(value));
      }
    }
    return found;
  }

  // ---- the index

  /// Returns the values of each object in the index.
  private Map<String, Set<String>> entries(Snapshot moment) {
    var entries = new TreeMap<String, Set<String>>();
    for (int i = 0; i < InstalledIndexes.PARTS; i++) {
      IndexPart part = moment.on(InstalledIndexes.partAt(stoa, type, index, i));
      String value = null;
      String object = null;
      List<String> rows;
      do {
        rows = part.range(null, null, 1, value, object, ROWS_AT_ONCE);
        for (int at = 0; at < rows.size(); at += 2) {
          value = rows.get(at);
          object = rows.get(at + 1);
          entries.computeIfAbsent(object, _ -> new TreeSet<>()).add(value);
        }
      } while (rows.size() == 2 * ROWS_AT_ONCE);
    }
    return entries;
  }

  // ---- the objects

  /// Returns the values of those objects that exist, by objects, from the agents of their groups.
  ///
  /// @param failed gets a line for each object whose accessor throws
  private Map<String, String> values(Snapshot moment, Set<String> some, List<String> failed) {
    var groups = new HashMap<Integer, List<String>>();
    for (String object : some) {
      var key = new Key(type, InstalledIndexes.key(object), object);
      groups.computeIfAbsent(stoa.service().group(key), _ -> new ArrayList<>()).add(object);
    }
    var values = new HashMap<String, String>();
    groups.forEach((group, of) -> {
      IndexAgent agent = moment.on(InstalledIndexes.agent(stoa, group));
      for (int from = 0; from < of.size(); from += OBJECTS_AT_ONCE) {
        read(agent, of.subList(from, Math.min(of.size(), from + OBJECTS_AT_ONCE)), values, failed);
      }
    });
    return values;
  }

  private void read(
      IndexAgent agent, List<String> some, Map<String, String> values, List<String> failed) {
    var asked = new ArrayList<String>(2 * some.size());
    for (String object : some) {
      asked.add("");
      asked.add(object);
    }
    try {
      List<String> rows = agent.judge(plan(), asked);
      for (int i = 0; i < rows.size(); i += 2) values.put(rows.get(i + 1), rows.get(i));
    } catch (CallFailed thrown) {
      if (some.size() == 1) {
        failed.add(String.valueOf(thrown.getMessage()));
      } else {
        for (String one : some) read(agent, List.of(one), values, failed);
      }
    }
  }

  /// Returns the plan whose rows are the values of objects.
  private List<String> plan() {
    return new Plan(
            type,
            index,
            List.of(Span.ALL),
            Test.TRUE,
            word(index, 1),
            Plan.Window.ALL,
            Plan.Result.ROWS,
            "")
        .written();
  }

  // ---- words

  private String name() {
    return "the " + index + " of " + type;
  }

  private Object ref(String object) {
    byte[] key = InstalledIndexes.key(object);
    return new Ref<>(type, Keys.decode(key, stoa.service().loader()));
  }

  private static String shown(IndexForm form, String value) {
    Object decoded = form.decode(value);
    return decoded instanceof String text ? "\"" + text + "\"" : String.valueOf(decoded);
  }

  private String surplus(String object, String entered, @Nullable String value) {
    String has = value == null ? "does not exist" : "has " + decoding.apply(value);
    return name()
        + " has "
        + ref(object)
        + " under "
        + decoding.apply(entered)
        + ", and the object "
        + has;
  }
}
