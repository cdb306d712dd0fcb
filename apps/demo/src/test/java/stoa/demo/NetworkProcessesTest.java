package stoa.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.classifier.Application;
import stoa.classifier.Model;
import stoa.classifier.run.DataSet;
import stoa.classifier.run.Federation;

/// Networks in processes of their own, with a small part of the sample.
class NetworkProcessesTest {
  private static final int BYTES = 60_000;

  @Test
  void everyRecordIsTrainedWithOnceByTheProcessThatHasIt(@TempDir Path directory) throws Exception {
    Path records = records(directory.resolve("records.gz"));
    int count = DataSet.of(records).training().size();
    Map<Application, Model> shared = new EnumMap<>(Application.class);
    var settings = new Federation.Settings(2, 20);
    var result =
        new NetworkProcesses(directory.resolve("store"), settings, records).train(count, shared);
    assertEquals(count, shared.values().stream().mapToLong(Model::records).sum());
    assertEquals(result.updates().size(), shared.values().stream().mapToLong(Model::updates).sum());
    assertEquals(2, result.updates().stream().map(Federation.Update::network).distinct().count());
    assertTrue(!result.places().isEmpty(), "nobody was seen in the tree");
  }

  /* The first lines of the sample. */
  private static Path records(Path file) throws IOException {
    try (InputStream sample = DataSet.class.getResourceAsStream("kdd-sample.csv.gz");
        InputStream in = new GZIPInputStream(Objects.requireNonNull(sample));
        OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
      byte[] some = in.readNBytes(BYTES);
      int end = some.length;
      while (some[end - 1] != '\n') end--;
      out.write(some, 0, end);
    }
    return file;
  }
}
