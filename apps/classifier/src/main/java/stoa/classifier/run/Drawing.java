package stoa.classifier.run;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// An SVG document that grows. One owner.
final class Drawing {
  /// A place, from the upper left corner.
  record Spot(double x, double y) {}

  private final StringBuilder text = new StringBuilder();

  Drawing(int width, int height, String title) {
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
            + " font-family=\"Helvetica, Arial, sans-serif\">",
        width, height, width, height);
    add("<title>%s</title>", escaped(title));
    add("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>", width, height);
  }

  private void add(String format, Object... parts) {
    text.append(String.format(Locale.ROOT, format, parts)).append('\n');
  }

  void line(List<Spot> spots, String colour, double width, String dashes) {
    String points =
        spots.stream()
            .map(spot -> String.format(Locale.ROOT, "%.1f,%.1f", spot.x, spot.y))
            .collect(Collectors.joining(" "));
    add(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\""
            + " stroke-dasharray=\"%s\"/>",
        points, colour, width, dashes);
  }

  void circle(Spot at, double radius, String colour) {
    add(
        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" stroke=\"#444444\"/>",
        at.x, at.y, radius, colour);
  }

  void box(Spot at, double size, String colour) {
    add(
        "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>",
        at.x, at.y, size, size, colour);
  }

  void text(Spot at, String words, double size, String anchor, String colour) {
    add(
        "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>",
        at.x, at.y, size, anchor, colour, escaped(words));
  }

  private static String escaped(String words) {
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  /// The document.
  String svg() {
    return text + "</svg>\n";
  }
}
