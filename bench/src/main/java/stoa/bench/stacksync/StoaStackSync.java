package stoa.bench.stacksync;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import stoa.Stoa;
import stoa.bench.machine.ServerJava;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.bench.remote.StoaServer;
import stoa.programs.BackgroundProcess;
import stoa.stacksync.Design;
import stoa.stacksync.Services;
import stoa.stacksync.SyncService;

/// This engine: one server, and the service in one of its designs.
record StoaStackSync(Design design) implements StackSyncContender {
  @Override
  public String name() {
    return "Stoa, " + design;
  }

  @Override
  public String durability() {
    return "kept";
  }

  @Override
  public Running start(Path folder) throws Exception {
    BackgroundProcess server = StoaServer.serve(folder, Persistence.SYNCED, ServerJava.LARGE_HEAP);
    try {
      return new OneServer(server, Stoa.open("stoa://" + StoaServer.address(server)), design);
    } catch (Exception e) {
      server.close();
      throw e;
    }
  }

  private record OneServer(BackgroundProcess server, Stoa stoa, Design design) implements Running {
    @Override
    public SyncService service(int caller) {
      return Services.open(stoa, "caller " + caller, design);
    }

    @Override
    public Duration processorTime() {
      return server.processorTime();
    }

    @Override
    public void close() throws IOException {
      stoa.close();
      server.close();
    }
  }
}
