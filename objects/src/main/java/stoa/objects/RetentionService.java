package stoa.objects;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Keep;
import stoa.base.Key;
import stoa.store.Store;

/// The rules of how much of the past a served store keeps, and of how large it may be. The store
/// itself has the rules, so that each later leader follows them. Thread-safe.
///
/// A rule is `all`, `versions=N` or `age=D`, for all types and streams, or with a type and `=` in
/// front of it for one, as in `bank.Account=versions=100`; [Keep#STREAMS] is the type of streams.
/// `D` is a number with `d`, `h`, `m` or `s` behind it. The rule `disk=SIZE` is a quota: the most
/// bytes that the group's log and index have on the disk of the server that leads it. `SIZE` is a
/// number with `MB`, `GB`, `TB`, `MiB`, `GiB` or `TiB` behind it, or `none`.
///
/// A change of the rules replaces the quota when it names one, and how much of the past is kept
/// when it has other rules. So a change of one leaves the other.
///
/// The rules are a name in the dictionary; the last one holds.
///
/// ```
/// rules:  "keep ", how many rules there have been with these, " ", the rules, joined by " "
/// ```
public final class RetentionService {
  private static final Logger LOG = LoggerFactory.getLogger(RetentionService.class);
  private static final String KEEP = "keep ";
  private static final Pattern POLICY =
      Pattern.compile("(?:([^=\\s]+)=)?(all|versions=\\d{1,18}|age=\\d{1,9}[dhms])");
  private static final Pattern QUOTA = Pattern.compile("disk=(?:none|(\\d{1,9})([KMGT]i?B))");
  private static final int RULES_MAX = 1_000;
  private static final int RELEASED_MAX = 1_000;

  // Less would leave hardly anything beside the reserve for deletions.
  private static final long QUOTA_LEAST = 16_000_000;

  // The largest first.
  private static final Map<String, Long> UNITS = new LinkedHashMap<>();

  static {
    UNITS.put("TiB", 1L << 40);
    UNITS.put("TB", 1_000_000_000_000L);
    UNITS.put("GiB", 1L << 30);
    UNITS.put("GB", 1_000_000_000L);
    UNITS.put("MiB", 1L << 20);
    UNITS.put("MB", 1_000_000L);
    UNITS.put("KiB", 1L << 10);
    UNITS.put("KB", 1_000L);
  }

  /// Rules.
  ///
  /// @param keep how much of the past is kept
  /// @param diskBytesMax the quota; [Long#MAX_VALUE] for none
  public record Rules(Keep keep, long diskBytesMax) {}

  private final Store store;
  private final Catalog catalog;
  private final Part part;
  private final LongConsumer quota;
  private final Rules configured;

  /// @param quota sets the most bytes on the disk
  /// @param configured what holds while the store has no rules
  RetentionService(Store store, Catalog catalog, Part part, LongConsumer quota, Rules configured) {
    this.store = store;
    this.catalog = catalog;
    this.part = part;
    this.quota = quota;
    this.configured = configured;
  }

  /// Reads rules.
  ///
  /// @throws IllegalArgumentException when one makes no sense
  public static Rules parse(List<String> rules) {
    Keep others = null;
    Long quota = null;
    var types = new TreeMap<String, Keep>();
    if (rules.size() > RULES_MAX) {
      throw new IllegalArgumentException(rules.size() + " rules; the most are " + RULES_MAX);
    }
    for (String rule : rules) {
      Matcher size = QUOTA.matcher(rule);
      if (size.matches()) {
        if (quota != null) throw new IllegalArgumentException("two quotas; give one");
        quota = quota(rule, size);
        continue;
      }
      Matcher matcher = POLICY.matcher(rule);
      if (!matcher.matches()) {
        throw new IllegalArgumentException(
            "\""
                + rule
                + "\" says no amount of the past; say all, versions=100, age=30d (or h, m, s), or one"
                + " of these for a type, as bank.Account=versions=100; "
                + Keep.STREAMS
                + " stands for streams; disk=100GB is the most that each group takes on a disk, and"
                + " disk=none lifts that");
      }
      String type = matcher.group(1);
      Keep policy = policy(matcher.group(2));
      Keep before = others;
      if (type == null) others = policy;
      else before = types.put(type, policy);
      if (before != null && (type == null || !before.equals(policy))) {
        throw new IllegalArgumentException(
            (type == null ? "all types have" : type + " has") + " two rules; give one");
      }
    }
    Keep rest = others == null ? Keep.all() : others;
    types.putIfAbsent(Keep.STREAMS, rest);
    return new Rules(Keep.byType(rest, types), quota == null ? Long.MAX_VALUE : quota);
  }

  private static long quota(String rule, Matcher size) {
    String number = size.group(1);
    if (number == null) return Long.MAX_VALUE;
    long unit = Objects.requireNonNull(UNITS.get(size.group(2)));
    long count = Long.parseLong(number);
    if (count > Long.MAX_VALUE / unit) {
      throw new IllegalArgumentException(rule + " is more than a disk can have; give disk=none");
    }
    if (count * unit < QUOTA_LEAST) {
      throw new IllegalArgumentException(
          rule + " is too small for a store; give disk=16MB or more");
    }
    return count * unit;
  }

  /// Returns the rules that a change makes of others.
  ///
  /// @throws IllegalArgumentException when a rule makes no sense
  static Rules changed(Rules before, List<String> change) {
    Rules read = parse(change);
    long quotas = change.stream().filter(rule -> QUOTA.matcher(rule).matches()).count();
    return new Rules(
        quotas == change.size() ? before.keep() : read.keep(),
        quotas == 0 ? before.diskBytesMax() : read.diskBytesMax());
  }

