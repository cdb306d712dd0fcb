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
import stoa.LogAddress;
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
  private final Recount recount;
  private final UnaryOperator<String> decoding;

  /// Reads what has values in an index.
  private interface Recount {
    /// Returns the values of all that exist at a moment, by their keys as texts.
    ///
    /// @param entered the keys that the index has
    /// @param failed gets a line for each whose value cannot be read
    Map<String, String> values(
        IndexCheck check, Snapshot moment, Set<String> entered, List<String> failed);

    /// Returns the word for what has a key.
    String word();

    /// Returns what has a key, as a text for people.
    Object named(String key);
  }

  /// @param type the stored name of the class
  /// @param index the id of the index
  /// @param decoding makes a text for people of a value's form
  private IndexCheck(
      SharedStoa stoa, String type, String index, Recount recount, UnaryOperator<String> decoding) {
    this.stoa = stoa;
    this.type = type;
    this.index = index;
    this.recount = recount;
    this.decoding = decoding;
  }

  /// The objects of a class.
  ///
  /// @param objects their keys, new ones each time
  private record Objects(SharedStoa stoa, String type, Iterable<byte[]> objects)
      implements Recount {
    @Override
    public Map<String, String> values(
        IndexCheck check, Snapshot moment, Set<String> entered, List<String> failed) {
      var all = new TreeSet<>(entered);
      for (byte[] name : objects) all.add(InstalledIndexes.text(name));
      return check.values(moment, all, failed);
    }

    @Override
    public String word() {
      return "object";
    }

    @Override
    public Object named(String key) {
      byte[] encoded = InstalledIndexes.key(key);
      return new Ref<>(type, Keys.decode(encoded, stoa.service().loader()));
    }
  }

  /// The entries of a map.
  private record Entries(EntrySource<?, ?> source, IndexedMember member) implements Recount {
    @Override
    public Map<String, String> values(
        IndexCheck check, Snapshot moment, Set<String> entered, List<String> failed) {
      var values = new HashMap<String, String>();
      source
          .entries(moment)
          .forEachRemaining(entry -> {
            String key = InstalledIndexes.text(Keys.encode(entry.getKey()));
            try {
              values.put(key, member.valueOf(entry.getValue()));
            } catch (CallFailed thrown) {
              failed.add("\"" + entry.getKey() + "\": " + thrown.getMessage());
            }
          });
      return values;
    }

    @Override
    public String word() {
      return "entry";
    }

    @Override
    public Object named(String key) {
      byte[] encoded = InstalledIndexes.key(key);
      return "\"" + Keys.decode(encoded, source.stoa().service().loader()) + "\"";
    }
  }

  /// The entries of a map, as the map keeps them for its indexes.
  private record MapEntries(SharedStoa stoa, String owner, HeldForms forms) implements Recount {
    @Override
    public Map<String, String> values(
        IndexCheck check, Snapshot moment, Set<String> entered, List<String> failed) {
      return forms.read(stoa, owner, check.index, moment);
    }

    @Override
    public String word() {
      return "entry";
    }

    @Override
    public Object named(String key) {
      return "\"" + Keys.decode(InstalledIndexes.key(key), stoa.service().loader()) + "\"";
    }
  }

  /// Returns the differences of all indexes of a class, a line each.
  ///
  /// @param moment null for the present
  static List<String> differences(SharedStoa stoa, Class<?> type, @Nullable LogAddress moment) {
    var found = new ArrayList<String>();
    SharedType shared = SharedType.of(type);
    var objects = new Objects(stoa, shared.name(), () -> stoa.service().names(type));
    for (IndexedMember member : shared.indexes()) {
      UnaryOperator<String> decoding = value -> shown(member.form(), value);
      var check = new IndexCheck(stoa, shared.name(), member.id(), objects, decoding);
      found.addAll(check.differencesAt(moment));
    }
    return some(found);
  }

  /// Returns the differences of all indexes of a map's values, a line each.
  ///
  /// @param moment null for the present
  static List<String> differences(EntrySource<?, ?> map, @Nullable LogAddress moment) {
    var found = new ArrayList<String>();
    for (IndexedMember member : map.members()) {
      UnaryOperator<String> decoding = value -> shown(member.form(), value);
      var entries = new Entries(map, member);
      var check = new IndexCheck(map.stoa(), map.owner(), member.id(), entries, decoding);
      found.addAll(check.differencesAt(moment));
    }
    return some(found);
  }

  /// Returns the differences of an index of a class that the program lacks.
  static List<String> differences(
      SharedStoa stoa,
      String type,
      String index,
      Iterable<byte[]> objects,
      @Nullable LogAddress moment) {
    return differences(stoa, type, index, new Objects(stoa, type, objects), moment);
  }

  /// Returns the differences of an index of a map from what the map keeps for it, for a program
  /// that lacks the class of the values.
  static List<String> differences(
      SharedStoa stoa, String owner, String index, HeldForms forms, @Nullable LogAddress moment) {
    return differences(stoa, owner, index, new MapEntries(stoa, owner, forms), moment);
  }

  private static List<String> differences(
      SharedStoa stoa, String type, String index, Recount recount, @Nullable LogAddress moment) {
    IndexForm form = IndexForm.named(word(index, 2));
    UnaryOperator<String> decoding = value -> form == null ? "a record" : shown(form, value);
    return some(new IndexCheck(stoa, type, index, recount, decoding).differencesAt(moment));
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

  private List<String> differencesAt(@Nullable LogAddress address) {
    if (address == null) return differences();
    try (Snapshot moment = stoa.at(address)) {
      return differences(moment);
    }
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
    Map<String, String> values = recount.values(this, moment, entries.keySet(), found);
    var all = new TreeSet<>(entries.keySet());
    all.addAll(values.keySet());
    for (String object : all) {
      Set<String> entered = entries.getOrDefault(object, Set.of());
      String value = values.get(object);
      for (String one : entered) if (!one.equals(value)) found.add(surplus(object, one, value));
      if (value != null && isComplete && !entered.contains(value)) {
        found.add(
            name() + " lacks " + recount.named(object) + ", which has " + decoding.apply(value));
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

  private static String shown(IndexForm form, String value) {
    Object decoded = form.shown(value);
    return decoded instanceof String text ? "\"" + text + "\"" : String.valueOf(decoded);
  }

  private String surplus(String object, String entered, @Nullable String value) {
    String has = value == null ? "does not exist" : "has " + decoding.apply(value);
    return name()
        + " has "
        + recount.named(object)
        + " under "
        + decoding.apply(entered)
        + ", and the "
        + recount.word()
        + " "
        + has;
  }
}
