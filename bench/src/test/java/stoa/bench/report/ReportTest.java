package stoa.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTest {
  private static final List<Result> RESULTS =
      List.of(
          Result.alone("calls, 1 caller", 4000, "1/s").beside("append and \"force\"", 5000),
          Result.alone("first call", 0.25, "s"));

  @Test
  void alignsATableWithTheRatio() {
    assertEquals(
        """
        measure          value  unit  beside              value  ratio
        calls, 1 caller  4,000  1/s   append and "force"  5,000   0.80
        first call        0.25  s
        """,
        Report.table(RESULTS));
  }

  @Test
  void writesTheSameAsJson() {
    assertEquals(
        """
        [
          {"measure": "calls, 1 caller", "value": 4000.0, "unit": "1/s", \
        "beside": "append and \\"force\\"", "besideValue": 5000.0, "ratio": 0.8, "samples": []},
          {"measure": "first call", "value": 0.25, "unit": "s", \
        "beside": null, "besideValue": null, "ratio": null, "samples": []}
        ]
        """,
        Report.json(RESULTS));
  }
}
