package stoa.peers;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.Vector;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;
import stoa.bench.cluster.RecordWorkloads;
import stoa.bench.cluster.Records;

/// The core workloads of YCSB 0.17.0, A to F, with its defaults: ten fields of 100 bytes, zipfian
/// keys (the latest ones in D). Its `CoreWorkload` decides what each turn does. Keys are numbers in
/// order, so that a scan can be had without an ordered index, too.
public final class YcsbWorkloads implements RecordWorkloads {
  private static final int DIGITS = 12;

  // The workload files of YCSB: the parts of reads, updates, inserts, scans and read-modify-writes,
  // and how keys are chosen.
  private static final Map<String, List<String>> FILES =
      new TreeMap<>(
          Map.of(
              "A", List.of("0.5", "0.5", "0", "0", "0", "zipfian"),
              "B", List.of("0.95", "0.05", "0", "0", "0", "zipfian"),
              "C", List.of("1", "0", "0", "0", "0", "zipfian"),
              "D", List.of("0.95", "0", "0.05", "0", "0", "latest"),
              "E", List.of("0", "0", "0.05", "0.95", "0", "zipfian"),
              "F", List.of("0.5", "0", "0", "0", "0.5", "zipfian")));

  /// Creates the workloads for `ServiceLoader`.
  public YcsbWorkloads() {}

  @Override
  public List<String> names() {
    return List.copyOf(FILES.keySet());
  }

  @Override
  public boolean scans(String name) {
    return name.equals("E");
  }

  @Override
  public Prepared prepare(String name, int records, int callers, Updates updates) throws Exception {
    List<String> file = FILES.get(name);
    if (file == null) {
      throw new IllegalArgumentException("YCSB has no workload " + name + "; it has " + names());
    }
    var properties = new Properties();
    var parts =
        List.of(
            "readproportion",
            "updateproportion",
            "insertproportion",
            "scanproportion",
            "readmodifywriteproportion",
            "requestdistribution");
    for (int i = 0; i < parts.size(); i++) properties.setProperty(parts.get(i), file.get(i));
    properties.setProperty("recordcount", "" + records);
    properties.setProperty("operationcount", "" + records);
    properties.setProperty("writeallfields", "" + (updates == Updates.WHOLE_RECORD));
    properties.setProperty("maxscanlength", "100");
    properties.setProperty("insertorder", "ordered");
    properties.setProperty("zeropadding", "" + DIGITS);
    // They go into a histogram of its own, which no code reads.
    properties.setProperty("measurementtype", "histogram");
    Measurements.setProperties(properties);
    var workload = new CoreWorkload();
    workload.init(properties);
    return new Turns(workload);
  }

  private record Turns(CoreWorkload workload) implements Prepared {
    @Override
    public void load(Records records) {
      var binding = new Binding(records);
      workload.doInsert(binding, null);
      binding.require();
    }

    @Override
    public void turn(int caller, Records records) {
      var binding = new Binding(records);
      workload.doTransaction(binding, null);
      binding.require();
    }
  }

  /// The binding that YCSB calls. YCSB takes failures for statuses; the binding keeps them, and
  /// throws them after the turn. Made for one turn.
  private static final class Binding extends DB {
    private final Records records;
    private @Nullable Exception failure;

    Binding(Records records) {
      this.records = records;
    }

    private interface Step {
      void take() throws Exception;
    }

    private Status status(Step step) {
      try {
        step.take();
        return Status.OK;
      } catch (Exception failed) {
        failure = failed;
        return Status.ERROR;
      }
    }

    void require() {
      if (failure != null) throw new IllegalStateException("a turn of YCSB: " + failure, failure);
    }

    private static Map<String, byte[]> bytes(Map<String, ByteIterator> values) {
      return values.entrySet().stream()
          .collect(Collectors.toMap(Map.Entry::getKey, value -> value.getValue().toArray()));
    }

    @Override
    public Status read(
        String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
      return status(() -> {
        Map<String, byte[]> all = records.read(key);
        if (all.isEmpty()) throw new IllegalStateException("there is no record " + key);
        all.forEach((name, value) -> result.put(name, new ByteArrayByteIterator(value)));
      });
    }

    @Override
    @SuppressWarnings("NonApiType") // as YCSB has it
    public Status scan(
        String table,
        String from,
        int most,
        @Nullable Set<String> fields,
        Vector<HashMap<String, ByteIterator>> result) {
      return status(() -> {
        if (records.scan(from, most) == 0) {
          throw new IllegalStateException("there is no record from " + from + " on");
        }
      });
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
      return status(() -> records.update(key, bytes(values)));
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
      return status(() -> records.insert(key, bytes(values)));
    }

    @Override
    public Status delete(String table, String key) {
      return Status.NOT_IMPLEMENTED; // no core workload does
    }
  }
}
