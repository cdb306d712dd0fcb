package stoa.bench.storage;

import java.nio.file.Path;
import java.util.List;
import stoa.bench.machine.TaskProcess;
import stoa.programs.Directories;

/// Measures the memory of each contender while 32 concurrent operations write and then read, in a
/// process of its own with a small heap.
final class MemoryPhase {
  /// The measured kinds: heap that garbage collections leave, direct buffers, and all physical
  /// memory of the process. The first two exclude the callers' own buffers.
  static final List<String> KINDS = List.of("heap", "direct", "whole process");

  private static final List<String> OPTIONS = List.of("-Xmx256m", "-XX:MaxDirectMemorySize=256m");

  private final StorageRun run;

  MemoryPhase(StorageRun run) {
    this.run = run;
  }

  /// Returns the name of a use of memory, in MiB.
  static String use(String kind, String contender) {
    return "memory, %s, %s".formatted(kind, contender);
  }

  void measure() throws Exception {
    var known = StorageBenchmark.contenders().stream().map(Contender::name).toList();
    for (Contender contender : run.objectStores()) {
      // A process of its own finds them by name; a journal elsewhere takes no other memory.
      if (!known.contains(contender.name())) continue;
      run.progress().accept("memory of " + contender.name());
      Path folder = run.fresh(contender.name());
      var told =
          TaskProcess.run(
              StorageChild.class, OPTIONS, contender.name(), folder, run.scale().memoryBytes());
      for (String kind : KINDS) {
        run.samples()
            .add(use(kind, contender.name()), told.number(kind.replace(' ', '-')) / (1 << 20));
      }
      Directories.delete(folder);
    }
  }
}
