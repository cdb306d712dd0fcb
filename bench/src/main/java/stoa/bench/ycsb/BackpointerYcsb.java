package stoa.bench.ycsb;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.bench.cluster.RecordWorkloads.Updates;
import stoa.bench.cluster.Records;
import stoa.bench.log.BackpointerMap;
import stoa.bench.maps.MapRecords;
import stoa.bench.maps.OpenMap;

/// The paper's baseline: a composed map over a log with backpointers, in this process. The callers
/// are spread over a few clients, of which each plays back the puts that it reads for itself.
///
/// @param children how many maps it consists of
record BackpointerYcsb(int children) implements YcsbContender {
  private static final int CLIENTS = 4; // each may get a copy of all records in memory

  @Override
  public String name() {
    return "backpointers";
  }

  @Override
  public String guarantee() {
    return ("forced to one disk, many puts with one sync; in the benchmark's process, without a"
            + " network; %d clients, which play back each put they read")
        .formatted(CLIENTS);
  }

  @Override
  public String scan() {
    return "a read of each of the following keys, which are known as they are numbers";
  }

  @Override
  public int copies() {
    return 1;
  }

  @Override
  public boolean isComparable() {
    return false; // no call goes over a network
  }

  @Override
  public Running start(Path folder, List<String> heap) throws Exception {
    var map = new BackpointerMap(Files.createDirectories(folder.resolve("log")), children, CLIENTS);
    var clients = new ArrayList<Records>();
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(new MapRecords(new Client(map, i), Updates.WHOLE_RECORD));
    }
    return new Running() {
      @Override
      public Records records(int caller) {
        return clients.get(caller % CLIENTS);
      }

      @Override
      public Duration processorTime() {
        return Duration.ZERO; // it has no server
      }

      @Override
      public void close() {
        map.close();
      }
    };
  }

  private record Client(BackpointerMap map, int number) implements OpenMap {
    @Override
    public byte @Nullable [] get(String key) {
      return map.get(number, key);
    }

    @Override
    public void put(String key, byte[] value) {
      map.put(key, value);
    }

    @Override
    public void close() {} // the map is closed as a whole
  }
}
