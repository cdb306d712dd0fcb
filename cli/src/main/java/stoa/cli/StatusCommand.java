package stoa.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;
import stoa.wire.proto.CallStatus;
import stoa.wire.proto.SessionStatus;
import stoa.wire.proto.ShardStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;

/// Shows what goes on in a server.
@Command(
    name = "status",
    mixinStandardHelpOptions = true,
    description = "Shows what goes on in a server: shards, objects, sessions, and calls that wait.")
final class StatusCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private @Nullable ServerLink link;

  private StatusCommand() {}

  @Override
  public Integer call() throws IOException {
    StatusReply status =
        Objects.requireNonNull(link).ask(stub -> stub.status(StatusRequest.getDefaultInstance()));
    print(Objects.requireNonNull(spec).commandLine().getOut(), status);
    return 0;
  }

  private static void print(PrintWriter out, StatusReply status) {
    out.printf(
        Locale.ROOT,
        "stoa %s, %s, up %d s%n%d objects in memory, %d calls answered, %.0f a second%n",
        status.getVersion(),
        status.getData(),
        status.getUpMillis() / 1_000,
        status.getObjectsInMemory(),
        status.getCallsAnswered(),
        status.getCallsPerSecond());
    for (ShardStatus shard : status.getShardsList()) {
      out.printf(
          Locale.ROOT, "shard %d: log at %d%n", shard.getShard(), shard.getCounter());
    }
    out.println(status.getSessionsCount() + " sessions");
    for (SessionStatus session : status.getSessionsList()) {
      out.printf(
          Locale.ROOT,
          "  %d %s%s: %d objects, %d requests, %d transactions, %d listeners%n",
          session.getSession(),
          session.getPeer(),
          session.getConnected() ? "" : " (away)",
          session.getContainers(),
          session.getRequests(),
          session.getTransactions(),
          session.getListeners());
    }
    out.println(status.getCallsCount() + " calls under way; ./stoa cancel ID ends one");
    for (CallStatus call : status.getCallsList()) {
      out.printf(
          Locale.ROOT,
          "  %s: %s %s, version %d, %s for %d ms%n",
          call.getId(),
          call.getObject(),
          call.getMethod(),
          call.getVersion(),
          call.getRunning() ? "runs" : "waits",
          call.getMillis());
    }
  }
}
