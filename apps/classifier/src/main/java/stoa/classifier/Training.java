package stoa.classifier;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import libsvm.svm;
import libsvm.svm_model;
import libsvm.svm_node;
import libsvm.svm_parameter;
import libsvm.svm_problem;

/// Trains models with LIBSVM. Stateless: the same examples make the same model.
final class Training {
  /// How many support vectors a model has at most; of more, those stay that weigh most.
  static final int SUPPORTS_MAX = 4_000;

  private static final double COST = 20;
  private static final double PRECISION = 1e-3;
  private static final double CACHE_MIB = 40;

  static {
    svm.svm_set_print_string_function(_ -> {});
  }

  private Training() {}

  static Model of(List<Vectors.One> examples, Model.Count count) {
    List<Vectors.One> sorted = new ArrayList<>(examples);
    sorted.sort(Comparator.comparing(Vectors.One::category)); // stable
    Map<Category, Integer> counts = counts(sorted);
    if (counts.size() < 2) return single(sorted, counts, count);
    return model(svm.svm_train(problem(sorted), parameters(counts)), sorted, count);
  }

  static Map<Category, Integer> counts(List<Vectors.One> examples) {
    Map<Category, Integer> counts = new EnumMap<>(Category.class);
    examples.forEach(each -> counts.merge(each.category(), 1, Integer::sum));
    return counts;
  }

  /// Of one category there is nothing to tell apart yet; its examples are kept for later.
  private static Model single(
      List<Vectors.One> examples, Map<Category, Integer> counts, Model.Count count) {
    var kept = examples.subList(0, Math.min(examples.size(), SUPPORTS_MAX));
    byte[] order = new byte[counts.size()];
    for (var category : counts.keySet()) order[0] = (byte) category.number();
    return new Model(Vectors.of(kept), order, new double[0][], new double[0], count);
  }

  static svm_problem problem(List<Vectors.One> examples) {
    var problem = new svm_problem();
    problem.l = examples.size();
    problem.x = new svm_node[problem.l][];
    problem.y = new double[problem.l];
    for (int i = 0; i < problem.l; i++) {
      problem.x[i] = nodes(examples.get(i).places());
      problem.y[i] = examples.get(i).category().number();
    }
    return problem;
  }

  static svm_node[] nodes(float[] places) {
    List<svm_node> nodes = new ArrayList<>();
    for (int column = 0; column < places.length; column++) {
      if (places[column] == 0) continue;
      var node = new svm_node();
      node.index = column + 1;
      node.value = places[column];
      nodes.add(node);
    }
    return nodes.toArray(svm_node[]::new);
  }

  /// Rare categories weigh more, by the square root of how rare they are.
  static svm_parameter parameters(Map<Category, Integer> counts) {
    var parameters = new svm_parameter();
    parameters.svm_type = svm_parameter.C_SVC;
    parameters.kernel_type = svm_parameter.RBF;
    parameters.gamma = Model.GAMMA;
    parameters.C = COST;
    parameters.eps = PRECISION;
    parameters.cache_size = CACHE_MIB;
    parameters.shrinking = 1;
    int most = counts.values().stream().mapToInt(Integer::intValue).max().orElse(1);
    parameters.nr_weight = counts.size();
    parameters.weight_label = new int[counts.size()];
    parameters.weight = new double[counts.size()];
    int at = 0;
    for (var each : counts.entrySet()) {
      parameters.weight_label[at] = each.getKey().number();
      parameters.weight[at++] = Math.sqrt((double) most / each.getValue());
    }
    return parameters;
  }

  private static Model model(svm_model trained, List<Vectors.One> examples, Model.Count count) {
    int[] kept = heaviest(trained);
    List<Vectors.One> supports = new ArrayList<>(kept.length);
    double[][] weights = new double[trained.sv_coef.length][kept.length];
    for (int i = 0; i < kept.length; i++) {
      supports.add(examples.get(trained.sv_indices[kept[i]] - 1));
      for (int row = 0; row < weights.length; row++) {
        weights[row][i] = trained.sv_coef[row][kept[i]];
      }
    }
    byte[] order = new byte[trained.nr_class];
    for (int i = 0; i < order.length; i++) order[i] = (byte) trained.label[i];
    return new Model(Vectors.of(supports), order, weights, trained.rho, count);
  }

  /// The support vectors that stay, in their order.
  private static int[] heaviest(svm_model trained) {
    List<Integer> all = new ArrayList<>();
    for (int i = 0; i < trained.l; i++) all.add(i);
    if (all.size() > SUPPORTS_MAX) {
      all.sort(Comparator.comparingDouble(i -> -weight(trained, i)));
      all = new ArrayList<>(all.subList(0, SUPPORTS_MAX));
    }
    return all.stream().mapToInt(Integer::intValue).sorted().toArray();
  }

  private static double weight(svm_model trained, int i) {
    double most = 0;
    for (double[] row : trained.sv_coef) most = Math.max(most, Math.abs(row[i]));
    return most;
  }
}
