package stoa.classifier.run;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import stoa.classifier.Application;
import stoa.classifier.run.Drawing.Spot;
import stoa.migration.MemberPlace;

/// Draws the joint work of networks: the tree, with the number of each one's updates and the places
/// of the classifiers, and the quality of these over the updates. Stateless.
public final class Picture {
  private static final String SERVER = "server";
  private static final String INK = "#222222";
  private static final String SOFT = "#777777";
  private static final List<String> COLOURS =
      List.of("#D55E00", "#0072B2", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#999999");
  private static final int WIDTH = 1240;
  private static final int HEIGHT = 470;
  private static final double TREE_WIDTH = 640;
  private static final double LEVEL = 105;
  private static final double LEFT = 740;
  private static final double TOP = 80;
  private static final double PLOT_WIDTH = 330;
  private static final double PLOT_HEIGHT = 300;

  /// Accuracies of the same judge over the updates, and at the end of central training.
  ///
  /// @param name what it is
  /// @param shared after each update
  /// @param central of the models that were trained centrally
  public record Course(String name, List<Double> shared, double central) {}

  private Picture() {}

  /// The picture as an SVG document.
  public static String svg(Federation.Result result, List<Course> courses) {
    var drawing = new Drawing(WIDTH, HEIGHT, "Shared classifiers of network traffic");
    drawing.text(new Spot(30, 34), "Networks train shared classifiers", 17, "start", INK);
    tree(drawing, result);
    legend(drawing);
    plot(drawing, courses);
    return drawing.svg();
  }

  private static void tree(Drawing drawing, Federation.Result result) {
    Map<String, Long> updates = new TreeMap<>();
    result.updates().forEach(each -> updates.merge(each.network(), 1L, Long::sum));
    var nodes = result.places().keySet().stream().map(place -> place.node().toString()).toList();
    Map<String, List<MemberPlace>> below = new TreeMap<>();
    for (var place : result.places().keySet()) {
      var above = place.above();
      var key = above != null && nodes.contains(above.toString()) ? above.toString() : SERVER;
      below.computeIfAbsent(key, _ -> new ArrayList<>()).add(place);
    }
    List<Application> away = new ArrayList<>();
    result.places().values().forEach(away::addAll);
    var here = List.of(Application.values()).stream().filter(each -> !away.contains(each)).toList();
    var names = new Names(drawing, result.places(), updates, below);
    names.draw(SERVER, SERVER, here, new Range(20, TREE_WIDTH), 0);
  }

  private record Range(double from, double width) {}

  /// Draws nodes with what is below them.
  private record Names(
      Drawing drawing,
      Map<MemberPlace, List<Application>> places,
      Map<String, Long> updates,
      Map<String, List<MemberPlace>> below) {
    int leaves(String node) {
      var children = below.getOrDefault(node, List.of());
      if (children.isEmpty()) return 1;
      return children.stream().mapToInt(child -> leaves(child.node().toString())).sum();
    }

    void draw(String node, String name, List<Application> here, Range range, int depth) {
      var at = new Spot(range.from + range.width / 2, TOP + 20 + depth * LEVEL);
      double from = range.from;
      int all = leaves(node);
      for (var child : below.getOrDefault(node, List.of())) {
        String key = child.node().toString();
        double width = range.width * leaves(key) / all;
        var to = new Spot(from + width / 2, TOP + 20 + (depth + 1) * LEVEL);
        drawing.line(List.of(at, to), "#bbbbbb", 1.2, "");
        var own = places.getOrDefault(child, List.of());
        draw(key, child.node().address(), own, new Range(from, width), depth + 1);
        from += width;
      }
      drawing.circle(at, depth == 0 ? 20 : 15, depth == 0 ? "#dddddd" : "#f4f4f4");
      String inside = depth == 0 ? "" : name.replaceAll("\\D", "");
      drawing.text(new Spot(at.x(), at.y() + 4), inside, 11, "middle", INK);
      Long made = updates.get(name);
      String words = depth == 0 ? name : made == null ? "" : made + " up.";
      double y = at.y() + (depth == 0 ? -26 : 29);
      drawing.text(new Spot(at.x(), y), words, 10.5, "middle", SOFT);
      double x = at.x() - 6 * here.size();
      for (var each : here) {
        drawing.box(new Spot(x, at.y() + (depth == 0 ? 24 : 34)), 10, colour(each));
        x += 12;
      }
    }
  }

  private static String colour(Application application) {
    return COLOURS.get(List.of(Application.values()).indexOf(application) % COLOURS.size());
  }

  private static void legend(Drawing drawing) {
    double x = 30;
    drawing.text(new Spot(x, HEIGHT - 34), "where a classifier is:", 11, "start", SOFT);
    x += 125;
    for (var each : Application.values()) {
      drawing.box(new Spot(x, HEIGHT - 44), 10, colour(each));
      String name = each.name().toLowerCase(Locale.ROOT);
      drawing.text(new Spot(x + 14, HEIGHT - 34), name, 11, "start", INK);
      x += 72;
    }
    drawing.text(
        new Spot(30, HEIGHT - 16),
        "up.: updates that the network made, with records that it kept",
        11,
        "start",
        SOFT);
  }

  private static void plot(Drawing drawing, List<Course> courses) {
    double least =
        courses.stream()
            .flatMap(course -> course.shared.stream().skip(course.shared.size() / 10))
            .min(Comparator.naturalOrder())
            .orElse(0.0);
    double low = Math.clamp(Math.floor(least * 10) / 10, 0, 0.9);
    int count = courses.stream().mapToInt(course -> course.shared.size()).max().orElse(1);
    drawing.text(new Spot(LEFT, 34), "on records outside of the training", 14, "start", INK);
    for (int percent = (int) Math.round(low * 100); percent <= 100; percent += 5) {
      double y = y(percent / 100.0, low);
      drawing.line(List.of(new Spot(LEFT, y), new Spot(LEFT + PLOT_WIDTH, y)), "#e3e3e3", 1, "");
      drawing.text(new Spot(LEFT - 6, y + 4), percent + " %", 11, "end", SOFT);
    }
    int tick = Math.max(1, (int) Math.pow(10, Math.floor(Math.log10(Math.max(count, 1)))) / 2);
    for (int n = 0; n <= count; n += tick) {
      double x = LEFT + PLOT_WIDTH * n / count;
      drawing.text(new Spot(x, TOP + PLOT_HEIGHT + 18), "" + n, 11, "middle", SOFT);
    }
    drawing.text(
        new Spot(LEFT + PLOT_WIDTH / 2, TOP + PLOT_HEIGHT + 38), "updates", 12, "middle", INK);
    double before = Double.NEGATIVE_INFINITY;
    List<Course> sorted = new ArrayList<>(courses);
    sorted.sort(Comparator.comparingDouble(course -> -course.central));
    for (var course : sorted) {
      String colour = COLOURS.get(courses.indexOf(course));
      List<Spot> spots = new ArrayList<>();
      for (int i = 0; i < course.shared.size(); i++) {
        double value = course.shared.get(i);
        spots.add(new Spot(LEFT + PLOT_WIDTH * (i + 1) / count, y(Math.max(value, low), low)));
      }
      drawing.line(spots, colour, 2, "");
      double y = y(course.central, low);
      drawing.line(List.of(new Spot(LEFT, y), new Spot(LEFT + PLOT_WIDTH, y)), colour, 1.2, "6 4");
      before = Math.max(y, before + 30);
      double x = LEFT + PLOT_WIDTH + 10;
      drawing.text(new Spot(x, before), course.name, 12, "start", colour);
      String words = String.format(Locale.ROOT, "central, dashed: %.1f %%", 100 * course.central);
      drawing.text(new Spot(x, before + 13), words, 10.5, "start", SOFT);
    }
  }

  private static double y(double value, double low) {
    return TOP + PLOT_HEIGHT * (1 - (value - low) / (1 - low));
  }
}
