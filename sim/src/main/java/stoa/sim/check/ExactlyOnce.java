package stoa.sim.check;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Decides whether a run with crashes lost no acknowledged call and executed no call twice.
///
/// The calls append ids to lists, one list per object, and no id is used twice. The run tells the
/// ledger when a call begins, when it is acknowledged or refused, and when a crash ends all calls
/// in progress. At any moment it can show the contents of a list to the ledger, which returns the
/// violations:
///
/// - every acknowledged id is there exactly once, at the version that the acknowledgement named;
/// - an id in progress, or in flight at a crash, is there at most once;
/// - no other id is there;
/// - the order agrees with real time: of two calls of which one ended before the other began, the
///   earlier one comes first;
/// - the earlier contents are there again, unchanged, as the beginning of the list;
/// - versions rise, and for lists that see no other calls they are 1, 2, 3, …
///
/// Checking is linear in the length of the list; no search is needed, since the list shows the
/// order. Thread-safe: clients may record at once.
///
/// ```java
/// var ledger = new ExactlyOnce();
/// ledger.begin("list 1", "id 7");
/// ledger.acknowledged("list 1", "id 7", list.append("id 7"));
/// // after a crash and a recovery:
/// ledger.crashed();
/// ledger.require("list 1", entries, ExactlyOnce.Versions.DENSE);
/// ```
public final class ExactlyOnce {
  /*
   * Time is the count of records. All fields are guarded by this.
   *
   * (1) A call that is OPEN has end == Long.MAX_VALUE; all others ended when they left that stage.
   * (2) shown holds, per object, the longest list ever shown; each list shown begins with it.
   */
  private final Map<String, Map<String, Call>> calls = new LinkedHashMap<>();
  private final Map<String, List<Entry>> shown = new HashMap<>();
  private long time;

  /// A ledger of an empty store.
  public ExactlyOnce() {}

  /// One element of a list.
  ///
  /// @param id the appended id
  /// @param version the version of the object that the append made
  public record Entry(String id, long version) {}

  /// The rule for the versions of a list's elements.
  public enum Versions {
    /// 1, 2, 3, … without gaps: the object has no other calls than appends.
    DENSE,
    /// Rising: other calls, or logged answers, may lie between.
    RISING
  }

  /// A rule that a list broke.
  public enum Rule {
    /// An acknowledged id is missing.
    LOST,
    /// An id is there more than once.
    TWICE,
    /// An id is there that was refused or never sent to this object.
    FOREIGN,
    /// An id stands before one whose call had ended before its own began.
    ORDER,
    /// The list no longer begins with its earlier contents.
    CHANGED,
    /// A version differs from the acknowledged one, or from the rule of [Versions].
    VERSION
  }

  /// One violation.
  ///
  /// @param rule the broken rule
  /// @param object the object whose list breaks it
  /// @param text the contents and the expectation
  public record Violation(Rule rule, String object, String text) {
    @Override
    public String toString() {
      return rule + " in " + object + ": " + text;
    }
  }

  private enum Stage {
    OPEN,
    ACKNOWLEDGED,
    REFUSED,
    IN_FLIGHT
  }

  private static final class Call {
    private final long began;
    private long ended = Long.MAX_VALUE;
    private Stage stage = Stage.OPEN;
    private long version;

    private Call(long began) {
      this.began = began;
    }
  }

  /// Notes that a call that appends `id` is about to begin.
  public synchronized void begin(String object, String id) {
    var ofObject = calls.computeIfAbsent(object, _ -> new LinkedHashMap<>());
    if (ofObject.putIfAbsent(id, new Call(time++)) != null) {
      throw new IllegalArgumentException(id + " was sent to " + object + " before; ids are unique");
    }
  }

  /// Notes that the call returned: it must be there from now on, at `version`.
  public synchronized void acknowledged(String object, String id, long version) {
    Call call = end(object, id, Stage.ACKNOWLEDGED);
    call.version = version;
  }

  /// Notes that the call was refused: it must never be there.
  public synchronized void refused(String object, String id) {
    end(object, id, Stage.REFUSED);
  }

  /// Notes that the call failed with an unknown outcome, and that nothing can execute it later.
  public synchronized void unknown(String object, String id) {
    end(object, id, Stage.IN_FLIGHT);
  }

  /// Notes that all calls in progress have ended with an unknown outcome, and that nothing can
  /// execute them later.
  public synchronized void crashed() {
    long now = time++;
    for (var ofObject : calls.values()) {
      for (Call call : ofObject.values()) {
        if (call.stage != Stage.OPEN) continue;
        call.stage = Stage.IN_FLIGHT;
        call.ended = now;
      }
    }
  }

