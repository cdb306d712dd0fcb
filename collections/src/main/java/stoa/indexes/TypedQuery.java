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
import stoa.LiveQuery;
import stoa.LogAddress;
import stoa.Query;
import stoa.Ref;
import stoa.Snapshot;
import stoa.View;
import stoa.front.MethodRun;
import stoa.front.SharedStoa;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;
import stoa.front.types.SharedType;

/// A query of a program. Immutable.
///
/// @param <T> the class of the objects
final class TypedQuery<T> implements Query<T> {
  private final SharedStoa stoa;
  private final Class<T> type;
  private final SharedType shared;
  private final List<Test> tests;
  private final @Nullable IndexedMember order;
  private final Plan.Window window;
  private final @Nullable Snapshot snapshot;

  TypedQuery(SharedStoa stoa, Class<T> type) {
    this(stoa, type, List.of(), null, Plan.Window.ALL, null);
  }

  private TypedQuery(
      SharedStoa stoa,
      Class<T> type,
      List<Test> tests,
      @Nullable IndexedMember order,
      Plan.Window window,
      @Nullable Snapshot snapshot) {
    this.stoa = stoa;
    this.type = type;
    this.shared = SharedType.of(type);
    this.tests = tests;
    this.order = order;
    this.window = window;
    this.snapshot = snapshot;
    if (shared.indexes().isEmpty()) {
      throw new IllegalArgumentException(
          type.getName()
              + " has no index, by which the store knows its objects at a moment; annotate a field"
              + " or an accessor with @Index");
    }
  }

  private TypedQuery<T> with(Plan.Window changed) {
    return new TypedQuery<>(stoa, type, tests, order, changed, snapshot);
  }

  // ---- what is asked

  @Override
  public Query<T> where(Condition<T> condition) {
    var all = new ArrayList<>(tests);
    Test test = test(condition);
    if (test instanceof Test.All(List<Test> several)) all.addAll(several);
    else all.add(test);
    return new TypedQuery<>(stoa, type, List.copyOf(all), order, window, snapshot);
  }

  @Override
  public <V extends @Nullable Object> Query<T> orderBy(Call1<T, V> accessor) {
    return new TypedQuery<>(stoa, type, tests, member(accessor), window, snapshot);
  }

  @Override
  public Query<T> descending() {
    return with(
        new Plan.Window(!window.isDescending(), window.value(), window.object(), window.max()));
  }

  @Override
  public Query<T> limit(int count) {
    if (count <= 0) throw new IllegalArgumentException(count + " objects; at least 1 is needed");
    return with(new Plan.Window(window.isDescending(), window.value(), window.object(), count));
  }

  @Override
  public Query<T> at(Snapshot moment) {
    Objects.requireNonNull(moment, "the snapshot is null");
    return new TypedQuery<>(stoa, type, tests, order, window, moment);
  }

  @Override
  public Query<T> at(LogAddress address) {
    Objects.requireNonNull(address, "the address is null");
    return at(stoa.at(address));
  }

  private IndexedMember member(Call1<T, ?> accessor) {
    Objects.requireNonNull(accessor, "the accessor is null");
    return accessor instanceof Condition.Field<?, ?>(String field)
        ? shared.readable(field)
        : stoa.accessor(type, accessor);
  }

  private Test test(Condition<T> condition) {
    return switch (condition) {
      case Condition.Compared<T> compared -> test(compared);
      case Condition.Meets<T>(Predicate<? super T> predicate) ->
          new Test.Of(stoa.predicate(predicate), Condition.Comparison.EQUAL, IndexedMember.met());
      case Condition.All<T>(List<Condition<T>> some) -> {
        var all = new ArrayList<Test>();
        for (Condition<T> one : some) {
          Test test = test(one);
          if (test instanceof Test.All(List<Test> several)) all.addAll(several);
          else all.add(test);
        }
        yield new Test.All(List.copyOf(all));
      }
      case Condition.Any<T>(List<Condition<T>> some) ->
          new Test.Any(some.stream().map(this::test).toList());
      case Condition.Not<T>(Condition<T> one) -> new Test.Not(test(one));
    };
  }

  private Test test(Condition.Compared<T> compared) {
    return Test.Of.of(member(compared.accessor()), compared.comparison(), compared.value());
  }

  // ---- the plan

  private Plan plan(@Nullable IndexedMember ordered, Plan.Window part, Plan.Result result) {
    return plan(ordered, part, result, "");
  }

  private Plan plan(
      @Nullable IndexedMember ordered, Plan.Window part, Plan.Result result, String shown) {
    return new Planner(shared.name(), shared.indexes(), tests).plan(ordered, part, result, shown);
  }

  // ---- answers

  private List<String> answer(Plan plan) {
    MethodRun.refuse("ask a query");
    List<String> answer = asked(plan);
    if (answer.equals(Plan.INCOMPLETE)) {
      if (stoa.isTransacting()) {
        throw new IllegalStateException(
            "the "
                + plan.index()
                + " of "
                + plan.type()
                + " lacks objects that existed before it; ask a query outside of a transaction"
                + " first, which enters them");
      }
      InstalledIndexes.completeNow(stoa, type);
      answer = asked(plan);
    }
    if (answer.equals(Plan.INCOMPLETE)) {
      throw new IllegalStateException(
          "the "
              + plan.index()
              + " of "
              + plan.type()
              + " lacks objects at "
              + snapshot
              + "; it was declared later: ask for a later moment");
    }
    return answer.subList(1, answer.size());
  }

