package stoa.bench.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ChartTest {
  private static final Pattern TEXT =
      Pattern.compile("<text x=\"([\\d.]+)\" y=\"([\\d.]+)\"[^>]*>([^<]*)</text>");
  private static final Chart.Look LOOK =
      new Chart.Look("#000000", Chart.Shape.SQUARE, Chart.Line.FULL);

  private static String svg(double... values) {
    var series = new ArrayList<Chart.Series>();
    for (double value : values) {
      series.add(
          new Chart.Series(
              "series " + series.size(),
              LOOK,
              List.of(
                  new Chart.Point(0, List.of(value, value, value)),
                  new Chart.Point(1, List.of(value)))));
    }
    var ticks = List.of(new Chart.Tick(0, "4 KiB"), new Chart.Tick(1, "1 < 2"));
    return new Chart("T", "n", "MiB/s", "size", List.of(new Chart.Panel("p", ticks, series))).svg();
  }

  private static double height(String svg, String text) {
    return TEXT.matcher(svg)
        .results()
        .filter(found -> found.group(3).equals(text))
        .mapToDouble(found -> Double.parseDouble(found.group(2)))
        .findFirst()
        .orElseThrow(() -> new AssertionError(text + " is not in " + svg));
  }

  @Test
  void labelsRoundNumbersAtEqualStepsOfTheirLogarithm() {
    String svg = svg(12, 4_000);
    double step = height(svg, "10") - height(svg, "100");
    assertEquals(step, height(svg, "100") - height(svg, "1,000"), 0.02);
    assertTrue(step > 50, () -> "a power of ten is " + step + " pixels high");
    assertTrue(svg.contains(">MiB/s</text>") && svg.contains(">1 &lt; 2</text>"), svg);
  }

  @Test
  void drawsEverySampleAndALineThroughTheMedians() {
    String svg = svg(100, 200);
    assertEquals(2 * 4 + 2, svg.split("<polygon ", -1).length - 1, svg);
    assertTrue(svg.contains("stroke-width=\"1.8\""), svg);
  }

  @Test
  void namesThatWouldMeetAreMovedApart() {
    String svg = svg(50, 51, 52, 53, 5_000, 5_001);
    double[] heights =
        IntStream.range(0, 6).mapToDouble(i -> height(svg, "series " + i)).sorted().toArray();
    for (int i = 1; i < heights.length; i++) {
      assertTrue(heights[i] - heights[i - 1] >= 14.9, svg);
    }
  }

  @Test
  void theMedianOfSamplesCounts() {
    assertEquals(3, new Chart.Point(0, List.of(9.0, 3.0, 1.0)).median());
    assertEquals(2, new Chart.Point(0, List.of(3.0, 1.0)).median());
  }
}
