package stoa.indexes;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.Call;
import stoa.front.MethodRun;

/// The way to the answer of a query: the ranges of one index in which its objects are, what these
/// must meet beyond that, and their order. An agent executes it. Immutable.
///
/// @param type the stored name of the class
/// @param index the id of the index
/// @param spans the ranges of values, which do not overlap
/// @param rest what the index does not tell
/// @param order the field or accessor by which the rows are ordered; empty for the index
/// @param window what of the rows is wanted
/// @param result the kind of the answer
/// @param shown the field or accessor whose values are the answer; empty for others
record Plan(
    String type,
    String index,
    List<Span> spans,
    Test rest,
    String order,
    Window window,
    Result result,
    String shown) {
  /// The answer when the index lacks objects.
  static final List<String> INCOMPLETE = List.of("incomplete");

  // The most rows that one call returns.
  private static final int PAGE = 10_000;

  /// The kind of an answer.
  enum Result {
    /// The rows: what orders each of them, then its object.
    ROWS,
    /// The values of a field or accessor in the objects of the rows, in the order of the rows.
    VALUES,
    /// The rows, with what is shown of each object in place of what orders it: for agents.
    READ,
    /// The number of the rows.
    COUNT,
    /// The values that order rows, each with the number of these.
    COUNTS
  }

  /// A part of the rows.
  ///
  /// @param isDescending whether they are in the opposite order
  /// @param value what orders the row behind which it begins; null for the first row
  /// @param object the object of that row
  /// @param max the most rows
  record Window(boolean isDescending, @Nullable String value, String object, int max) {
    /// All rows.
    static final Window ALL = new Window(false, null, "", Integer.MAX_VALUE);

    /// Returns the name of a row, for [#behind].
    static String token(String value, String object) {
      String text = value.length() + ":" + value + object;
      byte[] bytes = text.getBytes(StandardCharsets.UTF_16BE);
      return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /// Returns the part of the same size behind a row.
    ///
    /// @throws IllegalArgumentException when it names no row
    Window behind(String token) {
      try {
        String text = new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_16BE);
        int colon = text.indexOf(':');
        int end = colon + 1 + Integer.parseInt(text.substring(0, colon));
        return new Window(isDescending, text.substring(colon + 1, end), text.substring(end), max);
      } catch (IllegalArgumentException | IndexOutOfBoundsException other) {
        throw new IllegalArgumentException(
            "\"" + token + "\" is not the next of a page; pass what Page.next returned", other);
      }
    }
  }

  private record Row(String value, String object) implements Comparable<Row> {
    @Override
    public int compareTo(Row other) {
      int byValue = value.compareTo(other.value);
      return byValue != 0 ? byValue : object.compareTo(other.object);
    }
  }

  /// Returns the same with another rest.
  Plan with(Test other) {
    return new Plan(type, index, spans, other, order, window, result, shown);
  }

  // ---- as texts

  /// Returns it as texts, from which [#read] reads it.
  List<String> written() {
    var out = new ArrayList<String>();
    out.add(type);
    out.add(index);
    out.add(order);
    out.add(result.name());
    out.add(window.isDescending ? "-" : "+");
    out.add(window.value == null ? "0" : "1" + window.value);
    out.add(window.object);
    out.add(Integer.toString(window.max));
    out.add(Integer.toString(spans.size()));
    for (Span span : spans) span.write(out);
    rest.write(out);
    if (!shown.isEmpty()) out.add(shown);
    return out;
  }

  /// Reads what [#written] returned.
  static Plan read(List<String> texts) {
    Iterator<String> in = texts.iterator();
    String type = in.next();
    String index = in.next();
    String order = in.next();
    Result result = Result.valueOf(in.next());
    boolean isDescending = in.next().equals("-");
    String value = in.next();
    String behind = value.equals("0") ? null : value.substring(1);
    var window = new Window(isDescending, behind, in.next(), Integer.parseInt(in.next()));
    var spans = new ArrayList<Span>();
    for (int left = Integer.parseInt(in.next()); left > 0; left--) {
      String from = in.next();
      spans.add(Span.read(from, in.next()));
    }
    Test rest = Test.read(in);
    String shown = in.hasNext() ? in.next() : "";
    return new Plan(type, index, List.copyOf(spans), rest, order, window, result, shown);
  }

  // ---- the answer

  /// Returns whether the index alone has the answer.
  boolean isCovered() {
    return rest.equals(Test.TRUE) && order.isEmpty();
  }

  /// Returns the field or accessor of its index.
  String indexed() {
    return index.split(" ", -1)[1];
  }

  /// Returns whether one of its ranges has a value.
  boolean has(String value) {
    return spans.stream().anyMatch(span -> span.has(value));
  }

  /// Returns the one value of the index where all rows are, in their order; null when there is
  /// none.
  @Nullable String point() {
    boolean isOne = spans.size() == 1 && isCovered() && !window.isDescending;
    return isOne ? spans.getFirst().point() : null;
  }

  /// Looks at what rows have.
  interface Looking {
    /// Returns the rows that meet the rest of a plan, each with what orders it; for [Result#READ],
    /// with what is shown.
    ///
    /// @param rows what orders each of them in the index, then its object
    List<String> met(Plan plan, List<String> rows);
  }

  /// Returns the answer, behind a first text; [#INCOMPLETE] when the index lacks objects. A method
  /// of an agent calls this.
  List<String> answer(MethodRun run) {
    return answer((plan, rows) -> plan.met(run, rows));
  }

  /// Returns the answer, behind a first text; [#INCOMPLETE] when the index lacks some.
  List<String> answer(Looking looking) {
    if (!Call.get(IndexList.class, type).incomplete(List.of(index)).isEmpty()) return INCOMPLETE;
    var answer = new ArrayList<String>();
    answer.add("complete");
    answer.addAll(rowsOrCounts(looking));
    return answer;
  }

  private List<String> rowsOrCounts(Looking looking) {
    boolean isCount = result == Result.COUNT || result == Result.COUNTS;
    if (isCovered() && isCount) return counted();
    List<Row> rows = isCovered() ? rows(window) : rows(looking.met(this, flat(rows(Window.ALL))));
    if (result == Result.ROWS) return flat(cut(rows));
    if (result == Result.VALUES) return shown(looking, cut(rows));
    if (result == Result.COUNT) return List.of(Integer.toString(rows.size()));
    var counts = new TreeMap<String, Integer>();
    for (Row row : rows) counts.merge(row.value, 1, Integer::sum);
    return flat(counts);
  }

  private static List<String> flat(Map<String, Integer> counts) {
    var out = new ArrayList<String>(2 * counts.size());
    counts.forEach((value, count) -> {
      out.add(value);
      out.add(count.toString());
    });
    return out;
  }

  private static List<String> flat(List<Row> rows) {
    var out = new ArrayList<String>(2 * rows.size());
    for (Row row : rows) {
      out.add(row.value);
      out.add(row.object);
    }
    return out;
  }

  private static List<Row> rows(List<String> flat) {
    var rows = new ArrayList<Row>(flat.size() / 2);
    for (int i = 0; i < flat.size(); i += 2) rows.add(new Row(flat.get(i), flat.get(i + 1)));
    return rows;
  }

  private IndexPart part(int number) {
    return Call.get(IndexPart.class, type + " " + index + " " + number);
  }

  /// Counts in the index alone.
  private List<String> counted() {
    long all = 0;
    var counts = new TreeMap<String, Integer>();
    for (Span span : spans) {
      String point = span.point();
      if (point != null) {
        int count = part(InstalledIndexes.numberOf(point)).count(point);
        all += count;
        if (count > 0) counts.put(point, count);
        continue;
      }
      for (int i = 0; i < InstalledIndexes.PARTS; i++) {
        List<String> some = part(i).counts(span.from(), span.to());
        for (int at = 0; at < some.size(); at += 2) {
          int count = Integer.parseInt(some.get(at + 1));
          all += count;
          counts.put(some.get(at), count);
        }
      }
    }
    return result == Result.COUNT ? List.of(Long.toString(all)) : flat(counts);
  }

  /// Returns rows of the index, at least those of a window, in the order of the index.
  private List<Row> rows(Window of) {
    var rows = new ArrayList<Row>();
    for (Span span : spans) {
      String point = span.point();
      if (point != null) {
        addPoint(point, of, rows);
      } else {
        for (int i = 0; i < InstalledIndexes.PARTS; i++) addRange(i, span, of, rows);
      }
    }
    return rows;
  }

  private void addPoint(String point, Window of, List<Row> rows) {
    IndexPart part = part(InstalledIndexes.numberOf(point));
    boolean isWithin = point.equals(of.value) && !of.isDescending;
    String after = isWithin ? of.object : null;
    int most = of.isDescending ? Integer.MAX_VALUE : of.max;
    for (int left = most; left > 0; ) {
      int max = Math.min(left, PAGE);
      List<String> some = part.find(point, after, max);
      for (String object : some) rows.add(new Row(point, object));
      if (some.size() < max) return;
      left -= some.size();
      after = some.getLast();
    }
  }

  private void addRange(int number, Span span, Window of, List<Row> rows) {
    IndexPart part = part(number);
    String value = of.value;
    String object = of.object;
    for (int left = of.max; left > 0; ) {
      int max = Math.min(left, PAGE);
      int order = of.isDescending ? -1 : 1;
      List<String> some = part.range(span.from(), span.to(), order, value, object, max);
      rows.addAll(rows(some));
      if (some.size() < 2 * max) return;
      left -= max;
      value = some.get(some.size() - 2);
      object = some.getLast();
    }
  }

  /// Returns the rows of a window, in their order.
  private List<Row> cut(List<Row> rows) {
    if (window.isDescending) rows.sort(Collections.reverseOrder());
    else Collections.sort(rows);
    String value = window.value;
    int from = 0;
    if (value != null) {
      var behind = new Row(value, window.object);
      while (from < rows.size() && !isBehind(rows.get(from), behind)) from++;
    }
    int to = (int) Math.min(rows.size(), (long) from + window.max);
    return rows.subList(from, to);
  }

  private boolean isBehind(Row row, Row other) {
    int compared = row.compareTo(other);
    return window.isDescending ? compared < 0 : compared > 0;
  }

  // ---- where the objects are

  /// Returns what the objects of rows have in the field or accessor that is shown.
  private List<String> shown(Looking looking, List<Row> rows) {
    var reading = new Plan(type, index, List.of(), Test.TRUE, "", Window.ALL, Result.READ, shown);
    var values = new HashMap<String, String>();
    for (Row row : rows(looking.met(reading, flat(rows)))) values.put(row.object, row.value);
    var out = new ArrayList<String>(rows.size());
    for (Row row : rows) {
      String value = values.get(row.object);
      if (value != null) out.add(value);
    }
    return out;
  }

  /// Returns the rows that meet the rest, from the agents of their groups.
  private List<String> met(MethodRun run, List<String> some) {
    var groups = new LinkedHashMap<Integer, List<String>>();
    for (int i = 0; i < some.size(); i += 2) {
      int group = run.group(type, InstalledIndexes.key(some.get(i + 1)));
      List<String> of = groups.computeIfAbsent(group, _ -> new ArrayList<>());
      of.add(some.get(i));
      of.add(some.get(i + 1));
    }
    int here = run.group(IndexAgent.NAME, run.key());
    var rows = new ArrayList<String>();
    groups.forEach(
        (group, of) -> rows.addAll(group == here ? judged(run, of) : asked(run, group, of)));
    return rows;
  }

  private List<String> asked(MethodRun run, int group, List<String> objects) {
    String name =
        IndexAgent.nameIn(IndexAgent.NAME, group, key -> run.group(key.space(), key.name()));
    return Call.get(IndexAgent.class, name).judge(written(), objects);
  }

  /// Returns those rows whose objects meet the rest, each with what orders it.
  List<String> judged(MethodRun run, List<String> objects) {
    var members = new TreeSet<String>();
    rest.addMembers(members);
    if (!order.isEmpty()) members.add(order);
    if (result == Result.READ) members.add(shown);
    var keys = new ArrayList<byte[]>(objects.size() / 2);
    for (int i = 1; i < objects.size(); i += 2) keys.add(InstalledIndexes.key(objects.get(i)));
    List<@Nullable String> judged =
        run.judged(
            type,
            keys,
            List.copyOf(members),
            object -> {
              if (!rest.holds(object)) return null;
              if (result == Result.READ) return object.wholeValue(shown);
              return order.isEmpty() ? "" : object.value(order);
            });
    var met = new ArrayList<String>();
    for (int i = 0; i < keys.size(); i++) {
      String by = judged.get(i);
      if (by == null) continue;
      boolean keeps = order.isEmpty() && result != Result.READ;
      met.add(keeps ? objects.get(2 * i) : by);
      met.add(objects.get(2 * i + 1));
    }
    return met;
  }
}
