package stoa.bench.report;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import stoa.bench.tx.TxScale;

class FindingsTest {
  private static String aims(TxScale scale) {
    var findings = new Findings(scale, TxScale.full());
    findings.atLeast("calls: at least 10", 10, 11);
    findings.atMost("ms: at most 10", 10, 11);
    return findings.outcome().table();
  }

  @Test
  void judgesAimsAtTheirOwnSizes() {
    String aims = aims(TxScale.full());
    assertTrue(aims.contains("met"), aims);
    assertTrue(aims.contains("missed"), aims);
  }

  @Test
  void judgesNoAimAtOtherSizes() {
    String aims = aims(TxScale.smoke());
    assertTrue(aims.contains(Findings.NOT_JUDGED), aims);
    assertFalse(aims.contains("met"), aims);
    assertFalse(aims.contains("missed"), aims);
  }
}