  private List<String> asked(Plan plan) {
    String point = plan.result() == Plan.Result.ROWS ? plan.point() : null;
    // Here, two questions for one object each are less than one for both.
    if (point != null && !stoa.service().isRemote()) return found(plan, point);
    return seen(InstalledIndexes.agent(stoa, 0)).ask(plan.written());
  }

  /// Returns the answer that the one part of a value has.
  private List<String> found(Plan plan, String point) {
    IndexList list = InstalledIndexes.list(stoa, plan.type());
    if (!seen(list).incomplete(List.of(plan.index())).isEmpty()) return Plan.INCOMPLETE;
    Plan.Window of = plan.window();
    var answer = new ArrayList<String>();
    answer.add("complete");
    if (of.value() != null && of.value().compareTo(point) > 0) return answer;
    String after = point.equals(of.value()) ? of.object() : null;
    IndexPart part =
        InstalledIndexes.partAt(stoa, plan.type(), plan.index(), InstalledIndexes.numberOf(point));
    for (String object : seen(part).find(point, after, of.max())) {
      answer.add(point);
      answer.add(object);
    }
    return answer;
  }

  private <O> O seen(O object) {
    return snapshot == null ? object : snapshot.on(object);
  }

  /// Returns the objects of rows, by their references.
  private Map<Object, T> objects(List<String> rows) {
    var objects = new LinkedHashMap<Object, T>(rows.size());
    for (int i = 1; i < rows.size(); i += 2) {
      byte[] key = InstalledIndexes.key(rows.get(i));
      var ref = new Ref<T>(shared.name(), Keys.decode(key, stoa.service().loader()));
      objects.put(ref, seen(stoa.view(type, ref, new View.Remote())));
    }
    return objects;
  }

  private Map<Object, T> objects() {
    return objects(answer(plan(order, window, Plan.Result.ROWS)));
  }

  @Override
  public List<T> list() {
    return List.copyOf(objects().values());
  }

  @Override
  public <V extends @Nullable Object> List<V> list(Call1<T, V> accessor) {
    IndexedMember member = member(accessor);
    var values = new ArrayList<V>();
    for (String whole : answer(plan(order, window, Plan.Result.VALUES, member.name()))) {
      @SuppressWarnings("unchecked") // Justification: the accessor returns such values
      V value = (V) member.form().decodeWhole(whole);
      values.add(value);
    }
    return java.util.Collections.unmodifiableList(values);
  }

  @Override
  public LiveQuery<T> watch() {
    MethodRun.refuse("watch a query");
    if (snapshot != null) {
      throw new IllegalStateException(
          "the answer at " + snapshot + " stays; watch a query without a snapshot");
    }
    if (stoa.isTransacting()) {
      throw new IllegalStateException("a transaction cannot watch a query; watch it outside");
    }
    Plan plan = plan(order, window, Plan.Result.ROWS);
    String point = plan.point();
    if (point == null) return new Watch<>(this::objects, () -> stoa.follow(shared.name(), null));
    int part = InstalledIndexes.numberOf(point);
    byte[] key = Keys.encode(InstalledIndexes.nameOf(shared.name(), plan.index(), part));
    return new Watch<>(this::objects, () -> stoa.follow(IndexPart.NAME, key));
  }

  @Override
  public Page<T> page(@Nullable String after) {
    Plan.Window of = window;
    if (after != null) of = window.behind(after);
    List<String> rows = answer(plan(order, of, Plan.Result.ROWS));
    boolean isLast = rows.size() / 2 < of.max();
    String next = isLast ? null : Plan.Window.token(rows.get(rows.size() - 2), rows.getLast());
    return new Page<>(List.copyOf(objects(rows).values()), next);
  }

  @Override
  public Optional<T> first() {
    return limit(1).list().stream().findFirst();
  }

  @Override
  public long count() {
    return Long.parseLong(answer(plan(null, Plan.Window.ALL, Plan.Result.COUNT)).getFirst());
  }

  @Override
  public <V extends @Nullable Object> Map<V, Long> countBy(Call1<T, V> accessor) {
    IndexedMember member = member(accessor);
    List<String> counts = answer(plan(member, Plan.Window.ALL, Plan.Result.COUNTS));
    var byValue = new LinkedHashMap<V, Long>();
    for (int i = 0; i < counts.size(); i += 2) {
      @SuppressWarnings("unchecked") // Justification: the accessor returns such values
      V value = (V) member.form().decode(counts.get(i));
      byValue.put(value, Long.parseLong(counts.get(i + 1)));
    }
    return byValue;
  }

  @Override
  public String explain() {
    List<String> ids = shared.indexes().stream().map(IndexedMember::id).toList();
    return Planner.explained(
        plan(order, window, Plan.Result.ROWS),
        "object",
        InstalledIndexes.list(stoa, shared.name()).incomplete(ids));
  }
}
