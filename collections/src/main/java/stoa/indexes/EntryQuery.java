package stoa.indexes;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.Call1;
import stoa.Condition;
import stoa.LimitExceeded;
import stoa.LiveQuery;
import stoa.LogAddress;
import stoa.MapQuery;
import stoa.NotShareable;
import stoa.Query;
import stoa.Snapshot;
import stoa.front.MethodRun;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;

/// A query of a program for entries of a map. Immutable.
///
/// @param <K> the class of the keys
/// @param <V> the class of the values
final class EntryQuery<K, V> implements MapQuery<K, V> {
  // How often the first query looks for entries that indexes lack, while code without them puts
  // others.
  private static final int ATTEMPTS_MAX = 10;

  // The number of a predicate is one byte.
  private static final int PREDICATES_MAX = 100;

  private final EntrySource<K, V> source;
  private final List<Test> tests;
  private final List<Object> predicates;
  private final @Nullable IndexedMember order;
  private final Plan.Window window;
  private final @Nullable Snapshot snapshot;

  EntryQuery(EntrySource<K, V> source) {
    this(source, List.of(), List.of(), null, Plan.Window.ALL, null);
  }

  private EntryQuery(
      EntrySource<K, V> source,
      List<Test> tests,
      List<Object> predicates,
      @Nullable IndexedMember order,
      Plan.Window window,
      @Nullable Snapshot snapshot) {
    this.source = source;
    this.tests = tests;
    this.predicates = predicates;
    this.order = order;
    this.window = window;
    this.snapshot = snapshot;
  }

  private EntryQuery<K, V> with(Plan.Window changed) {
    return new EntryQuery<>(source, tests, predicates, order, changed, snapshot);
  }

  // ---- what is asked

  @Override
  public MapQuery<K, V> where(Condition<V> condition) {
    var all = new ArrayList<>(tests);
    var more = new ArrayList<>(predicates);
    Test test = test(condition, more);
    if (test instanceof Test.All(List<Test> several)) all.addAll(several);
    else all.add(test);
    return new EntryQuery<>(source, List.copyOf(all), List.copyOf(more), order, window, snapshot);
  }

  @Override
  public <R extends @Nullable Object> MapQuery<K, V> orderBy(Call1<V, R> part) {
    return new EntryQuery<>(source, tests, predicates, member(part), window, snapshot);
  }

  @Override
  public MapQuery<K, V> descending() {
    return with(
        new Plan.Window(!window.isDescending(), window.value(), window.object(), window.max()));
  }

  @Override
  public MapQuery<K, V> limit(int count) {
    if (count <= 0) throw new IllegalArgumentException(count + " entries; at least 1 is needed");
    return with(new Plan.Window(window.isDescending(), window.value(), window.object(), count));
  }

  @Override
  public MapQuery<K, V> at(Snapshot moment) {
    Objects.requireNonNull(moment, "the snapshot is null");
    return new EntryQuery<>(source, tests, predicates, order, window, moment);
  }

  @Override
  public MapQuery<K, V> at(LogAddress address) {
    Objects.requireNonNull(address, "the address is null");
    return at(source.stoa().at(address));
  }

  private IndexedMember member(Call1<V, ?> part) {
    Objects.requireNonNull(part, "the part is null");
    if (part instanceof Condition.Field<?, ?>(String name)) return source.part(name);
    throw new IllegalArgumentException(
        "a query of a map names the parts of values by part(Product::category), or by"
            + " field(\"category\")");
  }

  private Test test(Condition<V> condition, List<Object> more) {
    return switch (condition) {
      case Condition.Compared<V> compared -> test(compared);
      case Condition.Meets<V>(Predicate<? super V> predicate) -> met(predicate, more);
      case Condition.All<V>(List<Condition<V>> some) -> {
        var all = new ArrayList<Test>();
        for (Condition<V> one : some) {
          Test test = test(one, more);
          if (test instanceof Test.All(List<Test> several)) all.addAll(several);
          else all.add(test);
        }
        yield new Test.All(List.copyOf(all));
      }
      case Condition.Any<V>(List<Condition<V>> some) -> {
        var any = new ArrayList<Test>();
        for (Condition<V> one : some) any.add(test(one, more));
        yield new Test.Any(List.copyOf(any));
      }
      case Condition.Not<V>(Condition<V> one) -> new Test.Not(test(one, more));
    };
  }

  private Test test(Condition.Compared<V> compared) {
    return Test.Of.of(member(compared.accessor()), compared.comparison(), compared.value());
  }

  private Test met(Predicate<? super V> predicate, List<Object> more) {
    Class<?> type = predicate.getClass();
    if (!(predicate instanceof Record) && !(predicate instanceof Enum<?>)) {
      throw new NotShareable(
          predicate
              + " is no record and no enum constant, and a server cannot run it; make a record that"
              + " implements Predicate");
    }
    if (more.size() >= PREDICATES_MAX) {
      throw new LimitExceeded("a query has %,d predicates at most".formatted(PREDICATES_MAX));
    }
    source
        .stoa()
        .admit(predicate instanceof Enum<?> constant ? constant.getDeclaringClass() : type);
    var number = new byte[] {(byte) more.size()};
    more.add(predicate);
    return new Test.Of(
        IndexedMember.predicate(type.getName(), number),
        Condition.Comparison.EQUAL,
        IndexedMember.met());
  }

