package stoa.classifier;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/// The model of a classifier: a support vector machine with a kernel of radial basis functions, one
/// against one. Immutable, thread-safe.
public final class Model {
  /// How far a vector reaches: `exp(-GAMMA * distance²)`.
  static final double GAMMA = 0.5;

  private final Vectors supports;
  // As LIBSVM has them: supports are in groups, one for each category of `order`; the machine for
  // the categories a < b weighs the supports of a by weights[b - 1] and those of b by weights[a].
  private final byte[] order;
  private final double[][] weights;
  private final double[] offsets;
  private final long updates;
  private final long records;

  Model(Vectors supports, byte[] order, double[][] weights, double[] offsets, Count count) {
    this.supports = supports;
    this.order = order;
    this.weights = weights;
    this.offsets = offsets;
    this.updates = count.updates;
    this.records = count.records;
  }

  /// The numbers of updates and records in a model.
  record Count(long updates, long records) {}

  /// One that has learned nothing.
  public static Model empty() {
    return new Model(
        Vectors.of(List.of()), new byte[0], new double[0][], new double[0], new Count(0, 0));
  }

  /// One that was trained with all records at once.
  public static Model trained(Collection<Connection> connections) {
    return empty().with(connections);
  }

  /// This one after an update: trained with its support vectors and new records (incremental
  /// support vector machines, section 8.3).
  public Model with(Collection<Connection> connections) {
    List<Vectors.One> examples = new ArrayList<>(supports.all());
    for (var each : connections) {
      examples.add(new Vectors.One(Features.of(each), each.category()));
    }
    return Training.of(examples, new Count(updates + 1, records + connections.size()));
  }

  /// Returns the category of a connection, according to this model; it ignores the connection's own
  /// category. An untrained model takes all connections for normal.
  public Category classify(Connection connection) {
    if (order.length == 0) return Category.NORMAL;
    double[] kernels = supports.distances(Features.of(connection));
    for (int i = 0; i < kernels.length; i++) kernels[i] = Math.exp(-GAMMA * kernels[i]);
    int[] begins = begins();
    int[] votes = new int[order.length];
    int machine = 0;
    for (int a = 0; a < order.length; a++) {
      for (int b = a + 1; b < order.length; b++) {
        double sum = -offsets[machine++];
        for (int i = begins[a]; i < begins[a + 1]; i++) sum += weights[b - 1][i] * kernels[i];
        for (int i = begins[b]; i < begins[b + 1]; i++) sum += weights[a][i] * kernels[i];
        votes[sum > 0 ? a : b]++;
      }
    }
    int most = 0;
    for (int i = 1; i < votes.length; i++) {
      if (votes[i] > votes[most]) most = i;
    }
    return Category.of(order[most]);
  }

  private int[] begins() {
    int[] begins = new int[order.length + 1];
    int at = 0;
    for (int i = 0; i < order.length; i++) {
      begins[i] = at;
      while (at < supports.size() && supports.category(at).number() == order[i]) at++;
    }
    begins[order.length] = at;
    return begins;
  }

  /// How many updates it has learned from.
  public long updates() {
    return updates;
  }

  /// How many records those had.
  public long records() {
    return records;
  }

  /// How many bytes its numbers are.
  public long bytes() {
    long bytes = supports.bytes() + order.length + 8L * offsets.length;
    for (double[] row : weights) bytes += 8L * row.length;
    return bytes;
  }

  /// How many support vectors it has.
  public int supports() {
    return supports.size();
  }
}
