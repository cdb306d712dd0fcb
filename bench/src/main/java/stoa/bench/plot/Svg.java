package stoa.bench.plot;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// An SVG document under construction: shapes in drawing order, in pixels from the upper left
/// corner.
///
/// One thread uses it.
final class Svg {
  /// A place.
  record Place(double x, double y) {}

  /// The appearance of a line or an outline.
  ///
  /// @param colour as in CSS
  /// @param width in pixels
  /// @param dashes lengths of dashes and gaps as SVG has them; empty for a full line
  record Stroke(String colour, double width, String dashes) {
    Stroke(String colour, double width) {
      this(colour, width, "");
    }

    private String attributes() {
      return " stroke=\"%s\" stroke-width=\"%s\"%s"
          .formatted(
              colour,
              number(width),
              dashes.isEmpty() ? "" : " stroke-dasharray=\"" + dashes + "\"");
    }
  }

  /// The appearance of text.
  ///
  /// @param size the height of the letters in pixels
  /// @param colour as in CSS
  /// @param anchor the part of the text at its place: `start`, `middle` or `end`
  /// @param weight `normal` or `bold`
  record Type(double size, String colour, String anchor, String weight) {}

  private final StringBuilder body = new StringBuilder();

  /// Creates a document on white ground.
  Svg(int width, int height, String title) {
    body.append(
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" \
        role="img" font-family="Helvetica, Arial, 'Liberation Sans', sans-serif">
        <title>%s</title>
        <rect width="%d" height="%d" fill="#ffffff"/>
        """
            .formatted(width, height, width, height, escaped(title), width, height));
  }

  /// Adds a line through places.
  Svg line(List<Place> places, Stroke stroke) {
    body.append(
            "<polyline fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"butt\" points=\"")
        .append(points(places))
        .append('"')
        .append(stroke.attributes())
        .append("/>\n");
    return this;
  }

  /// Adds a filled shape with corners at places.
  Svg area(List<Place> corners, String colour, double opacity) {
    body.append("<polygon points=\"").append(points(corners)).append(filled(colour, opacity));
    return this;
  }

  /// Adds a filled circle.
  Svg circle(Place centre, double radius, String colour, double opacity) {
    body.append(
        "<circle cx=\"%s\" cy=\"%s\" r=\"%s%s"
            .formatted(
                number(centre.x), number(centre.y), number(radius), filled(colour, opacity)));
    return this;
  }

  /// Adds a line of text.
  Svg text(Place place, String text, Type type) {
    return turned(place, text, type, 0);
  }

  /// Adds a line of text, turned clockwise about its place.
  Svg turned(Place place, String text, Type type, double degrees) {
    body.append(
        "<text x=\"%s\" y=\"%s\" font-size=\"%s\" fill=\"%s\" text-anchor=\"%s\"%s%s>%s</text>\n"
            .formatted(
                number(place.x),
                number(place.y),
                number(type.size),
                type.colour,
                type.anchor,
                type.weight.equals("normal") ? "" : " font-weight=\"" + type.weight + "\"",
                degrees == 0
                    ? ""
                    : " transform=\"rotate(%s %s %s)\""
                        .formatted(number(degrees), number(place.x), number(place.y)),
                escaped(text)));
    return this;
  }

  /// Returns the finished document.
  @Override
  public String toString() {
    return body + "</svg>\n";
  }

  private static String filled(String colour, double opacity) {
    return "\" fill=\"%s\"%s/>\n"
        .formatted(colour, opacity == 1 ? "" : " fill-opacity=\"" + number(opacity) + "\"");
  }

  private static String points(List<Place> places) {
    return places.stream()
        .map(place -> number(place.x) + "," + number(place.y))
        .collect(Collectors.joining(" "));
  }

  private static String number(double value) {
    String text = String.format(Locale.ROOT, "%.2f", value);
    return text.replaceAll("\\.?0+$", "");
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