  private static Keep policy(String text) {
    if (text.equals("all")) return Keep.all();
    int value = text.indexOf('=') + 1;
    if (text.startsWith("versions")) return Keep.versions(Long.parseLong(text.substring(value)));
    long number = Long.parseLong(text.substring(value, text.length() - 1));
    return Keep.age(
        switch (text.charAt(text.length() - 1)) {
          case 'd' -> Duration.ofDays(number);
          case 'h' -> Duration.ofHours(number);
          case 'm' -> Duration.ofMinutes(number);
          default -> Duration.ofSeconds(number);
        });
  }

  /// Writes rules; [#parse] reads them.
  public static List<String> text(Rules all) {
    var rules = new ArrayList<String>();
    Keep keep = all.keep();
    if (keep instanceof Keep.ByType(Keep others, var types)) {
      rules.add(word(others));
      new TreeMap<>(types).forEach((type, policy) -> rules.add(type + "=" + word(policy)));
    } else {
      rules.add(word(keep));
      rules.add(Keep.STREAMS + "=all");
    }
    long quota = all.diskBytesMax();
    if (quota == Long.MAX_VALUE) return rules;
    String unit =
        UNITS.keySet().stream()
            .filter(one -> quota % Objects.requireNonNull(UNITS.get(one)) == 0)
            .findFirst()
            .orElse("KB");
    rules.add("disk=" + quota / Objects.requireNonNull(UNITS.get(unit)) + unit);
    return rules;
  }

  private static String word(Keep policy) {
    return switch (policy) {
      case Keep.All() -> "all";
      case Keep.Versions(long count) -> "versions=" + count;
      case Keep.Age(Duration age) -> {
        long seconds = age.toSeconds();
        if (seconds % 86_400 == 0) yield "age=" + seconds / 86_400 + "d";
        if (seconds % 3_600 == 0) yield "age=" + seconds / 3_600 + "h";
        yield seconds % 60 == 0 ? "age=" + seconds / 60 + "m" : "age=" + seconds + "s";
      }
      case Keep.ByType both -> throw new IllegalArgumentException(both + " is of no single type");
    };
  }

  /// The rules that hold.
  public List<String> rules() {
    return text(current());
  }

  private Rules current() {
    List<String> stored = stored();
    return stored.isEmpty() ? configured : parse(stored);
  }

  private List<String> stored() {
    List<String> all = catalog.dictionary().after(KEEP);
    if (all.isEmpty()) return List.of();
    String last = all.getLast();
    return List.of(last.substring(last.indexOf(' ') + 1).split(" ", -1));
  }

  /// Has the store go by the rules that it has. Quick.
  public void resume() {
    List<String> stored = stored();
    if (stored.isEmpty()) return;
    Rules kept = parse(stored);
    store.keep(kept.keep());
    quota.accept(kept.diskBytesMax());
    if (configured.keep() instanceof Keep.ByType && !text(configured).equals(text(kept))) {
      LOG.warn(
          "the store keeps {}, and not {} as --keep says; ./stoa keep changes it",
          String.join(" ", text(kept)),
          String.join(" ", text(configured)));
    }
  }

  /// Gives a store without rules those that it was opened with, if it was. Waits for the disk.
  public void adopt() {
    if (configured.keep() instanceof Keep.ByType && stored().isEmpty()) keep(configured);
  }

  /// Changes the rules that the store goes by. Waits for the disk.
  ///
  /// @param rules the new rules; if they name no quota, the present quota stays; if they name
  ///   nothing but a quota, the other present rules stay
  /// @throws IllegalArgumentException when one makes no sense
  public synchronized void change(List<String> rules) {
    keep(changed(current(), rules));
  }

  /// The result of a release.
  ///
  /// @param objects how many objects it has looked at
  /// @param next how many objects it has looked at or passed over; 0 when there are no more
  public record Released(long objects, long next) {}

  /// Releases versions of an object, or of objects of a type, whatever the rules say. Waits for the
  /// disk. Versions that readers, transactions and calls in progress need stay.
  ///
  /// @param key the encoded key; null for all objects
  /// @param versions how many versions before the newest stay
  /// @param skip how many objects to pass over
  /// @throws stoa.NotShareable when the store has no such type
  public Released release(String type, byte @Nullable [] key, long versions, long skip) {
    String space = catalog.typeNamed(type).shared().name();
    Iterator<byte[]> keys = key == null ? store.list(space) : List.of(key).iterator();
    long passed = 0;
    long released = 0;
    for (; keys.hasNext() && passed < skip; passed++) keys.next();
    for (; keys.hasNext() && released < RELEASED_MAX; released++) {
      Key one = catalog.key(space, keys.next());
      if (part.isInOtherGroup(one)) continue;
      long before = store.position(one) - versions;
      if (before > 0) {
        var _ = store.trim(one, before);
      }
    }
    return new Released(released, keys.hasNext() ? passed + released : 0);
  }

  private synchronized void keep(Rules policy) {
    String text = String.join(" ", text(policy));
    if (!text.equals(String.join(" ", stored()))) {
      int turn = catalog.dictionary().after(KEEP).size() + 1;
      var _ = catalog.dictionary().idOf(KEEP + turn + " " + text);
    }
    store.keep(policy.keep());
    quota.accept(policy.diskBytesMax());
  }
}
