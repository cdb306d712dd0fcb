package stoa.stacksync.ubuntuone;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;

/// Makes traces like those of Ubuntu One, the same ones for the same parameters.
///
/// From the description in section IV of the CRESON paper: a part of the users is almost idle, a
/// small fraction of very active ones makes most changes, and activity follows the hour of the day.
/// Activity among the active users falls with their rank by a power law. Chosen here without a
/// source: half of the changes are new files, three tenths write a file again, and the rest delete
/// and move in equal parts; sizes are log-normal with a median of 30 KB.
///
/// @param users the number of users, at least 1
/// @param seconds the duration of the trace
/// @param changesPerSecond the mean rate
/// @param seed chooses the trace
public record UbuntuOneGenerator(int users, double seconds, double changesPerSecond, long seed) {
  /// The part of the users that is almost idle (CRESON, section IV).
  public static final double IDLE = 0.65;

  /// The mean rate of commits of the papers' trace (AOF, section 6.2).
  public static final double PAPER_CHANGES_PER_SECOND = 300;

  // With this exponent, 1 % of 4,000 users make about two thirds of the changes.
  private static final double EXPONENT = 1.1;

  // All idle users together make this part of the changes.
  private static final double IDLE_CHANGES = 0.005;

  // The rate at the busiest hour is this much above its mean, and as much below at night.
  private static final double DAY_SWING = 0.5;
  private static final double DAY_SECONDS = 86_400;
  private static final double BUSIEST = 14 * 3600.0;
  private static final double SESSION_GAP_SECONDS = 1_800;
  private static final double SIZE_MEDIAN = 30_000;
  private static final double SIZE_SIGMA = 2.7;
  private static final long SIZE_MAX = 5L << 30;
  private static final List<String> MIMES =
      List.of("image/jpeg", "text/plain", "application/pdf", "audio/mpeg", "text/x-python", "");

  public UbuntuOneGenerator {
    if (users < 1) throw new IllegalArgumentException(users + " users; 1 is the least");
    if (!(seconds > 0) || !(changesPerSecond > 0)) {
      throw new IllegalArgumentException(
          seconds + " seconds with " + changesPerSecond + " changes each; both must be positive");
    }
  }

  /// One user while the trace is made.
  private static final class Author {
    final String id;
    final List<Integer> versions = new ArrayList<>(); // of each file; 0 for a deleted one
    int session;
    double last = Double.NEGATIVE_INFINITY;

    Author(String id) {
      this.id = id;
    }
  }

  /// Makes the trace.
  public UbuntuOneTrace trace() {
    var random = new SplittableRandom(seed);
    double[] upTo = activity();
    var authors = new Author[users];
    for (int i = 0; i < users; i++) {
      authors[i] = new Author(new UUID(random.nextLong(), random.nextLong()).toString());
    }
    var rows = new ArrayList<UbuntuOneRow>();
    double peak = changesPerSecond * (1 + DAY_SWING);
    double at = 0;
    while (true) {
      at += random.nextExponential() / peak;
      if (at >= seconds) break;
      if (random.nextDouble() * (1 + DAY_SWING) > ofTheDay(at)) continue;
      int author = Arrays.binarySearch(upTo, random.nextDouble());
      author = Math.min(author < 0 ? -author - 1 : author, users - 1);
      rows.add(change(authors[author], author, at, random));
    }
    return new UbuntuOneTrace(rows);
  }

  /// The cumulated part of the changes that users make; the most active one is the first.
  private double[] activity() {
    int active = Math.max(1, (int) Math.round(users * (1 - IDLE)));
    double[] upTo = new double[users];
    double sum = 0;
    for (int i = 0; i < active; i++) {
      sum += Math.pow(i + 1.0, -EXPONENT);
      upTo[i] = sum;
    }
    double idleChanges = users > active ? IDLE_CHANGES : 0;
    for (int i = 0; i < active; i++) upTo[i] *= (1 - idleChanges) / sum;
    for (int i = active; i < users; i++) {
      upTo[i] = 1 - idleChanges + idleChanges * (i + 1 - active) / (users - active);
    }
    return upTo;
  }

  private static double ofTheDay(double second) {
    return 1 + DAY_SWING * Math.cos(2 * Math.PI * (second - BUSIEST) / DAY_SECONDS);
  }

  private static UbuntuOneRow change(
      Author author, int number, double at, SplittableRandom random) {
    if (at - author.last > SESSION_GAP_SECONDS) author.session++;
    author.last = at;
    int files = author.versions.size();
    double kind = random.nextDouble();
    int file = files == 0 ? 0 : random.nextInt(files);
    boolean creates = files == 0 || kind < 0.5 || author.versions.get(file) == 0;
    UbuntuOneRow.Op op;
    int version;
    if (creates) {
      op = UbuntuOneRow.Op.NEW;
      file = files;
      version = 1;
      author.versions.add(version);
    } else {
      op =
          kind < 0.8
              ? UbuntuOneRow.Op.MODIFIED
              : kind < 0.9 ? UbuntuOneRow.Op.DELETED : UbuntuOneRow.Op.MOVED;
      version = author.versions.get(file) + 1;
      author.versions.set(file, op == UbuntuOneRow.Op.DELETED ? 0 : version);
    }
    double size = SIZE_MEDIAN * Math.exp(SIZE_SIGMA * random.nextGaussian());
    return new UbuntuOneRow(
        at,
        op,
        file + 1L,
        "File",
        MIMES.get(random.nextInt(MIMES.size())),
        op == UbuntuOneRow.Op.DELETED ? 0 : Math.min(SIZE_MAX, Math.round(size)),
        version,
        number + "-" + author.session,
        author.id);
  }
}
