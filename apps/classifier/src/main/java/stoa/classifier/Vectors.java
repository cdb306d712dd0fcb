package stoa.classifier;

import java.util.ArrayList;
import java.util.List;

/// Vectors of which each has few columns that are not 0, each with its category. Immutable.
///
/// They are kept in few arrays, since they travel and are stored with every version of a
/// classifier.
final class Vectors {
  // Vector i has the columns and values from ends[i - 1] to ends[i].
  private final int[] ends;
  private final byte[] columns;
  private final float[] values;
  private final byte[] categories;

  private Vectors(int[] ends, byte[] columns, float[] values, byte[] categories) {
    this.ends = ends;
    this.columns = columns;
    this.values = values;
    this.categories = categories;
  }

  /// One vector with a place for every column, and its category.
  record One(float[] places, Category category) {}

  static Vectors of(List<One> all) {
    int count = 0;
    for (var one : all) {
      for (float value : one.places) {
        if (value != 0) count++;
      }
    }
    var made =
        new Vectors(new int[all.size()], new byte[count], new float[count], new byte[all.size()]);
    int at = 0;
    for (int i = 0; i < all.size(); i++) {
      float[] places = all.get(i).places;
      for (int column = 0; column < places.length; column++) {
        if (places[column] == 0) continue;
        made.columns[at] = (byte) column;
        made.values[at++] = places[column];
      }
      made.ends[i] = at;
      made.categories[i] = (byte) all.get(i).category.number();
    }
    return made;
  }

  int size() {
    return ends.length;
  }

  long bytes() {
    return 5L * ends.length + 5L * values.length;
  }

  Category category(int i) {
    return Category.of(categories[i]);
  }

  One get(int i) {
    float[] places = new float[Features.COLUMNS];
    for (int at = begin(i); at < ends[i]; at++) places[columns[at]] = values[at];
    return new One(places, category(i));
  }

  List<One> all() {
    List<One> all = new ArrayList<>(size());
    for (int i = 0; i < size(); i++) all.add(get(i));
    return all;
  }

  private int begin(int i) {
    return i == 0 ? 0 : ends[i - 1];
  }

  /// The squares of the distances of all vectors from one.
  ///
  /// @param places the one
  double[] distances(float[] places) {
    double norm = 0;
    for (float value : places) norm += value * value;
    double[] distances = new double[size()];
    int at = 0;
    for (int i = 0; i < distances.length; i++) {
      double sum = norm;
      for (; at < ends[i]; at++) {
        float here = values[at];
        sum += here * (here - 2 * places[columns[at]]);
      }
      distances[i] = Math.max(0, sum);
    }
    return distances;
  }
}
