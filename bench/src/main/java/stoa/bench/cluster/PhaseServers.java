package stoa.bench.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import stoa.bench.cluster.ClusterServers.Running;
import stoa.bench.cluster.ClusterServers.Shape;
import stoa.bench.report.Context;
import stoa.programs.Directories;

/// The servers of phases that leave as many servers as they find. Each use has servers of its own;
/// if phases share servers, those of an earlier use of the same shape.
///
/// One thread uses it. Its owner closes it.
final class PhaseServers implements AutoCloseable {
  private final Context<ClusterScale> context;
  private final ClusterServers kind;
  private final Map<Shape, Running> shared = new LinkedHashMap<>();

  PhaseServers(Context<ClusterScale> context, ClusterServers kind) {
    this.context = context;
    this.kind = kind;
  }

  /// The work of a phase on running servers.
  interface Use {
    /// Does it.
    void of(Running servers) throws Exception;
  }

  /// See [ClusterServers#canPart()].
  boolean canPart() {
    return kind.canPart();
  }

  /// Uses settled servers.
  ///
  /// @param phase the name of the phase
  void use(String phase, Shape shape, Use use) throws Exception {
    Running earlier = shared.get(shape);
    if (earlier != null) {
      use.of(earlier);
      return;
    }
    context.progress().accept(phase + ": starting servers");
    Path folder = folder().resolve("shape" + shared.size());
    Running servers = kind.start(Files.createDirectories(folder), shape);
    if (context.sizes().shared()) {
      shared.put(shape, servers);
      use.of(servers);
      return;
    }
    try (servers) {
      use.of(servers);
    } finally {
      Directories.delete(folder());
    }
  }

  private Path folder() {
    return context.folder().resolve("phases");
  }

  @Override
  public void close() throws IOException {
    try {
      for (Running servers : shared.values()) servers.close();
    } finally {
      Directories.delete(folder());
    }
  }
}
