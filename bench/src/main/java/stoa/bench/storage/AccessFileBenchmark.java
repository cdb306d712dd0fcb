package stoa.bench.storage;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import stoa.bench.load.Samples;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Measures the storage benchmark's contenders with the accesses that a file describes.
public final class AccessFileBenchmark implements Benchmark<StorageScale> {
  private final AccessFile file;
  private final List<Contender> contenders;

  /// Creates the benchmark of a file.
  ///
  /// @throws IllegalArgumentException when the file cannot be read or is wrong
  public AccessFileBenchmark(Path file) {
    this(read(file), StorageBenchmark.contenders());
  }

  AccessFileBenchmark(AccessFile file, List<Contender> contenders) {
    this.file = file;
    this.contenders = contenders.stream().filter(Contender::keepsObjects).toList();
  }

  private static AccessFile read(Path file) {
    try {
      return AccessFile.read(file);
    } catch (java.io.IOException e) {
      throw new IllegalArgumentException(file + " cannot be read: " + e, e);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ", " + e.getMessage(), e);
    }
  }

  @Override
  public String name() {
    return "storage";
  }

  @Override
  public String description() {
    return "the object device beside others, with the accesses of a file";
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
    var samples = new Samples();
    var content = new Content(StorageRun.OPERATIONS, StorageRun.SIZE_MAX);
    List<Contender> able = StorageBenchmark.able(context.folder(), contenders);
    for (int round = 0; round < context.sizes().rounds(); round++) {
      for (int i = 0; i < able.size(); i++) {
        // Another one is first in each round.
        Contender contender = able.get((i + round) % able.size());
        context.progress().accept(contender.name());
        Path folder = context.folder().resolve("accesses");
        try {
          measure(contender, folder, content, samples);
        } finally {
          Directories.delete(folder);
        }
      }
    }
    var findings = new Findings(context.sizes(), context.sizes());
    for (int i = 0; i < file.phases().size(); i++) {
      AccessFile.Phase phase = file.phases().get(i);
      if (phase.action() == AccessFile.Action.REOPEN) continue;
      var results = new ArrayList<Result>();
      for (Contender contender : able) {
        results.add(Result.of(samples, measure(i, contender), "MiB/s"));
      }
      findings.section(
          "%s: %,d accesses, %,d bytes, %d at a time"
              .formatted(phase.name(), phase.sizes().length, phase.bytes(), file.callers()),
          results);
    }
    return findings.outcome();
  }

  private String measure(int phase, Contender contender) {
    return "%d %s, %s".formatted(phase + 1, file.phases().get(phase).name(), contender.name());
  }

  private void measure(Contender contender, Path folder, Content content, Samples samples)
      throws Exception {
    var _ = java.nio.file.Files.createDirectories(folder);
    Contender.Store store = contender.open(folder);
    try {
      for (int i = 0; i < file.phases().size(); i++) {
        AccessFile.Phase phase = file.phases().get(i);
        switch (phase.action()) {
          case REOPEN -> {
            store.close();
            store = contender.open(folder);
          }
          case WRITE, READ -> {
            double seconds = run(contender, store, phase, content);
            samples.add(measure(i, contender), phase.bytes() / seconds / (1 << 20));
          }
        }
      }
    } finally {
      store.close();
    }
  }

  private double run(
      Contender contender, Contender.Store store, AccessFile.Phase phase, Content content)
      throws Exception {
    var sweep = new Sweep(file.callers(), StorageRun.threads(contender, file.callers()));
    if (phase.action() == AccessFile.Action.WRITE) {
      return sweep.run(
          phase.sizes().length,
          (caller, n) -> {
            long offset = phase.offsets()[n];
            store.write(offset, content.at(caller, offset, phase.sizes()[n]));
          });
    }
    int most = 0;
    for (int size : phase.sizes()) most = Math.max(most, size);
    var buffers = new ByteBuffer[file.callers()];
    for (int i = 0; i < buffers.length; i++) buffers[i] = Content.aligned(most);
    return sweep.run(
        phase.sizes().length,
        (caller, n) -> {
          ByteBuffer target = buffers[caller].clear().limit(phase.sizes()[n]);
          store.read(phase.offsets()[n], target);
          if (n < file.callers()) verify(contender, content, phase.offsets()[n], target);
        });
  }

  /// Refuses a byte that is neither the written one nor zero.
  private static void verify(Contender contender, Content content, long offset, ByteBuffer read) {
    long wrong = content.mismatch(offset, read);
    if (wrong < 0 || read.get((int) (wrong - offset)) == 0) return; // zero: never written
    throw new IllegalStateException(
        contender.name() + " reads another byte at " + wrong + " than was written");
  }
}