  /// Returns the objects that calls were sent to, in the order of their first call.
  public synchronized List<String> objects() {
    return List.copyOf(calls.keySet());
  }

  /// Returns how many calls were acknowledged.
  public synchronized long acknowledgedCount() {
    return calls.values().stream()
        .flatMap(ofObject -> ofObject.values().stream())
        .filter(call -> call.stage == Stage.ACKNOWLEDGED)
        .count();
  }

  /// Throws when [#check] finds a violation.
  ///
  /// @throws AssertionError with every violation
  public void require(String object, List<Entry> list, Versions versions) {
    var violations = check(object, list, versions);
    if (violations.isEmpty()) return;
    var text = new StringBuilder("not exactly once:");
    for (var violation : violations) text.append("\n  ").append(violation);
    throw new AssertionError(text.toString());
  }

  /// Returns the violations in the present list of an object. Calls that were acknowledged while
  /// the run read the list may be reported as lost: read it when none are in progress.
  public synchronized List<Violation> check(String object, List<Entry> list, Versions versions) {
    var check = new ListCheck(object, versions);
    var ofObject = calls.getOrDefault(object, Map.of());
    for (Entry entry : list) check.entry(entry, ofObject.get(entry.id()));
    ofObject.forEach(check::missing);
    check.beginsWith(shown.getOrDefault(object, List.of()), list);
    if (check.violations.isEmpty()) shown.put(object, List.copyOf(list));
    return check.violations;
  }

  private Call end(String object, String id, Stage stage) {
    Call call = calls.getOrDefault(object, Map.of()).get(id);
    if (call == null || call.stage != Stage.OPEN) {
      throw new IllegalArgumentException(
          "no call is under way that appends " + id + " to " + object);
    }
    call.stage = stage;
    call.ended = time++;
    return call;
  }

  private static final class ListCheck {
    private final String object;
    private final Versions versions;
    private final List<Violation> violations = new ArrayList<>();
    private final Set<String> ids = new HashSet<>();
    private long version;
    // The latest beginning among the calls of the entries so far, and the id of that entry.
    private long lastBegan = -1;
    private String lastBegun = "";

    private ListCheck(String object, Versions versions) {
      this.object = object;
      this.versions = versions;
    }

    private void entry(Entry entry, @Nullable Call call) {
      String id = entry.id();
      version(entry);
      if (!ids.add(id)) {
        report(Rule.TWICE, "%s is there again, at version %d", id, entry.version());
        return;
      }
      if (call == null || call.stage == Stage.REFUSED) {
        String why = call == null ? "was never sent" : "was refused";
        report(Rule.FOREIGN, "%s is there, at version %d, and %s", id, entry.version(), why);
        return;
      }
      if (call.stage == Stage.ACKNOWLEDGED && call.version != entry.version()) {
        report(
            Rule.VERSION,
            "%s is there at version %d and was acknowledged at %d",
            id,
            entry.version(),
            call.version);
      }
      if (call.ended < lastBegan) {
        report(Rule.ORDER, "%s stands behind %s, which began after its end", id, lastBegun);
      }
      if (call.began > lastBegan) {
        lastBegan = call.began;
        lastBegun = id;
      }
    }

    private void version(Entry entry) {
      boolean right =
          switch (versions) {
            case DENSE -> entry.version() == version + 1;
            case RISING -> entry.version() > version;
          };
      if (!right) {
        report(
            Rule.VERSION,
            "%s is there at version %d, behind version %d",
            entry.id(),
            entry.version(),
            version);
      }
      version = Math.max(version, entry.version());
    }

    private void missing(String id, Call call) {
      if (call.stage == Stage.ACKNOWLEDGED && !ids.contains(id)) {
        report(Rule.LOST, "%s was acknowledged at version %d and is missing", id, call.version);
      }
    }

    private void beginsWith(List<Entry> before, List<Entry> now) {
      for (int i = 0; i < before.size(); i++) {
        if (i < now.size() && now.get(i).equals(before.get(i))) continue;
        report(
            Rule.CHANGED,
            "%s was its element %d and is now %s",
            before.get(i),
            i,
            i < now.size() ? now.get(i) : "missing");
        return;
      }
    }

    private void report(Rule rule, String format, Object... values) {
      violations.add(new Violation(rule, object, format.formatted(values)));
    }
  }
}
