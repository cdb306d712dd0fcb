package stoa.classifier.run;

import java.util.Arrays;
import stoa.classifier.Category;

/// How well connections were judged: how many of each category were taken for which. One owner.
public final class Score {
  private static final int CATEGORIES = Category.values().length;

  private final long[][] judged = new long[CATEGORIES][CATEGORIES];

  /// Nothing judged yet.
  public Score() {}

  /// Counts a judgement.
  public void add(Category is, Category taken) {
    judged[is.number()][taken.number()]++;
  }

  /// Counts all that another one counts.
  public void add(Score other) {
    for (int i = 0; i < CATEGORIES; i++) {
      for (int j = 0; j < CATEGORIES; j++) judged[i][j] += other.judged[i][j];
    }
  }

  /// How many connections of a category there were.
  public long count(Category category) {
    return Arrays.stream(judged[category.number()]).sum();
  }

  /// How many connections there were.
  public long count() {
    long count = 0;
    for (var category : Category.values()) count += count(category);
    return count;
  }

  /// The part of a category's connections that were taken for what they are; not a number when
  /// there were none.
  public double recall(Category category) {
    return (double) judged[category.number()][category.number()] / count(category);
  }

  /// The part of all connections that were taken for what they are.
  public double accuracy() {
    long right = 0;
    for (int i = 0; i < CATEGORIES; i++) right += judged[i][i];
    return (double) right / count();
  }

  /// The mean of the categories' parts that were taken for what they are: each category counts the
  /// same, however rare it is.
  public double balancedAccuracy() {
    return Arrays.stream(Category.values())
        .filter(category -> count(category) > 0)
        .mapToDouble(this::recall)
        .average()
        .orElse(Double.NaN);
  }

  /// The part of all attacks that were taken for some attack.
  public double detected() {
    long attacks = count() - count(Category.NORMAL);
    long missed = 0;
    for (var category : Category.values()) {
      if (category.isAttack()) missed += judged[category.number()][Category.NORMAL.number()];
    }
    return 1 - (double) missed / attacks;
  }

  /// The part of all normal connections that were taken for an attack.
  public double falseAlarms() {
    return 1 - recall(Category.NORMAL);
  }

  /// As [#balancedAccuracy()], of two categories: attack or not.
  public double balancedDetection() {
    return (detected() + 1 - falseAlarms()) / 2;
  }
}