  private Plan plan(@Nullable IndexedMember ordered, Plan.Window part, Plan.Result result) {
    return new Planner(source.owner(), source.members(), tests).plan(ordered, part, result, "");
  }

  // ---- answers

  private List<Object> answer(Plan plan) {
    MethodRun.refuse("ask a query");
    for (int attempt = 0; ; attempt++) {
      List<Object> answer = source.ask(plan.written(), predicates, snapshot);
      if (answer.getFirst().equals(EntryAnswer.COMPLETE)) {
        return answer.subList(1, answer.size());
      }
      String lacks = "the " + plan.index() + " of " + plan.type() + " lacks entries ";
      if (source.stoa().isTransacting()) {
        throw new IllegalStateException(
            lacks
                + "that existed before it; ask a query outside of a transaction first, which enters"
                + " them");
      }
      if (snapshot != null && attempt > 0) {
        throw new IllegalStateException(
            lacks + "at " + snapshot + "; it was declared later: ask for a later moment");
      }
      if (attempt == ATTEMPTS_MAX) {
        throw new IllegalStateException(
            lacks
                + "that programs put whose class of values has no such index; let them use the same"
                + " class");
      }
      source.enter();
    }
  }

  /// Returns the entries of rows, by their keys.
  private Map<Object, Map.Entry<K, V>> entries(List<Object> rows) {
    var entries = new LinkedHashMap<Object, Map.Entry<K, V>>();
    for (int i = 0; i < rows.size(); i += 3) {
      byte[] encoded = InstalledIndexes.key((String) rows.get(i + 1));
      @SuppressWarnings("unchecked") // Justification: the map has checked what it took
      K key = (K) Keys.decode(encoded, source.stoa().service().loader());
      @SuppressWarnings("unchecked") // Justification: as above
      V value = (V) rows.get(i + 2);
      entries.put(key, Map.entry(key, value));
    }
    return entries;
  }

  private Map<Object, Map.Entry<K, V>> entries() {
    return entries(answer(plan(order, window, Plan.Result.ROWS)));
  }

  @Override
  public List<Map.Entry<K, V>> list() {
    return List.copyOf(entries().values());
  }

  @Override
  public Query.Page<Map.Entry<K, V>> page(@Nullable String after) {
    Plan.Window of = after == null ? window : window.behind(after);
    List<Object> rows = answer(plan(order, of, Plan.Result.ROWS));
    int last = rows.size() - 3;
    boolean isLast = rows.size() / 3 < of.max();
    String next =
        isLast ? null : Plan.Window.token((String) rows.get(last), (String) rows.get(last + 1));
    return new Query.Page<>(List.copyOf(entries(rows).values()), next);
  }

  @Override
  public Optional<Map.Entry<K, V>> first() {
    return limit(1).list().stream().findFirst();
  }

  @Override
  public long count() {
    Plan plan = plan(null, Plan.Window.ALL, Plan.Result.COUNT);
    return Long.parseLong((String) answer(plan).getFirst());
  }

  @Override
  public <R extends @Nullable Object> Map<R, Long> countBy(Call1<V, R> part) {
    IndexedMember member = member(part);
    List<Object> counts = answer(plan(member, Plan.Window.ALL, Plan.Result.COUNTS));
    var byValue = new LinkedHashMap<R, Long>();
    for (int i = 0; i < counts.size(); i += 2) {
      @SuppressWarnings("unchecked") // Justification: the part has such values
      R value = (R) member.form().decode((String) counts.get(i));
      byValue.put(value, Long.parseLong((String) counts.get(i + 1)));
    }
    return byValue;
  }

  @Override
  public LiveQuery<Map.Entry<K, V>> watch() {
    MethodRun.refuse("watch a query");
    if (snapshot != null) {
      throw new IllegalStateException(
          "the answer at " + snapshot + " stays; watch a query without a snapshot");
    }
    if (source.stoa().isTransacting()) {
      throw new IllegalStateException("a transaction cannot watch a query; watch it outside");
    }
    Plan plan = plan(order, window, Plan.Result.ROWS);
    String point = plan.point();
    if (point == null) return new Watch<>(this::entries, source::follow);
    int part = InstalledIndexes.numberOf(point);
    byte[] key = Keys.encode(InstalledIndexes.nameOf(source.owner(), plan.index(), part));
    return new Watch<>(this::entries, () -> source.stoa().follow(IndexPart.NAME, key));
  }

  @Override
  public String explain() {
    List<String> ids = source.members().stream().map(IndexedMember::id).toList();
    return Planner.explained(
        plan(order, window, Plan.Result.ROWS),
        "entry",
        InstalledIndexes.list(source.stoa(), source.owner()).incomplete(ids));
  }
}
