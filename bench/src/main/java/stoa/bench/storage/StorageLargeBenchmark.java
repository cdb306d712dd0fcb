package stoa.bench.storage;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import stoa.bench.machine.TaskProcess;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Shows that the device keeps within its memory whatever its size: a process with a heap of 1 GiB
/// writes 20 GiB in pieces of 64 KiB at random with 32 concurrent operations, opens the device
/// again, reads and verifies it.
public final class StorageLargeBenchmark implements Benchmark<StorageScale> {
  private static final List<String> OPTIONS = List.of("-Xmx1g", "-XX:MaxDirectMemorySize=256m");

  @Override
  public String name() {
    return "storage-large";
  }

  @Override
  public String description() {
    return "20 GiB in the object device, by a process with a heap of 1 GiB";
  }

  @Override
  public StorageScale full() {
    return StorageScale.full();
  }

  @Override
  public StorageScale smoke() {
    return StorageScale.smoke();
  }

  @Override
  public Outcome run(Context<StorageScale> context) throws Exception {
    long bytes = context.sizes().largeBytes();
    String size = StorageRun.words(bytes);
    Path folder = Files.createDirectories(context.folder().resolve("large"));
    try {
      context.progress().accept("writing, reading and verifying " + size);
      var told = TaskProcess.run(StorageChild.class, OPTIONS, DeviceContender.NAME, folder, bytes);
      if (told.exit() != 0 || told.number("verified") != 1) {
        throw new IllegalStateException("the child process failed with " + told.exit());
      }
      double mib = 1 << 20;
      return Outcome.of(
          List.of(
              Result.alone("write " + size, told.number("write") / mib, "MiB/s"),
              Result.alone("open it again", told.number("open"), "s"),
              Result.alone("read and verify it", told.number("read") / mib, "MiB/s"),
              Result.alone("heap that collections leave, at most", told.number("heap") / mib, "MiB")
                  .beside("the heap's limit", 1024),
              Result.alone("direct buffers, at most", told.number("direct") / mib, "MiB")
                  .beside("their limit", 256),
              Result.alone(
                  "physical memory of the process, at most",
                  told.number("whole-process") / mib,
                  "MiB")));
    } finally {
      Directories.delete(folder);
    }
  }
}
