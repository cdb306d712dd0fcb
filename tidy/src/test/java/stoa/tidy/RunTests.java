package stoa.tidy;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/// Runs the tests of a class, as a program.
final class RunTests {
  private RunTests() {}

  /// Ends the process with 0 when there are tests, and all have passed.
  ///
  /// @param args the name of the class
  public static void main(String[] args) {
    var seen = new SummaryGeneratingListener();
    LauncherFactory.create()
        .execute(
            LauncherDiscoveryRequestBuilder.request().selectors(selectClass(args[0])).build(),
            seen);
    var summary = seen.getSummary();
    summary.printFailuresTo(new PrintWriter(System.err, true, StandardCharsets.UTF_8));
    System.out.println(summary.getTestsSucceededCount() + " tests have passed");
    boolean well = summary.getTestsSucceededCount() > 0 && summary.getTotalFailureCount() == 0;
    System.exit(well ? 0 : 1);
  }
}
